// The OTLP/gRPC door over a real HTTP/2 connection, spoken to frame by frame; `accept` is a stand-in. Real exporters are in e2e/.
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ByteBudget, joined } from '../../collector/receive/otlp/body.ts'
import { type GrpcSettings, listenForGrpc } from '../../collector/receive/otlp/grpc.ts'
import { framed } from '../../collector/receive/otlp/grpc-wire.ts'
import { inspect } from '../../collector/receive/otlp/inspect.ts'
import type { AcceptResult, OtlpBatch } from '../../collector/receive/otlp/take.ts'
import { bodies, encodeRequest, bodyOf as receivedBody, typeNamed } from './otlp-support.ts'

const TRACES = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const LOGS = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'
const METRICS = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export'
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A door and a connection to it. */
async function door(settings: Partial<GrpcSettings> = {}) {
  const batches: OtlpBatch[] = []
  const codes: number[] = []
  const { port, close } = await listenForGrpc(
    { host: '127.0.0.1', port: 0 },
    {
      accept: async (batch): Promise<AcceptResult> => {
        batches.push(batch)
        return { ok: true }
      },
      inspect: async (blocks, encoding, signal) => {
        const body = joined(blocks)
        return { inspected: inspect(body, encoding, signal, ''), contents: [{ name: 'body', bytes: body, keep: true }] }
      },
      budget: new ByteBudget(1_000_000, 0),
      admit: () => null,
      onAnswer: (code) => codes.push(code),
      onFault: () => {},
      ...settings,
    },
  )
  open.push({ close })
  const dial = () => {
    const session = connect(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    open.push({ close: () => session.destroy() })
    return session
  }
  return { session: dial(), dial, batches, codes }
}

interface Answer {
  http: number
  code: number
  message: string
  details: unknown
  body: Buffer
}

function start(session: ClientHttp2Session, path: string, headers: Record<string, string> = {}): ClientHttp2Stream {
  return session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
}

function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let told: Record<string, unknown> = {}
    stream.on('response', (headers) => {
      told = { ...told, ...headers }
    })
    stream.on('trailers', (headers) => {
      told = { ...told, ...headers }
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      const details = told['grpc-status-details-bin']
      const status = typeNamed('RpcStatus')
      resolve({
        http: Number(told[':status']),
        code: Number(told['grpc-status']),
        message: decodeURIComponent(String(told['grpc-message'] ?? '')),
        details:
          details === undefined ? undefined : status.toObject(status.decode(Buffer.from(String(details), 'base64'))),
        body: Buffer.concat(chunks),
      })
    })
  })
}

function call(session: ClientHttp2Session, path: string, bytes: Uint8Array, headers: Record<string, string> = {}) {
  const stream = start(session, path, headers)
  stream.end(bytes)
  return answerOf(stream)
}

const one = encodeRequest({
  resourceSpans: [
    { scopeSpans: [{ spans: [{ traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1), name: 'x' }] }] },
  ],
})
const gzipped = (message: Uint8Array) => {
  const frame = framed(gzipSync(message))
  frame[0] = 1
  return frame
}
const OK = { http: 200, code: 0, message: '', details: undefined }

describe('what is taken', () => {
  it.each(bodies.filter(({ encoding }) => encoding === 'protobuf'))('$name, plain and gzip', async ({ body }) => {
    const { session, batches, codes } = await door()
    expect(await call(session, TRACES, framed(body))).toEqual({ ...OK, body: framed(new Uint8Array(0)) })
    expect(await call(session, TRACES, gzipped(body), { 'grpc-encoding': 'gzip' })).toMatchObject(OK)
    // A compression that is named need not be used.
    expect(await call(session, TRACES, framed(body), { 'grpc-encoding': 'gzip' })).toMatchObject(OK)
    for (const batch of batches) {
      expect(batch).toMatchObject({ signal: 'traces', encoding: 'protobuf' })
      expect(Buffer.from(receivedBody(batch)).equals(body)).toBe(true)
    }
    expect([batches.length, codes]).toEqual([3, [0, 0, 0]])
  })

  it('each signal by its own method; empty requests are a success and passed on to nobody', async () => {
    const { session, batches } = await door()
    for (const path of [TRACES, LOGS, METRICS]) {
      for (const headers of [{}, { 'content-type': 'application/grpc+proto' }])
        expect(await call(session, path, framed(new Uint8Array(0)), headers)).toMatchObject(OK)
    }
    expect(batches).toEqual([])
    const log = Uint8Array.of(0x0a, 4, 0x12, 2, 0x12, 0)
    expect(await call(session, LOGS, framed(log))).toMatchObject(OK)
    expect(batches).toMatchObject([{ signal: 'logs', count: 1 }])
  })

  it('a message that comes byte by byte', async () => {
    const { session, batches } = await door()
    const stream = start(session, TRACES)
    const answer = answerOf(stream)
    for (const byte of framed(one)) {
      stream.write(Uint8Array.of(byte))
      await new Promise(setImmediate)
    }
    stream.end()
    expect(await answer).toMatchObject(OK)
    expect(batches).toMatchObject([{ count: 1, bytes: one.length }])
  })

  it('spans that do not count are a partial success', async () => {
    const { session, batches } = await door()
    const spans = [{ traceId: Buffer.alloc(16), spanId: Buffer.alloc(8, 1), name: 'x' }]
    const { code, body } = await call(
      session,
      TRACES,
      framed(encodeRequest({ resourceSpans: [{ scopeSpans: [{ spans }] }] })),
    )
    const type = typeNamed('ExportTraceServiceResponse')
    expect([code, body[0], body.readUInt32BE(1)]).toEqual([0, 0, body.length - 5])
    expect(type.toObject(type.decode(body.subarray(5)), { longs: String })).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: 'not taken: span 0: traceId is missing or zero' },
    })
    expect(batches).toMatchObject([{ count: 0, invalid: { total: 1 } }])
  })
})

describe('what is refused', () => {
  it('for good: INVALID_ARGUMENT with the field, and no RetryInfo', async () => {
    const { session, batches } = await door()
    const short = encodeRequest({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: Buffer.alloc(3) }] }] }] })
    const answer = await call(session, TRACES, framed(short))
    expect(answer).toMatchObject({ http: 200, code: 3, message: expect.stringContaining('spans[0].traceId') })
    expect(answer.details).toEqual({ code: 3, message: answer.message })
    for (const [bytes, headers] of [
      [gzipped(one), {}],
      [Uint8Array.of(1, 0, 0, 0, 2, 1, 2), { 'grpc-encoding': 'gzip' }],
      [gzipped(one).subarray(0, 30), { 'grpc-encoding': 'gzip' }],
      [Uint8Array.of(7, 0, 0, 0, 0), {}],
      [Uint8Array.of(0, 0), {}],
      [new Uint8Array(0), {}],
      [framed(one).subarray(0, 12), {}],
      [Buffer.concat([framed(one), framed(one)]), {}],
      // More than the length says, and readable all the same.
      [Buffer.concat([framed(one), one]), {}],
    ] as const) {
      const { code, details } = await call(session, TRACES, bytes, headers)
      expect([code, details]).toEqual([3, { code: 3, message: expect.stringMatching(/./) }])
    }
    expect(batches).toEqual([])
  })

  it('another method, encoding, type or HTTP method', async () => {
    const { session } = await door()
    const profiles = '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export'
    expect(await call(session, profiles, framed(one))).toMatchObject({ http: 200, code: 12 })
    expect(await call(session, '/v1/traces', framed(one))).toMatchObject({ code: 12 })
    expect(await call(session, TRACES, framed(one), { 'grpc-encoding': 'zstd' })).toMatchObject({
      code: 12,
      message: 'unsupported grpc-encoding: zstd',
    })
    for (const type of ['application/json', 'application/grpc-web', 'application/grpc+json'])
      expect((await call(session, TRACES, framed(one), { 'content-type': type })).http).toBe(415)
    expect((await answerOf(session.request({ ':method': 'GET', ':path': TRACES }))).http).toBe(405)
  })

  it.each([
    ['token', 401, 16],
    ['page', 403, 7],
  ] as const)('without a %s', async (_what, status, code) => {
    const admit = (given: string | undefined) => (given === 'right' ? null : { status, message: 'no – 100 %' })
    const { session, batches } = await door({ admit })
    expect(await call(session, TRACES, framed(one))).toMatchObject({ code, message: 'no – 100 %' })
    expect(await call(session, TRACES, framed(one), { authorization: 'wrong' })).toMatchObject({ code })
    expect(await call(session, TRACES, framed(one), { authorization: 'right' })).toMatchObject(OK)
    expect(batches).toHaveLength(1)
  })

  it('too large, before and after decompression: RESOURCE_EXHAUSTED without RetryInfo', async () => {
    const bodyBytes = 1_000
    const { session, batches } = await door({ bodyBytes })
    const sized = (bytes: number) => {
      const name = 'x'.repeat(bytes - one.length - 8)
      const spans = [{ traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1), name: `${name}` }]
      const body = encodeRequest({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
      return Buffer.concat([
        body,
        Buffer.from([0x7a, bytes - body.length - 2, ...Buffer.alloc(bytes - body.length - 2)]),
      ])
    }
    expect(sized(1_001)).toHaveLength(1_001)
    const gzip = { 'grpc-encoding': 'gzip' }
    expect(await call(session, TRACES, framed(sized(1_000)))).toMatchObject(OK)
    expect(await call(session, TRACES, gzipped(sized(1_000)), gzip)).toMatchObject(OK)
    for (const answer of [
      await call(session, TRACES, framed(sized(1_001))),
      await call(session, TRACES, gzipped(sized(1_001)), gzip),
    ]) {
      expect([answer.code, answer.details]).toEqual([
        8,
        { code: 8, message: 'larger than 1000 bytes; send smaller batches' },
      ])
    }
    expect(batches).toHaveLength(2)
  })

  it('for now: UNAVAILABLE with RetryInfo, rounded up', async () => {
    const accept = async () => ({ ok: false as const, retryAfterSeconds: 12.2, message: 'the disk is full' })
    const { session } = await door({ accept })
    expect(await call(session, TRACES, framed(one))).toMatchObject({
      code: 14,
      message: 'the disk is full',
      details: {
        code: 14,
        message: 'the disk is full',
        details: [{ typeUrl: RETRY_INFO, value: Buffer.from([0x0a, 2, 8, 13]) }],
      },
    })
  })

  it('a fault of ours is UNAVAILABLE, told to onFault, and says nothing of it', async () => {
    const faults: unknown[] = []
    const fault = new Error('secret of the store')
    const accept = async () => {
      throw fault
    }
    const { session } = await door({ accept, onFault: (error) => faults.push(error) })
    const answer = await call(session, TRACES, framed(one))
    expect(answer).toMatchObject({ code: 14, details: { details: [{ typeUrl: RETRY_INFO }] } })
    expect(JSON.stringify(answer)).not.toContain('secret')
    expect(faults).toEqual([fault])
  })
})

describe('what one sender can hold', () => {
  it('no more room than there is for all: RESOURCE_EXHAUSTED with RetryInfo, and room again afterwards', async () => {
    const waiting: ((result: AcceptResult) => void)[] = []
    const accept = () => new Promise<AcceptResult>((resolve) => waiting.push(resolve))
    const budget = new ByteBudget(2 * one.length - 1, 0)
    const { session, dial } = await door({ accept, budget })
    const first = call(session, TRACES, framed(one))
    while (waiting.length === 0) await new Promise(setImmediate)
    // On a connection of its own: the first has its one request under way.
    expect(await call(dial(), TRACES, framed(one))).toMatchObject({
      code: 8,
      details: { details: [{ typeUrl: RETRY_INFO, value: Buffer.from([0x0a, 2, 8, 1]) }] },
    })
    waiting.shift()?.({ ok: true })
    expect(await first).toMatchObject(OK)
    const next = call(dial(), TRACES, framed(one))
    while (waiting.length === 0) await new Promise(setImmediate)
    waiting.shift()?.({ ok: true })
    expect(await next).toMatchObject(OK)
  })

  it('gives its room back whatever became of a call', async () => {
    const budget = new ByteBudget(1_000, 0)
    const { session } = await door({ budget, bodyBytes: 1_000 })
    const filler = Buffer.alloc(900, 1)
    for (let round = 0; round < 5; round++) {
      expect(await call(session, TRACES, framed(filler))).toMatchObject({ code: 3 })
      expect(await call(session, TRACES, Buffer.concat([framed(filler), Buffer.alloc(50)]))).toMatchObject({ code: 3 })
      expect(await call(session, TRACES, gzipped(Buffer.alloc(5_000)), { 'grpc-encoding': 'gzip' })).toMatchObject({
        code: 8,
      })
      const gone = start(session, TRACES)
      gone.on('error', () => {})
      gone.write(framed(filler).subarray(0, 800))
      await new Promise((next) => setTimeout(next, 5))
      gone.close(8)
    }
    await vi.waitFor(() => expect(budget.grow(0, 1_000)).toBe(true))
  })

  it('one call at a time of a connection, in the order they came', async () => {
    const order: number[] = []
    let under = 0
    const accept = async ({ bytes }: OtlpBatch): Promise<AcceptResult> => {
      under++
      expect(under).toBe(1)
      await new Promise((next) => setTimeout(next, 2))
      under--
      order.push(bytes)
      return { ok: true }
    }
    const { session } = await door({ accept })
    // Until then a client does not know how many calls it may have under way.
    await new Promise((next) => session.once('remoteSettings', next))
    const spans = (n: number) =>
      encodeRequest({
        resourceSpans: [
          {
            scopeSpans: [
              {
                spans: Array.from({ length: n }, () => ({
                  traceId: Buffer.alloc(16, 1),
                  spanId: Buffer.alloc(8, 1),
                  name: 'x',
                })),
              },
            ],
          },
        ],
      })
    const sent = Array.from({ length: 20 }, (_, i) => spans(i + 1))
    const answers = await Promise.all(sent.map((body) => call(session, TRACES, framed(body))))
    expect(answers.map(({ code }) => code)).toEqual(Array(20).fill(0))
    expect(order).toEqual(sent.map(({ length }) => length))
  })

  it('silent connections make room for new ones', async () => {
    const { dial } = await door()
    const silent = Array.from({ length: 300 }, dial)
    await Promise.all(
      silent.slice(0, 200).map((session) => new Promise((next) => session.once('remoteSettings', next))),
    )
    expect(await call(dial(), TRACES, framed(one))).toMatchObject(OK)
  })
})
