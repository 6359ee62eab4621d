// Metrics as an OTLP ExportMetricsServiceRequest in JSON: cumulative, each series with the time it began.
// opentelemetry-proto, metrics/v1: 64-bit numbers are decimal strings in JSON, enums are integers.
import { METRICS } from '../../conventions/metrics.ts'
import type { KeyValue } from '../../conventions/otlp.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { Definition, Family, Point } from './metrics.ts'
import type { Target } from './target.ts'

/** AggregationTemporality: AGGREGATION_TEMPORALITY_CUMULATIVE. */
const CUMULATIVE = 2

/** `now`: milliseconds since 1970. `version`: of Spanseal, for the instrumentation scope. */
export function metricsRequest(families: readonly Family[], target: Target, now: number, version: string): Json {
  return {
    resourceMetrics: [
      {
        resource: { attributes: Object.entries(target.attributes).map(attribute) },
        scopeMetrics: [
          {
            scope: { name: 'spanseal.collector', version },
            metrics: families.map((family) => metric(family, target, now)),
          },
        ],
      },
    ],
  }
}

function metric({ name, points }: Family, { starts }: Target, now: number): Json {
  const { instrument, unit, since, labels, brief }: Definition = METRICS[name]
  const about = { name, description: brief, unit }
  const times = {
    ...(instrument === 'gauge' ? {} : { startTimeUnixNano: nanos(starts[since]) }),
    timeUnixNano: nanos(now),
  }
  const dataPoints = points.map((point) => ({
    attributes: labels.flatMap(([label], i) => {
      const value = point.labels[i] ?? ''
      return value === '' ? [] : [attribute([label, value])]
    }),
    ...times,
    ...numbers(point, unit),
  }))
  if (instrument === 'gauge') return { ...about, gauge: { dataPoints } }
  if (instrument === 'histogram') return { ...about, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } }
  return { ...about, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } }
}

/** Units whose values are doubles; everything else is integers: the kind of a series' values never changes. */
const DOUBLES: ReadonlySet<string> = new Set(['s', '{USD}'])

function numbers(point: Point, unit: string): { [key: string]: Json } {
  if ('value' in point)
    return DOUBLES.has(unit) ? { asDouble: point.value } : { asInt: String(Math.trunc(point.value)) }
  const { bounds, counts, sum, count } = point.distribution
  return { count: String(count), sum, bucketCounts: counts.map(String), explicitBounds: [...bounds] }
}

function attribute([key, stringValue]: [string, string]): KeyValue & { [key: string]: Json } {
  return { key, value: { stringValue } }
}

const nanos = (ms: number) => `${Math.trunc(ms)}000000`
