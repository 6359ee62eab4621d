// The OTLP/JSON shapes that Spanseal reads and writes (opentelemetry-proto v1.11, JSON mapping: hex ids, 64-bit numbers as strings).

export type AnyValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string | number }
  | { doubleValue: number }
  | { arrayValue: { values?: AnyValue[] } }
  | { kvlistValue: { values?: KeyValue[] } }
  | { bytesValue: string }
  | Record<string, never>

export interface KeyValue {
  key: string
  value?: AnyValue
}

export interface SpanLink {
  traceId: string
  spanId: string
  attributes?: KeyValue[]
}

export interface SpanEvent {
  timeUnixNano: string
  name: string
  attributes?: KeyValue[]
}

export interface Span {
  /** 32 hex characters. */
  traceId: string
  /** 16 hex characters. */
  spanId: string
  parentSpanId?: string
  name: string
  /** SpanKind: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind?: number
  /** Nanoseconds since 1970 as a decimal string. */
  startTimeUnixNano: string
  /** Nanoseconds; '0' while the span has not ended. */
  endTimeUnixNano: string
  attributes?: KeyValue[]
  events?: SpanEvent[]
  links?: SpanLink[]
  /** StatusCode: 0 unset, 1 ok, 2 error. */
  status?: { code?: number; message?: string }
}

export interface ScopeSpans {
  scope?: { name?: string; version?: string; attributes?: KeyValue[] }
  spans?: Span[]
  schemaUrl?: string
}

export interface ResourceSpans {
  resource?: { attributes?: KeyValue[] }
  scopeSpans?: ScopeSpans[]
  schemaUrl?: string
}

/** Body of POST /v1/traces and of POST /v1/gate. */
export interface ExportTraceServiceRequest {
  resourceSpans: ResourceSpans[]
}

/** A string, number or boolean attribute. Integers travel as decimal strings, as OTLP/JSON asks. */
export function attribute(key: string, value: string | number | boolean): KeyValue {
  if (typeof value === 'string') return { key, value: { stringValue: value } }
  if (typeof value === 'boolean') return { key, value: { boolValue: value } }
  return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }
}
