// Real sockets and real clients: what app.request can't show.
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createGzip, gzipSync } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { afterEach, describe, expect, it } from 'vitest'
import { type OtlpSettings, otlpApp } from '../../collector/receive/otlp/app.ts'
import { decodeTraces, spansOf } from '../../collector/receive/otlp/decode.ts'
import type { OtlpBatch } from '../../collector/receive/otlp/take.ts'
import { bodies, bodyOf, utf8, withSpan } from './otlp-support.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A listening receiver; `accept` is a stand-in that keeps what it is given. */
async function listen(settings: Partial<OtlpSettings> = {}) {
  const batches: OtlpBatch[] = []
  const accept: OtlpSettings['accept'] = async (batch) => {
    batches.push(batch)
    return { ok: true }
  }
  const app = otlpApp({ accept, ...settings })
  const server = createAdaptorServer({ fetch: app.fetch }) as Server
  servers.push(server)
  let connections = 0
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}/v1/traces`, batches, connections: () => connections }
}

interface Answer {
  status: number | undefined
  body: string
  headers: IncomingMessage['headers']
}

/** Sends chunks without Content-Length, as the OpenTelemetry JS exporters do, and reads the answer even when it comes early. */
function sendChunked(
  port: number,
  chunks: Iterable<Uint8Array>,
  headers: Record<string, string> = {},
  agent: Agent | false = false,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method: 'POST', path: '/v1/traces', agent }
    const request = httpRequest(
      { ...options, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let body = ''
        response
          .on('data', (chunk) => (body += chunk))
          .on('end', () => {
            resolve({ status: response.statusCode, body, headers: response.headers })
            if (agent === false) request.destroy()
          })
      },
    )
    request.on('error', reject)
    const closed = new Promise((done) => request.once('close', done))
    void (async () => {
      for (const chunk of chunks) {
        if (request.destroyed || request.writableEnded) return
        if (!request.write(chunk)) await Promise.race([once(request, 'drain'), closed])
      }
      request.end()
    })().catch(reject)
  })
}

async function sendSpans(url: string, compression: 'gzip' | 'none') {
  const exporters = [
    new JsonExporter({ url, compression } as object),
    new ProtobufExporter({ url, compression } as object),
  ]
  const provider = new NodeTracerProvider({
    spanProcessors: exporters.map((exporter) => new BatchSpanProcessor(exporter)),
  })
  const tracer = provider.getTracer('test', '1.2.3')
  const start: [number, number] = [1_790_000_000, 21]
  const parent = tracer.startSpan('execute_tool read_file', { kind: SpanKind.CLIENT, startTime: start })
  parent.setAttributes({
    text: 'ä€😀',
    flag: true,
    count: 3,
    ratio: 0.25,
    empty: '',
    list: ['a', 'b'],
    numbers: [1, 2.5],
  })
  parent.addEvent('happened', { detail: 1 }, [1_790_000_000, 22])
  parent.addLink({
    context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 },
    attributes: { why: 'x' },
  })
  parent.setStatus({ code: SpanStatusCode.ERROR, message: 'ENOENT' })
  parent.end([1_790_000_001, 23])
  tracer.startSpan('plain').end()
  await provider.forceFlush()
  await provider.shutdown()
}

describe('OpenTelemetry JS exporters', () => {
  it.each(['gzip', 'none'] as const)(
    'send with compression %s; both encodings of the same spans decode to the same',
    async (compression) => {
      const { url, batches } = await listen()
      await sendSpans(url, compression)
      expect(batches.map(({ encoding }) => encoding).sort()).toEqual(['json', 'protobuf'])
      const [one, other] = batches.map((batch) => decodeTraces(bodyOf(batch), batch.encoding))
      if (!one?.ok || !other?.ok) throw new Error('refused')
      expect(one.request).toEqual(other.request)
      const [span] = spansOf(one.request)
      expect(span).toMatchObject({
        name: 'execute_tool read_file',
        kind: 3,
        startTimeUnixNano: '1790000000000000021',
        endTimeUnixNano: '1790000001000000023',
        status: { code: 2, message: 'ENOENT' },
      })
      expect(span?.attributes).toContainEqual({ key: 'text', value: { stringValue: 'ä€😀' } })
      expect(span?.attributes).toContainEqual({ key: 'empty', value: { stringValue: '' } })
      for (const batch of batches) expect(batch).toMatchObject({ count: 2, invalid: { total: 0 }, spoofed: 0 })
    },
  )

  it('keep their spans over a refusal, and bring them after Retry-After', async () => {
    let asked = 0
    const taken: OtlpBatch[] = []
    const { url } = await listen({
      accept: async (batch) => {
        if (asked++ === 0) return { ok: false, retryAfterSeconds: 1, message: 'starting' }
        taken.push(batch)
        return { ok: true }
      },
    })
    const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new ProtobufExporter({ url }))] })
    provider.getTracer('t').startSpan('kept').end()
    await provider.forceFlush()
    await provider.shutdown()
    expect(taken).toMatchObject([{ count: 1 }])
    expect(asked).toBe(2)
  })
})

describe('sockets', () => {
  it('a body in many chunks without Content-Length', async () => {
    const { port, batches } = await listen()
    const { body } = bodies.find(({ name }) => name.startsWith('vercel-ai-json')) ?? { body: new Uint8Array(0) }
    const chunks = Array.from({ length: Math.ceil(body.length / 97) }, (_, i) => body.slice(i * 97, i * 97 + 97))
    expect(await sendChunked(port, chunks)).toMatchObject({ status: 200, body: '{}' })
    expect(batches).toMatchObject([{ count: 18 }])
    expect(Buffer.from(bodyOf(batches[0])).equals(body)).toBe(true)
  })

  it('413 reaches a client that is still sending, chunked or with Content-Length', async () => {
    const { port, batches } = await listen({ limits: { bodyBytes: 100_000 } })
    function* endless() {
      for (let i = 0; i < 200; i++) yield new Uint8Array(10_000)
    }
    expect(await sendChunked(port, endless())).toMatchObject({ status: 413, body: expect.stringContaining('"code":8') })
    expect(await sendChunked(port, endless(), { 'content-length': '2000000' })).toMatchObject({ status: 413 })
    expect(batches).toEqual([])
    expect(await sendChunked(port, [utf8(withSpan({}))])).toMatchObject({ status: 200 })
  })

  it('a connection can be used again after a refusal in the middle of a body', async () => {
    const { port, connections } = await listen({ limits: { bodyBytes: 1_000_000 } })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const large = Array.from({ length: 19 }, () => new Uint8Array(100_000))
    const bomb = [gzipSync(new Uint8Array(20_000_000))]
    const junk = large.slice(0, 9)
    const gzip = { 'content-encoding': 'gzip' }
    for (let round = 0; round < 3; round++) {
      expect(await sendChunked(port, large, {}, agent)).toMatchObject({ status: 413 })
      expect(await sendChunked(port, bomb, gzip, agent)).toMatchObject({ status: 413 })
      expect(await sendChunked(port, junk, gzip, agent)).toMatchObject({ status: 400 })
      expect(await sendChunked(port, [utf8(withSpan({}))], {}, agent)).toMatchObject({ status: 200 })
    }
    expect(connections()).toBe(1)
    agent.destroy()
  })

  it('one connection has one request under way, however many it has sent', async () => {
    let under = 0
    let most = 0
    const { port, batches } = await listen({
      accept: async (batch) => {
        most = Math.max(most, ++under)
        await new Promise((next) => setTimeout(next, 2))
        under--
        batches.push(batch)
        return { ok: true }
      },
    })
    const body = JSON.stringify(withSpan({}))
    const one = `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const socket: Socket = connect(port, '127.0.0.1')
    let answers = 0
    socket.on('data', (chunk: Buffer) => {
      answers += chunk.toString().split('HTTP/1.1 200').length - 1
    })
    socket.write(one.repeat(20))
    while (answers < 20) await new Promise((next) => setTimeout(next, 2))
    socket.destroy()
    expect(most).toBe(1)
    expect(batches).toHaveLength(20)
  })

  it('a real Host header is checked', async () => {
    const { port, batches } = await listen()
    expect(await sendChunked(port, [utf8(withSpan({}))], { host: `rebound.example:${port}` })).toMatchObject({
      status: 403,
    })
    expect(await sendChunked(port, [utf8(withSpan({}))], { host: `localhost:${port}` })).toMatchObject({ status: 200 })
    expect(batches).toHaveLength(1)
  })

  it('a client that goes away in the middle leaves no room taken', async () => {
    const { port, batches } = await listen({ limits: { bodyBytes: 50_000, inFlightBytes: 50_000, freeBytes: 0 } })
    const head = `POST /v1/traces HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: 45000\r\n\r\n`
    for (let round = 0; round < 3; round++) {
      const socket: Socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.write(head + ' '.repeat(40_000))
      // The receiver holds the 40,000 bytes now: another 45,000 do not fit.
      const large = utf8(withSpan({ name: 'x'.repeat(45_000) }))
      while ((await sendChunked(port, [large])).status !== 429) await new Promise(setImmediate)
      const before = batches.length
      socket.destroy()
      while ((await sendChunked(port, [large])).status !== 200) await new Promise(setImmediate)
      expect(batches.length).toBe(before + 1)
    }
  })

  it('a decompression bomb is refused without being unpacked', async () => {
    const limit = 1024 * 1024
    const { port, batches } = await listen({ limits: { bodyBytes: limit, inFlightBytes: 2 * limit } })
    // 512 MiB of zeroes, about 0.5 MB on the wire.
    const gzip = createGzip()
    const packed: Buffer[] = []
    gzip.on('data', (chunk: Buffer) => packed.push(chunk))
    const zeroes = Buffer.alloc(8 * limit)
    for (let i = 0; i < 64; i++) if (!gzip.write(zeroes)) await once(gzip, 'drain')
    gzip.end()
    await once(gzip, 'end')
    const bomb = Buffer.concat(packed)
    expect(bomb.length).toBeLessThan(limit)

    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }, 1)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => sendChunked(port, [bomb], { 'content-encoding': 'gzip' })),
    )
    clearInterval(watch)
    for (const { status } of answers) expect([413, 429]).toContain(status)
    expect(answers.some(({ status }) => status === 413)).toBe(true)
    expect(most).toBeLessThan(64 * limit)
    expect(batches).toEqual([])
    expect(await sendChunked(port, [gzipSync(utf8(withSpan({})))], { 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
    })
  })
})
