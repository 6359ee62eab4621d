// A stand-in for Grafana Tempo, which can't be had here: takes OTLP/HTTP in both encodings, cuts attributes at 2,048 bytes as Tempo
// does by default (`max_attribute_bytes`), answers a search for our log id and gives traces back in Tempo's shapes: `batches`, ids in
// base64, search results without leading zeros. Written after Tempo's documentation; it shows what our side does, not what Tempo does.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import type { ExportTraceServiceRequest, Span } from '../../conventions/otlp.ts'
import { text } from './backend.ts'

/** Bytes of an attribute's value that are kept. */
const MAX_ATTRIBUTE_BYTES = 2_048

export class StandInTempo {
  readonly spans: Span[] = []
  /** The tenant of each request (X-Scope-OrgID). */
  readonly tenants = new Set<string | undefined>()
  private readonly server: Server
  private port = 0

  constructor() {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch(() => response.writeHead(500).end())
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done))
    const address = this.server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((done) => this.server.close(done))
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url)
    const tenant = request.headers['x-scope-orgid']
    this.tenants.add(Array.isArray(tenant) ? tenant[0] : tenant)
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.method === 'POST' && pathname === '/v1/traces') {
      await this.take(request)
      json({})
    } else if (pathname === '/api/search') json({ traces: this.search(searchParams) })
    else if (pathname.startsWith('/api/traces/')) {
      const found = this.spans.filter(({ traceId }) => traceId === pathname.slice('/api/traces/'.length))
      if (found.length === 0) response.writeHead(404).end('trace not found')
      else json({ batches: [{ resource: { attributes: [] }, scopeSpans: [{ spans: found.map(asTempoSays) }] }] })
    } else response.writeHead(404).end()
  }

  private async take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const raw = Buffer.concat(chunks)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw
    const decoded = decodeTraces(body, request.headers['content-type'] === 'application/json' ? 'json' : 'protobuf')
    if (!decoded.ok) throw new Error(decoded.message)
    this.spans.push(...spansOf(decoded.request).map(cut))
  }

  private search(query: URLSearchParams): object[] {
    const [, logId] = /^\{ span\.spanseal\.log\.id = "([0-9a-f]{32})" \}$/.exec(query.get('q') ?? '') ?? []
    const seconds = (span: Span) => Number(BigInt(span.startTimeUnixNano) / 1_000_000_000n)
    const found = this.spans.filter(
      (span) =>
        text(span, 'spanseal.log.id') === logId &&
        seconds(span) >= Number(query.get('start')) &&
        seconds(span) <= Number(query.get('end')),
    )
    const ids = [...new Set(found.map(({ traceId }) => traceId))].slice(0, Number(query.get('limit')))
    return ids.map((id) => ({ traceID: id.replace(/^0+/, ''), rootServiceName: 'x', rootTraceName: 'x' }))
  }
}

function spansOf({ resourceSpans }: ExportTraceServiceRequest): Span[] {
  return resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans = [] }) => spans))
}

function cut(span: Span): Span {
  const attributes = (span.attributes ?? []).map(({ key, value }) => {
    if (value === undefined || !('stringValue' in value) || typeof value.stringValue !== 'string')
      return { key, ...(value === undefined ? {} : { value }) }
    return { key, value: { stringValue: Buffer.from(value.stringValue).subarray(0, MAX_ATTRIBUTE_BYTES).toString() } }
  })
  return { ...span, attributes }
}

function asTempoSays(span: Span): object {
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
  const parent = span.parentSpanId === undefined ? {} : { parentSpanId: base64(span.parentSpanId) }
  return { ...span, traceId: base64(span.traceId), spanId: base64(span.spanId), ...parent }
}
