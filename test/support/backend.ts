// A stand-in for an OTLP backend: keeps what it is sent, answers as it is told. Real backends are tested elsewhere.
import { createServer, type Server } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { ExportTraceServiceRequest, KeyValue, Span } from '../../conventions/otlp.ts'

export class Backend {
  readonly bodies: string[] = []
  /** Status of the next answers; 0 closes the connection. */
  answer = 200
  /** Bodies that are answered with 400. */
  refuses: (body: string) => boolean = () => false
  private server: Server | undefined
  port = 0

  async start(port = 0): Promise<this> {
    const server = createServer((req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        if (this.answer === 0) {
          req.socket.destroy()
          return
        }
        const raw = Buffer.concat(chunks)
        const body = (req.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString()
        const status = this.refuses(body) ? 400 : this.answer
        if (status === 200) this.bodies.push(body)
        res.writeHead(status, { 'content-type': 'application/json' }).end('{}')
      })
    })
    this.server = server
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
    const address = server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections()
    await new Promise((done) => (this.server === undefined ? done(null) : this.server.close(done)))
  }

  spans(): Span[] {
    return this.bodies.flatMap((body) =>
      (JSON.parse(body) as ExportTraceServiceRequest).resourceSpans.flatMap(({ scopeSpans }) =>
        (scopeSpans ?? []).flatMap(({ spans }) => spans ?? []),
      ),
    )
  }
}

/** A string attribute of a span. */
export function text(span: { attributes?: KeyValue[] }, key: string): string | undefined {
  const value = span.attributes?.find((attribute) => attribute.key === key)?.value
  return value !== undefined && 'stringValue' in value ? value.stringValue : undefined
}
