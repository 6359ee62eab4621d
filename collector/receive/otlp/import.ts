// A body that was recorded -> the spans the index keeps. Receipt only: nothing here says that what a span tells is true.
import type { ImportedSpan } from '../../../conventions/import.ts'
import type { AnyValue, KeyValue, ResourceSpans, ScopeSpans, Span } from '../../../conventions/otlp.ts'
import type { Json } from '../../../conventions/strict-json.ts'
import { decodeTraces, type Encoding } from './decode.ts'
import { stripReserved } from './strip.ts'

/**
 * All spans of a recorded body, in order, invalid ones marked, `spanseal.*` attributes taken out. Throws when the body does not
 * decode: it did when it was recorded.
 */
export function readImport(body: Uint8Array, encoding: Encoding): ImportedSpan[] {
  const decoded = decodeTraces(body, encoding)
  if (!decoded.ok) throw new Error(`a recorded OTLP body does not decode: ${decoded.message}`)
  stripReserved(decoded.request)
  const invalid = new Set(decoded.spans.invalid.map(({ index }) => index))
  const out: ImportedSpan[] = []
  for (const resource of decoded.request.resourceSpans) {
    for (const scope of resource.scopeSpans ?? []) {
      for (const span of scope.spans ?? []) out.push(importSpan(span, scope, resource, !invalid.has(out.length)))
    }
  }
  return out
}

/** `service.name` of a resource, where it is a string. */
export function serviceOf({ resource }: ResourceSpans): string | undefined {
  const value = resource?.attributes?.findLast(({ key }) => key === 'service.name')?.value
  return value !== undefined && 'stringValue' in value ? value.stringValue : undefined
}

function importSpan(span: Span, { scope }: ScopeSpans, resource: ResourceSpans, valid: boolean): ImportedSpan {
  const service = serviceOf(resource)
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    ...(span.parentSpanId !== undefined && { parent_span_id: span.parentSpanId }),
    name: span.name,
    kind: span.kind ?? 0,
    start_ns: span.startTimeUnixNano,
    end_ns: span.endTimeUnixNano,
    ...(service !== undefined && { service }),
    ...(scope?.name !== undefined && { scope: scope.name }),
    status: span.status?.code ?? 0,
    attributes: plainObject(span.attributes ?? []),
    valid,
  }
}

/** Attributes as JSON: of equal keys the last one, as a client's own set would have kept it. */
function plainObject(attributes: KeyValue[]): { [key: string]: Json } {
  const out: { [key: string]: Json } = Object.create(null)
  for (const { key, value } of attributes) out[key] = plain(value ?? {})
  return out
}

/** Integers beyond 2^53 and what JSON has no number for (NaN, Infinity) become strings, bytes base64, an empty value null. */
function plain(value: AnyValue): Json {
  if ('stringValue' in value) return value.stringValue
  if ('boolValue' in value) return value.boolValue
  if ('intValue' in value) {
    const number = Number(value.intValue)
    return Number.isSafeInteger(number) ? number : String(value.intValue)
  }
  if ('doubleValue' in value) return Number.isFinite(value.doubleValue) ? value.doubleValue : String(value.doubleValue)
  if ('arrayValue' in value) return (value.arrayValue.values ?? []).map(plain)
  if ('kvlistValue' in value) return plainObject(value.kvlistValue.values ?? [])
  if ('bytesValue' in value) return value.bytesValue
  return null
}
