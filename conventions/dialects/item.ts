// One decoded piece of telemetry, with what it came in: the shape between the OTLP decoders and the dialects. Field names are those of
// OTLP/JSON (opentelemetry-proto v1.11): ids lower-case hex, 64-bit numbers exact decimal strings, fields with default values left out.
import type { AnyValue, ExportTraceServiceRequest, KeyValue, Span } from '../otlp.ts'

export interface LogRecord {
  /** Nanoseconds since 1970, decimal; '0' or absent where the sender has none. */
  timeUnixNano?: string
  observedTimeUnixNano?: string
  severityNumber?: number
  severityText?: string
  body?: AnyValue
  attributes?: KeyValue[]
  traceId?: string
  spanId?: string
  /** Newer SDKs; others have an attribute `event.name`. */
  eventName?: string
}

/** A point of any kind of metric: `asInt` or `asDouble` of a gauge or sum, `count` and `sum` of a histogram or summary. */
export interface DataPoint {
  attributes?: KeyValue[]
  startTimeUnixNano?: string
  timeUnixNano?: string
  asDouble?: number
  asInt?: string | number
  count?: string | number
  sum?: number
  min?: number
  max?: number
}

export interface MetricData {
  dataPoints?: DataPoint[]
  /** AggregationTemporality: 1 delta, 2 cumulative. */
  aggregationTemporality?: number
  isMonotonic?: boolean
}

export const METRIC_KINDS = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const
export type MetricKind = (typeof METRIC_KINDS)[number]

export interface Metric extends Partial<Record<MetricKind, MetricData>> {
  name: string
  description?: string
  unit?: string
}

export interface Scope {
  name?: string
  version?: string
  attributes?: KeyValue[]
}

interface ResourceOf {
  resource?: { attributes?: KeyValue[] }
}

/** Body of POST /v1/logs. */
export interface ExportLogsServiceRequest {
  resourceLogs: (ResourceOf & { scopeLogs?: { scope?: Scope; logRecords?: LogRecord[] }[] })[]
}

/** Body of POST /v1/metrics. */
export interface ExportMetricsServiceRequest {
  resourceMetrics: (ResourceOf & { scopeMetrics?: { scope?: Scope; metrics?: Metric[] }[] })[]
}

interface Origin {
  /** Attributes of the resource. */
  resource: readonly KeyValue[]
  scope: Scope
}

export interface SpanItem extends Origin {
  signal: 'span'
  span: Span
}

export interface LogItem extends Origin {
  signal: 'log'
  log: LogRecord
}

/** One data point, not one metric: a point is what has attributes. */
export interface PointItem extends Origin {
  signal: 'metric'
  metric: { name: string; unit?: string; kind: MetricKind; temporality?: number }
  point: DataPoint
}

export type Item = SpanItem | LogItem | PointItem

/** Spans of a decoded request, in order. */
export function* spanItems({ resourceSpans }: ExportTraceServiceRequest): Generator<SpanItem> {
  for (const { resource, scopeSpans = [] } of resourceSpans) {
    for (const { scope = {}, spans = [] } of scopeSpans) {
      for (const span of spans) yield { signal: 'span', resource: resource?.attributes ?? [], scope, span }
    }
  }
}

/** Log records of a decoded request, in order. */
export function* logItems({ resourceLogs }: ExportLogsServiceRequest): Generator<LogItem> {
  for (const { resource, scopeLogs = [] } of resourceLogs) {
    for (const { scope = {}, logRecords = [] } of scopeLogs) {
      for (const log of logRecords) yield { signal: 'log', resource: resource?.attributes ?? [], scope, log }
    }
  }
}

/** Data points of a decoded request, in order. */
export function* pointItems({ resourceMetrics }: ExportMetricsServiceRequest): Generator<PointItem> {
  for (const { resource, scopeMetrics = [] } of resourceMetrics) {
    for (const { scope = {}, metrics = [] } of scopeMetrics) {
      for (const metric of metrics) {
        for (const kind of METRIC_KINDS) {
          const data = metric[kind]
          for (const point of data?.dataPoints ?? []) {
            yield {
              signal: 'metric',
              resource: resource?.attributes ?? [],
              scope,
              metric: about(metric, kind, data),
              point,
            }
          }
        }
      }
    }
  }
}

function about({ name, unit }: Metric, kind: MetricKind, data: MetricData | undefined): PointItem['metric'] {
  const temporality = data?.aggregationTemporality
  return { name, kind, ...(unit !== undefined && { unit }), ...(temporality !== undefined && { temporality }) }
}
