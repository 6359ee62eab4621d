// A stand-in for an OTLP backend: a real HTTP server on loopback that answers as a test says and keeps what it took.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import type { ExportTraceServiceRequest, Span } from '../../conventions/otlp.ts'

export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Bytes before compression. */
  size: number
  request: ExportTraceServiceRequest
  spans: Span[]
}

export type Answer = { status: number; headers?: Record<string, string>; body?: string } | 'destroy' | 'hang'

export const TAKEN: Answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }

export class StandInBackend {
  /** Every request, also refused ones. */
  readonly requests: Received[] = []
  /** Spans of requests that were answered with a 2xx, in order of arrival. */
  readonly taken: Span[] = []
  answer: (received: Received, count: number) => Answer | Promise<Answer> = () => TAKEN
  readonly #server: Server
  #port = 0

  constructor() {
    this.#server = createServer((incoming, response) => {
      const chunks: Uint8Array[] = []
      incoming.on('data', (chunk) => chunks.push(chunk))
      incoming.on('end', () => {
        const { method = '', url: path = '', headers } = incoming
        const body = headers['content-encoding'] === 'gzip' ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks)
        const request: ExportTraceServiceRequest = JSON.parse(body.toString())
        const spans = request.resourceSpans.flatMap(({ scopeSpans = [] }) =>
          scopeSpans.flatMap((scope) => scope.spans ?? []),
        )
        void this.#reply({ method, path, headers, size: body.length, request, spans }, response)
      })
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.#port = (this.#server.address() as AddressInfo).port
    onTestFinished(() => this.close())
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #reply(received: Received, response: ServerResponse): Promise<void> {
    this.requests.push(received)
    const answer = await this.answer(received, this.requests.length)
    if (answer === 'hang') return
    if (answer === 'destroy') {
      response.destroy()
      return
    }
    if (answer.status >= 200 && answer.status < 300) this.taken.push(...received.spans)
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }
}

/** A stand-in backend that listens, closed when the test ends. */
export const startBackend = (answer?: StandInBackend['answer']): Promise<StandInBackend> => {
  const backend = new StandInBackend()
  if (answer !== undefined) backend.answer = answer
  return backend.listen()
}
