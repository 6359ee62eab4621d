// A stand-in for what lies in front of a real backend (an ingress, an authenticating proxy): answers itself as it is told, else passes
// on to the backend, and keeps which spans the backend took.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { ExportTraceServiceRequest, Span } from '../../../conventions/otlp.ts'

export interface Refusal {
  status: number
  headers?: Record<string, string>
}

export class Gateway {
  /** Spans of requests that the backend answered with success, in order: one that comes twice is here twice. */
  readonly taken: Span[] = []
  /** When each request came, in milliseconds. */
  readonly asked: number[] = []
  /** What to answer instead of asking the backend; null: ask it. */
  refusal: (spans: Span[]) => Refusal | null
  private readonly backend: string
  private readonly secure: boolean
  private readonly server: Server
  private port = 0

  /** `tls`: certificate and key, PEM. */
  constructor(backend: string, refusal: Gateway['refusal'], tls?: { cert: string; key: string }) {
    this.backend = backend
    this.refusal = refusal
    this.secure = tls !== undefined
    const listener: RequestListener = (request, response) => {
      this.handle(request, response).catch(() => response.destroy())
    }
    this.server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done))
    const address = this.server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
    return this
  }

  get url(): string {
    return `${this.secure ? 'https' : 'http'}://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((done) => this.server.close(done))
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked.push(Date.now())
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    // On loopback nothing is compressed.
    const { resourceSpans } = JSON.parse(body.toString()) as ExportTraceServiceRequest
    const spans = resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap((scope) => scope.spans ?? []))
    const refusal = this.refusal(spans)
    if (refusal !== null) {
      response.writeHead(refusal.status, refusal.headers).end('the text of a gateway')
      return
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${this.backend}${request.url}`, { method: 'POST', headers, body })
    if (answer.ok) this.taken.push(...spans)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }
}
