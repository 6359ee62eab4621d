// The door of the decoders: bytes of a /v1/traces body -> the request, and which of its spans count as evidence.
// Malformed input is a value that names the field; a span that breaks a rule of trace.proto costs only itself.
import type { ExportTraceServiceRequest, Span } from '../../../conventions/otlp.ts'
import { decodeJson } from './json.ts'
import { decodeProtobuf } from './protobuf.ts'
import { Refused } from './refused.ts'

export type Encoding = 'protobuf' | 'json'

export interface InvalidSpan {
  /** Place among all spans of the request, from 0. */
  index: number
  reason: string
}

export type DecodeResult =
  | { ok: true; request: ExportTraceServiceRequest; spans: { valid: number; invalid: InvalidSpan[] } }
  /** `field` is the path to what was refused, empty for the whole body. `tooLarge`: a limit, not a mistake. */
  | { ok: false; field: string; message: string; tooLarge: boolean }

const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/**
 * Decodes an uncompressed body. Ids come out as lower-case hex, 64-bit numbers as exact decimal strings, `bytesValue` as padded
 * base64; fields with default values are left out. Both encodings of one request give equal results. Never throws on bad input.
 */
export function decodeTraces(body: Uint8Array, encoding: Encoding): DecodeResult {
  try {
    const decode = encoding === 'json' ? decodeJson : decodeProtobuf
    // The schema's names and types are those of conventions/otlp.ts.
    const decoded = decode(body, 'ExportTraceServiceRequest') as unknown as Partial<ExportTraceServiceRequest>
    const request = { resourceSpans: decoded.resourceSpans ?? [] }
    return { ok: true, request, spans: checkSpans(request) }
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
