// The door of the decoders: bytes of an OTLP body -> the request, and which of its items count as evidence.
// Malformed input is a value that names the field; a span that breaks a rule of trace.proto costs only itself.
import {
  type ExportLogsServiceRequest,
  type ExportMetricsServiceRequest,
  logItems,
} from '../../../conventions/dialects/item.ts'
import type { ExportTraceServiceRequest, Span } from '../../../conventions/otlp.ts'
import { decodeJson } from './json.ts'
import { decodeProtobuf } from './protobuf.ts'
import { Refused } from './refused.ts'
import type { Decoded } from './schema.ts'

export type Encoding = 'protobuf' | 'json'

export interface InvalidSpan {
  /** Place among all spans of the request, from 0. */
  index: number
  reason: string
}

/** `field` is the path to what was refused, empty for the whole body. `tooLarge`: a limit, not a mistake. */
export type Malformed = { ok: false; field: string; message: string; tooLarge: boolean }

export type DecodeResult =
  | { ok: true; request: ExportTraceServiceRequest; spans: { valid: number; invalid: InvalidSpan[] } }
  | Malformed

const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/**
 * Decodes an uncompressed body of /v1/traces. Ids come out as lower-case hex, 64-bit numbers as exact decimal strings, `bytesValue`
 * as padded base64; fields with default values are left out. Both encodings of one request give equal results. Never throws on bad
 * input.
 */
export function decodeTraces(body: Uint8Array, encoding: Encoding): DecodeResult {
  const decoded = decode(body, encoding, 'ExportTraceServiceRequest')
  if (!decoded.ok) return decoded
  const request = { resourceSpans: [], ...decoded.request } as ExportTraceServiceRequest
  return { ok: true, request, spans: checkSpans(request) }
}

/** Decodes a body of /v1/logs, as `decodeTraces` does. Ids that are all zeroes are absent: a log record needs none. */
export function decodeLogs(
  body: Uint8Array,
  encoding: Encoding,
): { ok: true; request: ExportLogsServiceRequest } | Malformed {
  const decoded = decode(body, encoding, 'ExportLogsServiceRequest')
  if (!decoded.ok) return decoded
  const request = { resourceLogs: [], ...decoded.request } as ExportLogsServiceRequest
  for (const { log } of logItems(request)) {
    if (log.traceId === NO_TRACE) delete log.traceId
    if (log.spanId === NO_SPAN) delete log.spanId
  }
  return { ok: true, request }
}

/** Decodes a body of /v1/metrics, as `decodeTraces` does. */
export function decodeMetrics(
  body: Uint8Array,
  encoding: Encoding,
): { ok: true; request: ExportMetricsServiceRequest } | Malformed {
  const decoded = decode(body, encoding, 'ExportMetricsServiceRequest')
  if (!decoded.ok) return decoded
  return { ok: true, request: { resourceMetrics: [], ...decoded.request } as ExportMetricsServiceRequest }
}

// The schema's names and types are those of conventions/otlp.ts and conventions/dialects/item.ts.
function decode(body: Uint8Array, encoding: Encoding, message: string): { ok: true; request: Decoded } | Malformed {
  try {
    return { ok: true, request: (encoding === 'json' ? decodeJson : decodeProtobuf)(body, message) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { field, message, tooLarge } = error
    return { ok: false, field, message: `${field || 'the body'} ${message}`, tooLarge }
  }
}

/** All spans of a request, in order. */
export function* spansOf(request: ExportTraceServiceRequest): Generator<Span> {
  for (const { scopeSpans = [] } of request.resourceSpans) for (const { spans = [] } of scopeSpans) yield* spans
}

function checkSpans(request: ExportTraceServiceRequest): { valid: number; invalid: InvalidSpan[] } {
  const invalid: InvalidSpan[] = []
  let index = 0
  for (const span of spansOf(request)) {
    // Some clients write a root's missing parent as zeroes.
    if (span.parentSpanId === NO_SPAN) delete span.parentSpanId
    const reason = invalidity(span)
    if (reason !== null) invalid.push({ index, reason })
    index++
  }
  return { valid: index - invalid.length, invalid }
}

function invalidity(span: Span): string | null {
  if (span.traceId === NO_TRACE) return 'traceId is missing or zero'
  if (span.spanId === NO_SPAN) return 'spanId is missing or zero'
  return span.name === '' ? 'name is missing' : null
}
