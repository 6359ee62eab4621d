// What the receiver answers: every body in the request's own encoding, errors as google.rpc.Status (OTLP specification, "Failures").
import protobuf from 'protobufjs/minimal.js'
import type { Encoding, InvalidSpan } from './decode.ts'
import type { Facts } from './inspect.ts'

const CONTENT_TYPES: Record<Encoding, string> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

/** google.rpc.Code of each error status. 429 and 503 are the only ones a client may retry. */
const CODES = { 400: 3, 401: 16, 403: 7, 404: 12, 413: 8, 429: 8, 503: 14 } as const
type ErrorStatus = keyof typeof CODES

/** Characters. A client reads at most 4 MiB of answer and shows the message to a person. */
const MAX_MESSAGE_CHARS = 1_000

/** An error: status line, Status body, Retry-After (whole seconds, rounded up) where given. */
export function errorAnswer(
  encoding: Encoding,
  status: ErrorStatus,
  message: string,
  retryAfterSeconds?: number,
): Response {
  const headers = new Headers({ 'content-type': CONTENT_TYPES[encoding] })
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(Math.max(0, Math.ceil(retryAfterSeconds))))
  const code = CODES[status]
  const text = shorten(message)
  // Status: code = 1 (int32), message = 2 (string).
  const body =
    encoding === 'json'
      ? JSON.stringify({ code, message: text })
      : ownBytes(protobuf.Writer.create().uint32(0x08).int32(code).uint32(0x12).string(text).finish())
  return new Response(body, { status, headers })
}

const NONE: Facts['invalid'] = { total: 0, named: [] }
const nameOf = ({ index, reason }: InvalidSpan) => `span ${index}: ${reason}`

/** 200: everything was taken, or a partial success that counts and names what was not. */
export function successAnswer(encoding: Encoding, invalid: Facts['invalid'] = NONE): Response {
  const headers = { 'content-type': CONTENT_TYPES[encoding] }
  if (encoding === 'protobuf') return new Response(partialSuccessBytes(invalid), { headers })
  if (invalid.total === 0) return new Response('{}', { headers })
  const partialSuccess = { rejectedSpans: String(invalid.total), errorMessage: notTaken(invalid) }
  return new Response(JSON.stringify({ partialSuccess }), { headers })
}

/** An answer's message in protobuf; empty where everything was taken. */
export function partialSuccessBytes(invalid: Facts['invalid'] = NONE): Uint8Array<ArrayBuffer> {
  if (invalid.total === 0) return new Uint8Array(0)
  // ExportTraceServiceResponse: partial_success = 1 { rejected_spans = 1 (int64), error_message = 2 (string) }.
  const writer = protobuf.Writer.create().uint32(0x0a).fork()
  writer.uint32(0x08).int64(invalid.total).uint32(0x12).string(notTaken(invalid)).ldelim()
  return ownBytes(writer.finish())
}

function notTaken({ total, named }: Facts['invalid']): string {
  const more = total > named.length ? `; and ${total - named.length} more` : ''
  return shorten(`not taken: ${named.map(nameOf).join('; ')}${more}`)
}

/** Plain text, as the OpenTelemetry Collector answers these two. */
export function plainAnswer(status: 405 | 415): Response {
  const text =
    status === 405
      ? '405 method not allowed, supported: [POST]'
      : '415 unsupported media type, supported: [application/json, application/x-protobuf]'
  const headers = new Headers({ 'content-type': 'text/plain' })
  if (status === 405) headers.set('allow', 'POST')
  return new Response(text, { status, headers })
}

function shorten(message: string): string {
  return message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}...` : message
}

// The writer's bytes lie in a pool that it shares between messages.
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
}
