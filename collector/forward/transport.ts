// The connections to one destination: TLS, client certificate, proxy. Opened with the first request and again after `reset`, so that
// a renewed certificate needs no restart.
import { readFile } from 'node:fs/promises'
import type { Dispatcher } from 'undici'
import { errorCode } from './cursor.ts'
import type { Destination } from './destination.ts'

/** A setting that can't be followed: a person has to change something. The message holds no secret. */
export class TransportError extends Error {
  override name = 'TransportError'
}

export interface Answer {
  status: number
  retryAfter: string | undefined
  contentType: string
  /** The body; must be read or dumped. */
  body: Dispatcher.ResponseData['body']
}

export class Transport {
  readonly #url: URL
  readonly #settings: Pick<Destination, 'tls' | 'proxy'>
  #connections: Promise<Dispatcher> | undefined

  constructor(url: URL, settings: Pick<Destination, 'tls' | 'proxy'>) {
    this.#url = url
    this.#settings = settings
  }

  /** One POST; redirects are not followed. Throws TransportError, the signal's reason, or the system's error with its `code`. */
  async post(headers: Record<string, string>, body: string | Uint8Array, signal: AbortSignal): Promise<Answer> {
    // Loaded late: the collector starts, and answers hooks, before anything is sent.
    const { request } = await import('undici')
    this.#connections ??= this.#open()
    const dispatcher = await this.#connections
    signal.throwIfAborted()
    const response = await request(this.#url, { method: 'POST', headers, body, signal, dispatcher })
    return {
      status: response.statusCode,
      retryAfter: first(response.headers['retry-after']),
      contentType: first(response.headers['content-type']) ?? '',
      body: response.body,
    }
  }

  /** Closes the connections: the next request reads the files anew. */
  reset(): void {
    const connections = this.#connections
    this.#connections = undefined
    connections?.then(
      (dispatcher) => dispatcher.destroy(),
      () => {},
    )
  }

  async #open(): Promise<Dispatcher> {
    const { Agent, ProxyAgent } = await import('undici')
    const { ca, cert, key } = this.#settings.tls ?? {}
    const tls = {
      ...(ca === undefined ? {} : { ca: await pem('ca', ca) }),
      ...(cert === undefined ? {} : { cert: await pem('cert', cert) }),
      ...(key === undefined ? {} : { key: await pem('key', key) }),
    }
    const { proxy } = this.#settings
    if (proxy === undefined) return new Agent({ connect: tls })
    // A proxy forwards http itself and lets https pass through a tunnel (RFC 9110 section 9.3.6); many refuse a tunnel to other ports.
    return new ProxyAgent({ uri: proxy, requestTls: tls, proxyTunnel: this.#url.protocol === 'https:' })
  }
}

async function pem(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new TransportError(`tls.${setting}: ${path} can't be read: ${errorCode(error)}`)
  }
}

const first = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)
