// Pushes the metrics as OTLP/JSON every so often, also when nothing happened: then silence means that the collector is gone. What is
// sent is cumulative, so a push that failed is made good by the next one and nothing is kept for it.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Json } from '../../conventions/strict-json.ts'

const compress = promisify(gzip)

/** Milliseconds. A push that takes longer is given up. */
const REQUEST_MS = 10_000
/** Milliseconds for the last push when the collector stops. */
const FAREWELL_MS = 2_000
const METRICS_PATH = '/v1/metrics'

export interface PushOptions {
  url: URL
  /** Sent with each request. Values are secrets. */
  headers: Readonly<Record<string, string>>
  intervalMs: number
  request: () => Promise<Json>
  onPush: (outcome: 'sent' | 'failed') => void
  /** Takes one line for people, when it begins to fail and when it works again. */
  log: (line: string) => void
}

/** The URL to post metrics to: as it is where it ends in /v1/metrics, else with that appended. */
export function metricsUrl(endpoint: string): { ok: true; url: URL } | { ok: false; message: string } {
  if (!URL.canParse(endpoint)) return { ok: false, message: 'is not a URL' }
  const url = new URL(endpoint)
  if (!/^https?:$/.test(url.protocol)) return { ok: false, message: 'must be an http or https URL' }
  if (url.username !== '' || url.password !== '')
    return { ok: false, message: 'must not hold a password; configure an authorization header instead' }
  url.hash = ''
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith(METRICS_PATH) ? path : path + METRICS_PATH
  return { ok: true, url }
}

export class Push {
  readonly #options: PushOptions
  #timer: NodeJS.Timeout | undefined
  #failing: string | undefined
  #stopped = false

  constructor(options: PushOptions) {
    this.#options = options
  }

  /** Pushes now and then every interval. */
  start(): void {
    void this.#push(REQUEST_MS).then(() => {
      if (this.#stopped) return
      this.#timer = setTimeout(() => this.start(), this.#options.intervalMs)
      this.#timer.unref()
    })
  }

  /** Pushes a last time. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#push(FAREWELL_MS)
  }

  async #push(ms: number): Promise<void> {
    const { url, onPush, log } = this.#options
    const problem = await this.#send(ms)
    onPush(problem === undefined ? 'sent' : 'failed')
    if (problem !== this.#failing)
      log(
        problem === undefined ? `metrics go to ${url.origin} again` : `metrics don't get to ${url.origin}: ${problem}`,
      )
    this.#failing = problem
  }

  /** What went wrong; never text of the other side. */
  async #send(ms: number): Promise<string | undefined> {
    const { url, headers, request } = this.#options
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), ms)
    try {
      const body = await compress(JSON.stringify(await request()))
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body,
        redirect: 'manual',
        signal: limit.signal,
      })
      await response.body?.cancel()
      return response.ok ? undefined : `HTTP ${response.status}`
    } catch (error) {
      if (limit.signal.aborted) return 'it takes too long'
      const cause =
        error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : ''
      return String(cause || 'network error')
    } finally {
      clearTimeout(timer)
    }
  }
}
