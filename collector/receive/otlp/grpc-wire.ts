// The wire of a unary gRPC call, as far as OTLP needs it (gRPC's PROTOCOL-HTTP2.md): a message is a flag, four bytes of length, the
// bytes; an answer's status travels in trailers, its details as a google.rpc.Status.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import protobuf from 'protobufjs/minimal.js'
import { SIGNALS, type Signal } from '../../../conventions/import.ts'

/** google.rpc.Code, those that are answered here. */
export const GRPC = {
  OK: 0,
  INVALID_ARGUMENT: 3,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const
export type GrpcCode = (typeof GRPC)[keyof typeof GRPC]

/** What HTTP would have answered (app.ts); RESOURCE_EXHAUSTED is either of two there. */
export const HTTP_STATUS: Readonly<Record<GrpcCode, number>> = {
  0: 200,
  3: 400,
  7: 403,
  8: 429,
  12: 404,
  14: 503,
  16: 401,
}

/** Bytes before a message. */
export const PREFIX_BYTES = 5

const METHODS = new Map<string, Signal>(
  SIGNALS.map((signal) => {
    const name = { traces: 'trace', logs: 'logs', metrics: 'metrics' }[signal]
    const service = { traces: 'TraceService', logs: 'LogsService', metrics: 'MetricsService' }[signal]
    return [`/opentelemetry.proto.collector.${name}.v1.${service}/Export`, signal]
  }),
)

/** The signal of a call's path; undefined for what is not served. */
export const signalOf = (path: string | undefined): Signal | undefined => METHODS.get(path ?? '')

/** `application/grpc`, `application/grpc+proto`, each with parameters. */
export function isGrpc(headers: IncomingHttpHeaders): boolean {
  return /^application\/grpc(?:\+proto)?\s*(?:;|$)/i.test(headers['content-type'] ?? '')
}

/** The message's flag and length; null for a flag that does not exist. */
export function readPrefix(prefix: Uint8Array): { compressed: boolean; length: number } | null {
  const [flag] = prefix
  if (prefix.length !== PREFIX_BYTES || (flag !== 0 && flag !== 1)) return null
  return { compressed: flag === 1, length: new DataView(prefix.buffer, prefix.byteOffset).getUint32(1) }
}

/** An uncompressed message with its prefix. */
export function framed(message: Uint8Array): Buffer {
  const out = Buffer.alloc(PREFIX_BYTES + message.length)
  out.writeUInt32BE(message.length, 1)
  out.set(message, PREFIX_BYTES)
  return out
}

export const OK_TRAILERS: OutgoingHttpHeaders = { 'grpc-status': String(GRPC.OK) }

/** Trailers of a refusal. `retryAfterSeconds`: the client may send it again, after this; without it, it may not. */
export function refusalTrailers(code: GrpcCode, message: string, retryAfterSeconds?: number): OutgoingHttpHeaders {
  return {
    'grpc-status': String(code),
    'grpc-message': percentEncoded(message),
    'grpc-status-details-bin': Buffer.from(statusBytes(code, message, retryAfterSeconds)).toString('base64'),
  }
}

// Status: code = 1 (int32), message = 2 (string), details = 3 (Any: type_url = 1, value = 2).
// RetryInfo: retry_delay = 1 (Duration: seconds = 1, int64).
function statusBytes(code: GrpcCode, message: string, retryAfterSeconds: number | undefined): Uint8Array {
  const writer = protobuf.Writer.create().uint32(0x08).int32(code).uint32(0x12).string(message)
  if (retryAfterSeconds !== undefined) {
    writer.uint32(0x1a).fork().uint32(0x0a).string('type.googleapis.com/google.rpc.RetryInfo').uint32(0x12).fork()
    writer.uint32(0x0a).fork().uint32(0x08).int64(Math.ceil(retryAfterSeconds)).ldelim().ldelim().ldelim()
  }
  return writer.finish()
}

/** As PROTOCOL-HTTP2.md has grpc-message: bytes of UTF-8, all but plain ASCII and `%` itself escaped. */
function percentEncoded(text: string): string {
  return Array.from(Buffer.from(text.toWellFormed()), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}
