// Sends one OTLP request and says what the answer means. Knows nothing of logs, cursors or retries.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { errorCode } from './cursor.ts'
import type { Destination } from './destination.ts'
import { checkHeaders, readHeaders } from './headers.ts'
import { rejectedIn, statusCodeIn } from './protobuf.ts'
import type { Request } from './signal.ts'
import { type Answer, Transport, TransportError } from './transport.ts'

const gzipped = promisify(gzip)

/** Spans of one log resemble each other: more effort makes a body a few percent smaller and takes twice the CPU. */
const GZIP_LEVEL = 3

/** Milliseconds. A backend that takes longer for one batch is overloaded; the OTLP exporters' default is 10 s. */
const REQUEST_TIMEOUT_MS = 30_000
/** Bytes. A success answer is a few dozen; more than this is not read. */
const MAX_RESPONSE_BYTES = 64 * 1024
/** Milliseconds. A longer Retry-After is cut to this, so that a wrong header doesn't stop forwarding for days. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** The only statuses that OTLP allows to retry (opentelemetry-proto, docs/specification.md, "Retryable Response Codes"). */
const RETRYABLE = new Set([429, 502, 503, 504])
/** Something in the body is not liked: sending less may find out what. */
const REFUSED = new Set([400, 413])
/** google.rpc.Code INVALID_ARGUMENT: the same, whatever status it comes with. */
const INVALID_ARGUMENT = 3
/** OpenSSL and Node codes of a peer we must not talk to, as opposed to one that can't be reached. */
const TLS_PROBLEM =
  /CERT|^ERR_TLS|^ERR_SSL|^ERR_OSSL|^UNABLE_TO|^EPROTO$|^HOSTNAME_MISMATCH$|^INVALID_CA$|^PATH_LENGTH_EXCEEDED$/
/** What undici says when a proxy opens no tunnel. */
const PROXY_REFUSAL = /^Proxy response \((\d{3})\)/

/**
 * delivered: taken; `rejected` of the spans were turned down for good (OTLP partial success).
 * retry: try again, not before `afterMs` where the backend said so. refused: something in this body. blocked: nothing will be
 * taken until someone changes a setting. aborted: the caller's signal. `reason` never holds text of the backend.
 */
export type Outcome =
  | { kind: 'delivered'; rejected: number }
  | { kind: 'retry'; reason: string; afterMs?: number }
  | { kind: 'refused'; reason: string }
  | { kind: 'blocked'; reason: string }
  | { kind: 'aborted' }

interface SenderConfig extends Omit<Destination, 'url' | 'evidence' | 'content'> {
  /** Where to post. */
  url: URL
  /** gzip: worth its CPU on a network. */
  compress: boolean
  /** Milliseconds that one request may take. */
  timeoutMs?: number
}

const CONTENT_TYPES = { 'http/json': 'application/json', 'http/protobuf': 'application/x-protobuf' } as const

export class Sender {
  readonly #config: SenderConfig
  readonly #transport: Transport

  /** Throws TypeError, naming the header only, when a header can't be sent. */
  constructor(config: SenderConfig) {
    checkHeaders(config.headers)
    this.#config = config
    this.#transport = new Transport(config.url, config)
  }

  /** Posts the request. `now` (milliseconds) serves a Retry-After that is a date. */
  async send(request: Request, signal: AbortSignal, now: number): Promise<Outcome> {
    const outcome = await this.#attempt(request, signal, now)
    // Whoever repairs a setting or renews a certificate need not restart anything.
    if (outcome.kind === 'blocked') this.#transport.reset()
    return outcome
  }

  async #attempt(request: Request, signal: AbortSignal, now: number): Promise<Outcome> {
    const { protocol, compress } = this.#config
    const plain = protocol === 'http/json' ? request.json : request.protobuf()
    const body = compress ? await gzipped(plain, { level: GZIP_LEVEL }) : plain
    const read = await readHeaders(this.#config.headers)
    if (!read.ok) return { kind: 'blocked', reason: read.message }
    // Not AbortSignal.any with AbortSignal.timeout: in Node 20 garbage collection takes that one away, and with it the timeout.
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(timeoutError()), this.#config.timeoutMs ?? REQUEST_TIMEOUT_MS)
    const stop = () => limit.abort()
    signal.addEventListener('abort', stop, { once: true })
    try {
      signal.throwIfAborted()
      const { 'content-encoding': _, ...own } = lowerCase(read.headers)
      const encoding = compress ? { 'content-encoding': 'gzip' } : {}
      const headers = { ...own, 'content-type': CONTENT_TYPES[protocol], ...encoding }
      return await judge(await this.#transport.post(headers, body, limit.signal), now)
    } catch (error) {
      if (signal.aborted) return { kind: 'aborted' }
      return classifyError(error)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }
}

function timeoutError(): DOMException {
  return new DOMException('the destination takes too long', 'TimeoutError')
}

/** So that a configured content type, in whatever case, doesn't come twice. */
function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

async function judge(answer: Answer, now: number): Promise<Outcome> {
  const { status } = answer
  const reason = `HTTP ${status}`
  if (RETRYABLE.has(status)) {
    await answer.body.dump()
    const afterMs = retryAfter(answer.retryAfter, now)
    return afterMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, afterMs }
  }
  const body = await readBody(answer)
  if (status >= 200 && status < 300) return { kind: 'delivered', rejected: rejectedItems(answer, body) }
  if (REFUSED.has(status) || (status >= 400 && statusCode(answer, body) === INVALID_ARGUMENT))
    return { kind: 'refused', reason }
  // Everything else must not be retried at once, and must not cost evidence either: a 500 may be an outage as well as a refusal.
  return { kind: 'blocked', reason: status >= 300 && status < 400 ? `${reason}: redirects are not followed` : reason }
}

/** At most MAX_RESPONSE_BYTES of the body. */
async function readBody({ body }: Answer): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Items turned down by a partial success. They are all acknowledged, whatever the body looks like. */
function rejectedItems({ contentType }: Answer, body: Buffer): number {
  const partial = isProtobuf(contentType) ? undefined : parseJson(body)?.partialSuccess
  const count = isProtobuf(contentType)
    ? rejectedIn(body)
    : Number(partial?.rejectedSpans ?? partial?.rejectedLogRecords ?? 0)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

/** The google.rpc.Code that an error's body gives, or null. */
function statusCode({ contentType }: Answer, body: Buffer): number | null {
  return isProtobuf(contentType) ? statusCodeIn(body) : Number(parseJson(body)?.code ?? 0)
}

const isProtobuf = (contentType: string) => contentType.startsWith('application/x-protobuf')

/** What answers may hold, if they are JSON at all. */
interface AnswerBody {
  partialSuccess?: { rejectedSpans?: unknown; rejectedLogRecords?: unknown } | null
  code?: unknown
}

function parseJson(body: Buffer): AnswerBody | null {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' ? value : null
  } catch {
    // Not JSON: some backends answer with plain text or nothing.
    return null
  }
}

/** Milliseconds of a Retry-After header (RFC 9110 section 10.2.3: seconds or a date), or undefined. */
function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

function classifyError(error: unknown): Outcome {
  if (error instanceof TransportError) return { kind: 'blocked', reason: error.message }
  if (error instanceof DOMException && error.name === 'TimeoutError') return { kind: 'retry', reason: 'timeout' }
  const [, proxy] = PROXY_REFUSAL.exec(error instanceof Error ? error.message : '') ?? []
  if (proxy !== undefined) {
    const reason = `the proxy answers ${proxy}`
    return RETRYABLE.has(Number(proxy)) ? { kind: 'retry', reason } : { kind: 'blocked', reason }
  }
  const code = errorCode(error)
  return TLS_PROBLEM.test(code) ? { kind: 'blocked', reason: `TLS: ${code}` } : { kind: 'retry', reason: code }
}
