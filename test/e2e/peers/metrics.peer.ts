// Our pushed metrics through a real OpenTelemetry Collector: it decodes them strictly, and what it passes on is what we counted.
import { afterEach, expect, it } from 'vitest'
import { METRICS } from '../../../conventions/metrics.ts'
import { Backend } from '../../support/backend.ts'
import { Collector } from '../../support/collector.ts'
import { mixedSession, scrape, total } from '../../telemetry/support.ts'
import { Otelcol } from './otelcol.ts'
import { until } from './program.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

interface Metric {
  name: string
  unit: string
  sum?: {
    aggregationTemporality: number
    isMonotonic: boolean
    dataPoints: { asInt: string; startTimeUnixNano: string }[]
  }
  gauge?: { dataPoints: { asInt?: string; asDouble?: number }[] }
  histogram?: { aggregationTemporality: number; dataPoints: { count: string; bucketCounts: string[] }[] }
}

it('a real Collector takes every metric of the registry, and its copy has the numbers of /metrics', async () => {
  const backend = await new Backend().start()
  cleanUps.push(() => backend.stop())
  const otelcol = new Otelcol({
    backend: backend.url,
    settings: [
      'service::pipelines::metrics::receivers: [otlp]',
      'service::pipelines::metrics::exporters: [otlp_http]',
      'exporters::otlp_http::encoding: json',
    ],
  })
  cleanUps.push(() => otelcol.remove())
  await otelcol.start()
  const collector = new Collector({
    config: `version: 1\notlp: {port: 0}\nforward: [{name: a, url: "${backend.url}"}]\nmetrics: {url: "${otelcol.url}", interval_seconds: 1}\n`,
  })
  cleanUps.push(() => collector.remove())
  await collector.start()
  await mixedSession(collector, 0)
  const newest = (): Metric[] => {
    const bodies = backend.bodies.map((body) => JSON.parse(body)).filter((body) => body.resourceMetrics !== undefined)
    return bodies.at(-1)?.resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? []
  }
  const points = (name: string) => newest().find((metric) => metric.name === name)?.sum?.dataPoints ?? []
  const counted = (name: string) => points(name).reduce((sum, { asInt }) => sum + Number(asInt), 0)
  await until('the copy of what was decided', () => counted('spanseal.decisions') === 4)
  const shown = await scrape(collector)
  for (const name of [
    'spanseal.decisions',
    'spanseal.calls',
    'spanseal.violations',
    'spanseal.tokens',
    'spanseal.gaps',
  ])
    expect(counted(name), name).toBe(total(shown, `${name.replaceAll('.', '_')}_total`))
  for (const { name, unit, sum, gauge, histogram } of newest()) {
    const registered = METRICS[name as keyof typeof METRICS]
    expect(registered.unit).toBe(unit)
    const given = { counter: sum, gauge, histogram }[registered.instrument]
    expect(given?.dataPoints.length, name).toBeGreaterThan(0)
    if (sum !== undefined) expect(sum).toMatchObject({ aggregationTemporality: 2, isMonotonic: true })
    if (histogram !== undefined) expect(histogram.aggregationTemporality).toBe(2)
  }
  expect(newest().length).toBeGreaterThan(35)
  expect(total(shown, 'spanseal_metrics_pushes_total', { spanseal_outcome: 'failed' })).toBe(0)
})
