// The OTLP/HTTP door for third-party telemetry (T3): POST /v1/traces, /v1/logs and /v1/metrics, on loopback without a token. What
// comes in here is someone else's word. The answer 200 is given after `accept` has made the batch durable, never before.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Context, Hono } from 'hono'
import { SIGNALS, type Signal } from '../../../conventions/import.ts'
import { MAX_OTLP_BYTES } from '../../../conventions/limits.ts'
import { errorAnswer, plainAnswer, successAnswer } from './answers.ts'
import { type Blocks, type BodyResult, type BodySource, ByteBudget, discardBody, joined, readBody } from './body.ts'
import type { Encoding } from './decode.ts'
import { inspect } from './inspect.ts'
import type { Inspect } from './pool.ts'
import { type Accept, BUSY_RETRY_SECONDS, MAX_IN_FLIGHT_BYTES, Turns, takeBody } from './take.ts'

export interface OtlpSettings {
  accept: Accept
  /** Looks through a body. Default: here and now, keeping the body as it is. */
  inspect?: Inspect
  limits?: {
    /** Bytes of one body, before and after decompression. Default MAX_OTLP_BYTES. */
    bodyBytes?: number
    /** Bytes of all bodies held at once, beside a small one of each connection. Default MAX_IN_FLIGHT_BYTES. */
    inFlightBytes?: number
    /** Bytes of each body that do not count there. Default: what an exporter usually sends. */
    freeBytes?: number
  }
  /** Room for all bodies held at once, where another door shares it; `limits` does not count then. */
  budget?: ByteBudget
  /** Who may send. Default: this machine alone, and no web page. */
  admit?: (request: Request) => Refusal | null
  /** Told of what should not happen (`accept` throwing). The request is answered 503. Default: written to stderr. */
  onFault?: (error: unknown) => void
}

export interface Refusal {
  status: 401 | 403
  message: string
}

type Env = { Bindings: { incoming?: IncomingMessage } }

/** The receiver as a Hono app. Opens no port. */
export function otlpApp({
  accept,
  inspect = inspectHere,
  limits = {},
  budget = new ByteBudget(limits.inFlightBytes ?? MAX_IN_FLIGHT_BYTES, limits.freeBytes),
  admit = admitLoopback,
  onFault = console.error,
}: OtlpSettings): Hono<Env> {
  const bodyBytes = limits.bodyBytes ?? MAX_OTLP_BYTES
  const turns = new Turns<Socket>()
  const app = new Hono<Env>()

  app.use(async (c, next) => {
    const refusal = admit(c.req.raw)
    return refusal === null ? next() : refuse(c.req.raw, refusal.status, refusal.message)
  })

  for (const signal of SIGNALS) {
    app.post(`/v1/${signal}`, (c) => turns.take(c.env?.incoming?.socket, () => receive(c, signal)))
    app.all(`/v1/${signal}`, () => plainAnswer(405))
  }

  async function receive(c: Context<Env>, signal: Signal): Promise<Response> {
    const request = c.req.raw
    const compression = (c.req.header('content-encoding') ?? '').trim().toLowerCase()
    if (!['', 'identity', 'gzip'].includes(compression)) {
      return refuse(request, 400, `unsupported Content-Encoding: ${compression.slice(0, 40)}`)
    }
    const encoding = encodingOf(request)
    if (encoding === null) return plainAnswer(415)
    const source: BodySource = c.env?.incoming ?? request.body
    // Known to be too long: nothing of it is kept.
    const expected = Number(c.req.header('content-length') ?? 0)
    if (expected > bodyBytes) {
      await discardBody(source, bodyBytes)
      return refuseBody(request, 'too_large', bodyBytes)
    }
    const read = await readBody(source, compression === 'gzip', bodyBytes, budget, expected)
    if (!read.ok) return refuseBody(request, read.reason, bodyBytes)
    const { length } = read.body
    try {
      return await take(read.body, encoding, signal)
    } finally {
      budget.give(length)
    }
  }

  async function take(body: Blocks, encoding: Encoding, signal: Signal): Promise<Response> {
    const taken = await takeBody({ accept, inspect }, body, encoding, signal)
    if (taken.ok) return successAnswer(encoding, taken.invalid)
    if (taken.why === 'later') return errorAnswer(encoding, 503, taken.message, taken.retryAfterSeconds)
    return errorAnswer(encoding, taken.why === 'too_large' ? 413 : 400, taken.message)
  }

  app.notFound((c) =>
    refuse(
      c.req.raw,
      404,
      'this receiver takes traces, logs and metrics, at POST /v1/{traces,logs,metrics}; no profiles',
    ),
  )
  app.onError((error, c) => {
    onFault(error)
    // Retryable on purpose: to a client every other 5xx means that it may throw the spans away.
    return errorAnswer(encodingOf(c.req.raw) ?? 'json', 503, 'the collector could not record this', BUSY_RETRY_SECONDS)
  })
  return app
}

const inspectHere: Inspect = async (blocks, encoding, signal) => {
  const body = joined(blocks)
  return { inspected: inspect(body, encoding, signal, ''), contents: [{ name: 'body', bytes: body, keep: true }] }
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/i

/**
 * Without a token the sender must at least be on this machine and not a web page: a page can reach loopback, also under a name of its
 * own (DNS rebinding), but can't change these two headers.
 */
export function admitLoopback(request: Request): Refusal | null {
  const host = request.headers.get('host') ?? new URL(request.url).host
  const origin = request.headers.get('origin')
  if (!LOOPBACK.test(host)) return { status: 403, message: 'the Host header must name this machine as loopback' }
  if (origin === null || origin.toLowerCase() === `http://${host.toLowerCase()}`) return null
  return { status: 403, message: 'requests of web pages are not taken' }
}

function encodingOf(request: Request): Encoding | null {
  const type = (request.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/x-protobuf') return 'protobuf'
  return type === 'application/json' ? 'json' : null
}

function refuse(request: Request, status: 400 | 401 | 403 | 404, message: string): Response {
  return errorAnswer(encodingOf(request) ?? 'json', status, message)
}

function refuseBody(request: Request, reason: Extract<BodyResult, { ok: false }>['reason'], limit: number): Response {
  const encoding = encodingOf(request) ?? 'json'
  switch (reason) {
    case 'too_large':
      return errorAnswer(encoding, 413, `larger than ${limit} bytes; send smaller batches`)
    case 'busy':
      return errorAnswer(encoding, 429, 'too much is being received at once', BUSY_RETRY_SECONDS)
    case 'not_gzip':
      return errorAnswer(encoding, 400, 'gzip: invalid header')
    case 'bad_gzip':
      return errorAnswer(encoding, 400, 'gzip: the body is damaged or cut short')
    case 'cut_off':
      return errorAnswer(encoding, 400, 'the request ended early')
  }
}
