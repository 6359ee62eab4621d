// Sends one OTLP/JSON request and says what the answer means. Knows nothing of logs, cursors or retries.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

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
const REFUSED = new Set([400, 413, 422])
/** OpenSSL and Node codes of a peer we must not talk to, as opposed to one that can't be reached. */
const TLS_PROBLEM = /CERT|^ERR_TLS|^ERR_SSL|^UNABLE_TO|^EPROTO$|^HOSTNAME_MISMATCH$|^INVALID_CA$|^PATH_LENGTH_EXCEEDED$/

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

interface SenderConfig {
  url: URL
  /** Sent with each request. Values are secrets. */
  headers: Readonly<Record<string, string>>
  /** gzip: worth its CPU on a network. */
  compress: boolean
  /** Milliseconds that one request may take. */
  timeoutMs?: number
}

export class Sender {
  readonly #config: SenderConfig
  readonly #headers: Headers

  /** Throws TypeError, naming the header only, when a header can't be sent. */
  constructor(config: SenderConfig) {
    for (const [name, value] of Object.entries(config.headers)) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
        throw new TypeError('a header of the destination has no valid name')
      if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
        throw new TypeError(`the header ${name} has a value that can't be sent`)
    }
    this.#config = config
    this.#headers = new Headers(config.headers)
    this.#headers.set('content-type', 'application/json')
    if (config.compress) this.#headers.set('content-encoding', 'gzip')
    else this.#headers.delete('content-encoding')
  }

  /** Posts a request body. `now` (milliseconds) serves a Retry-After that is a date. */
  async send(json: string, signal: AbortSignal, now: number): Promise<Outcome> {
    const body = this.#config.compress ? await gzipped(json, { level: GZIP_LEVEL }) : json
    // Not AbortSignal.any with AbortSignal.timeout: in Node 20 garbage collection takes that one away, and with it the timeout.
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(timeoutError()), this.#config.timeoutMs ?? REQUEST_TIMEOUT_MS)
    const stop = () => limit.abort()
    signal.addEventListener('abort', stop, { once: true })
    try {
      signal.throwIfAborted()
      const response = await fetch(this.#config.url, {
        method: 'POST',
        headers: this.#headers,
        body,
        redirect: 'manual',
        signal: limit.signal,
      })
      return await read(response, now)
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

async function read(response: Response, now: number): Promise<Outcome> {
  const { status } = response
  if (status >= 200 && status < 300) return { kind: 'delivered', rejected: rejectedSpans(await readText(response)) }
  await response.body?.cancel()
  const reason = `HTTP ${status}`
  if (RETRYABLE.has(status)) {
    const afterMs = retryAfter(response.headers.get('retry-after'), now)
    return afterMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, afterMs }
  }
  if (REFUSED.has(status)) return { kind: 'refused', reason }
  // Everything else must not be retried at once, and must not cost evidence either: a 500 may be an outage as well as a refusal.
  return { kind: 'blocked', reason: status >= 300 && status < 400 ? `${reason}: redirects are not followed` : reason }
}

/** At most MAX_RESPONSE_BYTES of the body as text. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Spans turned down by a partial success. The spans are acknowledged whatever the body looks like. */
function rejectedSpans(body: string): number {
  try {
    const count = Number(JSON.parse(body)?.partialSuccess?.rejectedSpans ?? 0)
    return Number.isSafeInteger(count) && count > 0 ? count : 0
  } catch {
    // Not JSON: some backends answer a success with plain text or nothing.
    return 0
  }
}

/** Milliseconds of a Retry-After header (RFC 9110 section 10.2.3: seconds or a date), or undefined. */
function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

function classifyError(error: unknown): Outcome {
  if (error instanceof DOMException && error.name === 'TimeoutError') return { kind: 'retry', reason: 'timeout' }
  const code = errorCode(error)
  if (code !== undefined && TLS_PROBLEM.test(code)) return { kind: 'blocked', reason: `TLS: ${code}` }
  return { kind: 'retry', reason: code ?? 'network error' }
}

/** fetch hides the system's code in the cause, and with several addresses in the first of several errors. */
function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { cause } = error
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
