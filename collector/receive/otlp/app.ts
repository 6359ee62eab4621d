// The OTLP/HTTP door for third-party telemetry (T3): POST /v1/traces, on loopback without a token. What comes in here is someone
// else's word. The answer 200 is given after `accept` has made the batch durable, never before.
import { Hono } from 'hono'
import { MAX_OTLP_BYTES } from '../../../conventions/limits.ts'
import type { ExportTraceServiceRequest } from '../../../conventions/otlp.ts'
import { errorAnswer, plainAnswer, successAnswer } from './answers.ts'
import { type BodyResult, ByteBudget, readBody } from './body.ts'
import { decodeTraces, type Encoding, type InvalidSpan } from './decode.ts'
import { serviceOf } from './import.ts'
import { skimTraces } from './skim.ts'
import { stripReserved } from './strip.ts'

/** Bytes of bodies held at once, over all requests: two of the largest. Beyond it a client is asked to come back. */
const MAX_IN_FLIGHT_BYTES = 2 * MAX_OTLP_BYTES

/** Seconds. A body is read and recorded faster than this; clients start with the same wait. */
const BUSY_RETRY_SECONDS = 1

/** Service names passed on with a batch, for a log line or a view; one request rarely has more than one. */
const MAX_SERVICES = 16

/** One request, whole. The body is what a record commits to. */
export interface OtlpBatch {
  /** As received, after decompression. */
  body: Uint8Array
  encoding: Encoding
  /** Spans that count. */
  count: number
  /** Spans that break a rule of OTLP: in the body, absent from views. */
  rejected: number
  /** `spanseal.*` attributes the sender had no right to set. */
  spoofed: number
  /** Distinct `service.name`s, at most 16. */
  services: string[]
}

export type AcceptResult = { ok: true } | { ok: false; retryAfterSeconds: number; message: string }

export interface OtlpSettings {
  /** Makes the batch durable. Refuses when it can't for now; the sender keeps its copy and is asked to come again. */
  accept: (batch: OtlpBatch) => Promise<AcceptResult>
  limits?: {
    /** Bytes of one body, before and after decompression. Default MAX_OTLP_BYTES. */
    bodyBytes?: number
    /** Bytes of all bodies held at once. Default MAX_IN_FLIGHT_BYTES. */
    inFlightBytes?: number
  }
  /** Told of what should not happen (`accept` throwing). The request is answered 503. Default: written to stderr. */
  onFault?: (error: unknown) => void
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/i

/** The receiver as a Hono app. Opens no port. */
export function otlpApp({ accept, limits = {}, onFault = console.error }: OtlpSettings): Hono {
  const bodyBytes = limits.bodyBytes ?? MAX_OTLP_BYTES
  const budget = new ByteBudget(limits.inFlightBytes ?? MAX_IN_FLIGHT_BYTES)
  const app = new Hono()

  app.use(async (c, next) => {
    // Without a token the sender must at least be on this machine and not a web page: a page can reach loopback, also under a
    // name of its own (DNS rebinding), but can't change these two headers.
    const host = c.req.header('host') ?? new URL(c.req.url).host
    const origin = c.req.header('origin')
    if (!LOOPBACK.test(host)) return refuse(c.req.raw, 403, 'the Host header must name this machine as loopback')
    if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
      return refuse(c.req.raw, 403, 'requests of web pages are not taken')
    }
    return next()
  })

  app.post('/v1/traces', async (c) => {
    const request = c.req.raw
    const encoding = encodingOf(request)
    if (encoding === null) return plainAnswer(415)
    const compression = (c.req.header('content-encoding') ?? '').trim().toLowerCase()
    if (!['', 'identity', 'gzip'].includes(compression)) {
      return refuse(request, 400, `unsupported Content-Encoding: ${compression.slice(0, 40)}`)
    }
    // Known to be too long: say so before it is sent.
    if (Number(c.req.header('content-length') ?? 0) > bodyBytes) return refuseBody(request, 'too_large', bodyBytes)
    const read = await readBody(request.body, compression === 'gzip', bodyBytes, budget)
    if (!read.ok) return refuseBody(request, read.reason, bodyBytes)
    try {
      return await takeTraces(read.body, encoding, accept)
    } finally {
      budget.give(read.body.length)
    }
  })
  app.all('/v1/traces', () => plainAnswer(405))

  app.notFound((c) =>
    refuse(c.req.raw, 404, 'this receiver takes traces, at POST /v1/traces; no logs, metrics or profiles'),
  )
  app.onError((error, c) => {
    onFault(error)
    // Retryable on purpose: to a client every other 5xx means that it may throw the spans away.
    return errorAnswer(encodingOf(c.req.raw) ?? 'json', 503, 'the collector could not record this', BUSY_RETRY_SECONDS)
  })
  return app
}

async function takeTraces(body: Uint8Array, encoding: Encoding, accept: OtlpSettings['accept']): Promise<Response> {
  const read = inspect(body, encoding)
  if (!read.ok) return errorAnswer(encoding, read.tooLarge ? 413 : 400, read.message)
  if (read.count + read.invalid.length === 0) return successAnswer(encoding, [])
  const { count, invalid, spoofed, services } = read
  const taken = await accept({ body, encoding, count, rejected: invalid.length, spoofed, services })
  if (!taken.ok) return errorAnswer(encoding, 503, taken.message, taken.retryAfterSeconds)
  return successAnswer(encoding, invalid)
}

type Inspected =
  | { ok: true; count: number; invalid: InvalidSpan[]; spoofed: number; services: string[] }
  | { ok: false; message: string; tooLarge: boolean }

// Its own function so that the decoded spans, many times the body's size, are gone before `accept` is waited for.
function inspect(body: Uint8Array, encoding: Encoding): Inspected {
  const plain = encoding === 'protobuf' ? skimTraces(body) : null
  if (plain !== null) {
    const { spans, reserved, services } = plain
    return { ok: true, count: spans, invalid: [], spoofed: reserved, services: distinct(services) }
  }
  const decoded = decodeTraces(body, encoding)
  if (!decoded.ok) return decoded
  const { request, spans } = decoded
  const spoofed = stripReserved(request)
  return { ok: true, count: spans.valid, invalid: spans.invalid, spoofed, services: servicesOf(request) }
}

function servicesOf(request: ExportTraceServiceRequest): string[] {
  return distinct(request.resourceSpans.map(serviceOf).filter((name) => name !== undefined))
}

function distinct(services: string[]): string[] {
  return [...new Set(services)].slice(0, MAX_SERVICES).sort()
}

function encodingOf(request: Request): Encoding | null {
  const type = (request.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/x-protobuf') return 'protobuf'
  return type === 'application/json' ? 'json' : null
}

function refuse(request: Request, status: 400 | 403 | 404, message: string): Response {
  return errorAnswer(encodingOf(request) ?? 'json', status, message)
}

function refuseBody(request: Request, reason: Extract<BodyResult, { ok: false }>['reason'], limit: number): Response {
  const encoding = encodingOf(request) ?? 'json'
  switch (reason) {
    case 'too_large':
      return errorAnswer(encoding, 413, `larger than ${limit} bytes; send smaller batches`)
    case 'busy':
      return errorAnswer(encoding, 429, 'too much is being received at once', BUSY_RETRY_SECONDS)
    case 'bad_gzip':
      return errorAnswer(encoding, 400, 'gzip: the body is not valid gzip')
    case 'cut_off':
      return errorAnswer(encoding, 400, 'the request ended early')
  }
}
