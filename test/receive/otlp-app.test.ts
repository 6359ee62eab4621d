import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type OtlpSettings, otlpApp } from '../../collector/receive/otlp/app.ts'
import type { AcceptResult, OtlpBatch } from '../../collector/receive/otlp/take.ts'
import { MAX_OTLP_BYTES } from '../../conventions/limits.ts'
import {
  bodies,
  type EdgeCase,
  edgeCases,
  listedSpans,
  readSpans,
  bodyOf as receivedBody,
  typeNamed,
  utf8,
  withSpan,
} from './otlp-support.ts'

const PROTOBUF = 'application/x-protobuf'
const JSON_TYPE = 'application/json'

/** A receiver whose `accept` is a stand-in that keeps what it is given. */
function receiver(settings: Partial<OtlpSettings> = {}) {
  const batches: OtlpBatch[] = []
  const accept = async (batch: OtlpBatch): Promise<AcceptResult> => {
    batches.push(batch)
    return { ok: true }
  }
  return { app: otlpApp({ accept, ...settings }), batches }
}

function post(
  app: ReturnType<typeof otlpApp>,
  body: Uint8Array,
  headers: Record<string, string> = {},
  path = '/v1/traces',
) {
  return app.request(path, {
    method: 'POST',
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: Buffer.from(body),
  })
}

/** The google.rpc.Status of an answer, in the encoding it says it has. */
async function statusOf(response: Response): Promise<unknown> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (response.headers.get('content-type') === JSON_TYPE) return JSON.parse(new TextDecoder().decode(bytes))
  expect(response.headers.get('content-type')).toBe(PROTOBUF)
  const type = typeNamed('RpcStatus')
  return type.toObject(type.decode(bytes))
}

async function partialSuccessOf(response: Response): Promise<Record<string, unknown> | undefined> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (response.headers.get('content-type') === JSON_TYPE)
    return JSON.parse(new TextDecoder().decode(bytes)).partialSuccess
  const type = typeNamed('ExportTraceServiceResponse')
  return type.toObject(type.decode(bytes), { longs: String }).partialSuccess
}

/** What was decided where a case leaves it open, and how many spans the batch must hold where it is not one. */
const DECIDED: Record<string, { status?: number; spans?: number; rejected?: number }> = {
  'pb-zstd': { status: 400 },
  'json-enum-name': { status: 200 },
  'json-snake-case': { status: 200 },
  'trace-id-zero': { status: 200, spans: 0, rejected: 1 },
  'one-good-one-bad-span': { status: 200, rejected: 1 },
  'duplicate-span-in-batch': { spans: 2 },
}
const EMPTY = ['json-empty-object', 'pb-empty-body']

function ask(app: ReturnType<typeof otlpApp>, edge: EdgeCase) {
  const body = Buffer.from(edge.bodyBase64, 'base64')
  return app.request(edge.path, { method: edge.method, headers: edge.headers, ...(edge.method !== 'GET' && { body }) })
}

describe('the 41 requests', () => {
  it('are 41', () => expect(edgeCases).toHaveLength(41))

  it.each(edgeCases)('$id', async (edge) => {
    const { app, batches } = receiver()
    const response = await ask(app, edge)
    const decided = DECIDED[edge.id] ?? {}
    const status = decided.status ?? edge.expect.status
    expect(response.status).toBe(status)
    if (edge.expect.contentType !== undefined)
      expect(response.headers.get('content-type')).toBe(edge.expect.contentType)
    if (status !== 200) {
      expect(batches).toEqual([])
      if (status === 415 || status === 405) return
      const code = edge.expect.grpcCode ?? { 400: 3, 404: 12, 413: 8 }[Number(status)]
      expect(await statusOf(response)).toEqual({ code, message: expect.stringMatching(/./) })
      return
    }
    const partial = await partialSuccessOf(response)
    const rejected = decided.rejected ?? 0
    if (rejected === 0) expect(partial).toBeUndefined()
    else
      expect(partial).toEqual({
        rejectedSpans: String(rejected),
        errorMessage: expect.stringMatching(/Id is missing or zero$/),
      })
    if (EMPTY.includes(edge.id)) {
      expect(batches).toEqual([])
      return
    }
    expect(batches).toHaveLength(1)
    expect(batches[0]).toMatchObject({ count: decided.spans ?? 1, invalid: { total: rejected }, spoofed: 0 })
  })

  it('hold what their notes ask of the content', async () => {
    const spanOf = async (id: string) => {
      const { app, batches } = receiver()
      const edge = edgeCases.find((one) => one.id === id)
      if (edge === undefined) throw new Error(id)
      await ask(app, edge)
      const [batch] = batches
      if (batch === undefined) throw new Error(`${id} was not taken`)
      return readSpans(receivedBody(batch), batch.encoding)[0]
    }
    for (const id of ['pb-plain', 'pb-gzip', 'json-plain']) {
      const span = await spanOf(id)
      expect(span).toMatchObject({ start_ns: '1790000000000000021', attributes: { n: '9007199254740993' } })
    }
    expect(await spanOf('json-int64-number')).toMatchObject({ start_ns: '1790000000000000021', attributes: { n: 42 } })
    expect(await spanOf('json-hex-upper')).toMatchObject({ trace_id: '5b8efff798038103d269b633813fc60c' })
    expect(await spanOf('json-enum-name')).toMatchObject({ kind: 2 })
    expect(await spanOf('json-snake-case')).toMatchObject({ span_id: 'eee19b7ec3c1b174', name: 'x' })
    expect(Object.keys((await spanOf('proto-pollution-json'))?.attributes ?? {})).toEqual(['__proto__', 'constructor'])
  })
})

describe('plain answers', () => {
  it('405 and 415 read like the Collector’s', async () => {
    const { app } = receiver()
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await app.request('/v1/traces', { method })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('POST')
      expect(await response.text()).toBe('405 method not allowed, supported: [POST]')
    }
    const response = await post(app, utf8('{}'), { 'content-type': 'application/jsonx' })
    expect(response.status).toBe(415)
    expect(await response.text()).toBe(
      '415 unsupported media type, supported: [application/json, application/x-protobuf]',
    )
  })

  it.each(['/v1development/profiles', '/v1/trace', '/'])('%s says what is taken', async (path) => {
    const { app } = receiver()
    const asJson = await post(app, utf8('{}'), {}, path)
    expect(asJson.status).toBe(404)
    expect(await statusOf(asJson)).toEqual({
      code: 12,
      message: expect.stringContaining('takes traces, logs and metrics'),
    })
    expect(await statusOf(await post(app, utf8(''), { 'content-type': PROTOBUF }, path))).toMatchObject({ code: 12 })
  })

  it('an unknown compression is named', async () => {
    const { app } = receiver()
    const response = await post(app, utf8('{}'), { 'content-encoding': 'br' })
    expect(await statusOf(response)).toEqual({ code: 3, message: 'unsupported Content-Encoding: br' })
  })
})

describe('what is passed on', () => {
  it.each(bodies)('$name: whole, with its counts and services', async ({ name, encoding, body }) => {
    const { app, batches } = receiver()
    const type = encoding === 'json' ? JSON_TYPE : PROTOBUF
    for (const headers of [{}, { 'content-encoding': 'identity' }, { 'content-encoding': 'GZIP' }]) {
      const sent = 'content-encoding' in headers && headers['content-encoding'] === 'GZIP' ? gzipSync(body) : body
      const response = await post(app, sent, { 'content-type': type, ...headers })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe(encoding === 'json' ? '{}' : '')
      const batch = batches.pop()
      expect(batch).toMatchObject({ encoding, count: listedSpans[name]?.length, invalid: { total: 0 }, spoofed: 0 })
      expect(Buffer.from(receivedBody(batch)).equals(body)).toBe(true)
    }
  })

  it('reserved attributes are counted; the body stays as it came', async () => {
    const { app, batches } = receiver()
    const reserved = { key: 'spanseal.tier', value: { stringValue: 'T1' } }
    const sessions = ['b', 'a', 'b'].map((name) => ({
      attributes: [{ key: 'session.id', value: { stringValue: name } }],
    }))
    const body = utf8({
      resourceSpans: sessions.flatMap((resource) => withSpan({ attributes: [reserved] }, resource).resourceSpans),
    })
    expect((await post(app, body)).status).toBe(200)
    expect(batches).toMatchObject([
      { signal: 'traces', encoding: 'json', count: 3, spoofed: 3, loops: 0, sessions: ['b', 'a'], bytes: body.length },
    ])
    expect(Buffer.from(receivedBody(batches[0])).equals(body)).toBe(true)
  })

  it('an answer names few of many invalid spans and counts all', async () => {
    const { app, batches } = receiver()
    const spans = Array.from({ length: 10_000 }, () => ({ name: 'x' }))
    const response = await post(app, utf8({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))
    expect(response.status).toBe(200)
    const partial = await partialSuccessOf(response)
    expect(partial?.rejectedSpans).toBe('10000')
    expect(partial?.errorMessage).toMatch(/^not taken: span 0: .*; and 9995 more$/)
    expect(batches).toMatchObject([{ count: 0, invalid: { total: 10_000 } }])
  })
})

describe('accept', () => {
  const body = utf8(withSpan({}))

  it('is waited for before the answer', async () => {
    let makeDurable = (_: AcceptResult) => {}
    const accept = () => new Promise<AcceptResult>((resolve) => (makeDurable = resolve))
    const { app } = receiver({ accept })
    let answered = false
    const response = Promise.resolve(post(app, body)).finally(() => (answered = true))
    // Everything that could still be pending before accept has long run after this many turns of the event loop.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
    expect(answered).toBe(false)
    makeDurable({ ok: true })
    expect((await response).status).toBe(200)
  })

  it('that refuses is answered 503 with its message and Retry-After, in both encodings', async () => {
    const accept = async () => ({ ok: false as const, retryAfterSeconds: 12.2, message: 'the disk is full' })
    const { app } = receiver({ accept })
    const pb = bodies.find(({ encoding }) => encoding === 'protobuf')?.body ?? new Uint8Array(0)
    for (const response of [await post(app, body), await post(app, pb, { 'content-type': PROTOBUF })]) {
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('13')
      expect(await statusOf(response)).toEqual({ code: 14, message: 'the disk is full' })
    }
  })

  it('no Retry-After with what may not be sent again', async () => {
    const { app } = receiver()
    const asked = [
      [400, await post(app, utf8('1234'))],
      [403, await post(app, body, { host: 'evil.example' })],
      [404, await post(app, body, {}, '/v1/trace')],
      [413, await post(receiver({ limits: { bodyBytes: 10 } }).app, body)],
      [415, await post(app, body, { 'content-type': 'text/plain' })],
    ] as const
    for (const [status, answer] of asked)
      expect([answer.status, answer.headers.has('retry-after')]).toEqual([status, false])
  })

  it('that throws is told to onFault and answered 503, never 500', async () => {
    const faults: unknown[] = []
    const fault = new Error('secret of the store')
    const accept = async () => {
      throw fault
    }
    const { app } = receiver({ accept, onFault: (error) => faults.push(error) })
    const response = await post(app, body)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(JSON.stringify(await statusOf(response))).not.toContain('secret')
    expect(faults).toEqual([fault])
  })
})

describe('who may send', () => {
  const body = utf8(withSpan({}))

  it.each(['localhost', 'LOCALHOST:4318', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:4318'])(
    'Host %s',
    async (host) => {
      expect((await post(receiver().app, body, { host })).status).toBe(200)
      expect((await post(receiver().app, body, { host, origin: `http://${host}` })).status).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'localhost.evil.example:4318',
    '127.0.0.1.nip.io',
    '127.0.0.2',
    'localhost:4318@evil',
    '0.0.0.0',
    '',
  ])('not Host "%s"', async (host) => {
    const { app, batches } = receiver()
    const response = await post(app, body, { host })
    expect(response.status).toBe(403)
    expect(await statusOf(response)).toMatchObject({ code: 7 })
    expect(batches).toEqual([])
  })

  it.each(['https://evil.example', 'null', 'http://localhost:3000', 'https://localhost:4318', ''])(
    'not Origin "%s"',
    async (origin) => {
      const { app, batches } = receiver()
      for (const path of ['/v1/traces', '/v1/logs', '/']) {
        expect((await post(app, body, { host: 'localhost:4318', origin }, path)).status).toBe(403)
      }
      expect(batches).toEqual([])
    },
  )
})

describe('size', () => {
  const bodyOf = (bytes: number) => {
    const filler = bytes - JSON.stringify(withSpan({ name: '' })).length
    return utf8(withSpan({ name: 'x'.repeat(filler) }))
  }

  it('defaults to 64 MiB', () => expect(MAX_OTLP_BYTES).toBe(67_108_864))

  it('is exact before and after decompression', async () => {
    const limits = { bodyBytes: 1_000 }
    for (const [bytes, status] of [
      [1_000, 200],
      [1_001, 413],
    ] as const) {
      const body = bodyOf(bytes)
      expect(body.length).toBe(bytes)
      const { app } = receiver({ limits })
      expect((await post(app, body)).status).toBe(status)
      expect((await post(app, gzipSync(body), { 'content-encoding': 'gzip' })).status).toBe(status)
    }
    // Empty gzip members: over the limit on the wire, nothing once unpacked.
    const wire = Buffer.concat(Array.from({ length: 60 }, () => gzipSync('')))
    expect(wire.length).toBeGreaterThan(1_000)
    const empty = { 'content-type': PROTOBUF, 'content-encoding': 'gzip' }
    expect((await post(receiver({ limits }).app, wire, empty)).status).toBe(413)
    expect((await post(receiver().app, wire, empty)).status).toBe(200)
  })

  it('too many values is 413 as well', async () => {
    const response = await post(receiver().app, utf8(`{"a":[${'0,'.repeat(4_000_000)}0]}`))
    expect(response.status).toBe(413)
    expect(await statusOf(response)).toMatchObject({ code: 8 })
  })

  it('over all requests is bounded: 429 with Retry-After, and room again afterwards', async () => {
    const waiting: ((result: AcceptResult) => void)[] = []
    const accept = () => new Promise<AcceptResult>((resolve) => waiting.push(resolve))
    const { app } = receiver({ accept, limits: { bodyBytes: 1_000, inFlightBytes: 1_500, freeBytes: 0 } })
    const first = post(app, bodyOf(1_000))
    while (waiting.length === 0) await new Promise(setImmediate)
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      const sent = 'content-encoding' in headers ? gzipSync(bodyOf(1_000)) : bodyOf(1_000)
      const refused = await post(app, sent, headers)
      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await statusOf(refused)).toMatchObject({ code: 8 })
    }
    waiting.shift()?.({ ok: true })
    expect((await first).status).toBe(200)
    const second = post(app, bodyOf(1_000))
    while (waiting.length === 0) await new Promise(setImmediate)
    waiting.shift()?.({ ok: true })
    expect((await second).status).toBe(200)
  })

  it('gives its room back whatever became of a request', async () => {
    const accept = async (): Promise<AcceptResult> => {
      throw new Error('fault')
    }
    const limits = { bodyBytes: 1_000, inFlightBytes: 1_000, freeBytes: 0 }
    const { app } = receiver({ accept, limits, onFault: () => {} })
    const gzip = { 'content-encoding': 'gzip' }
    for (let round = 0; round < 5; round++) {
      expect((await post(app, bodyOf(1_000))).status).toBe(503)
      expect((await post(app, bodyOf(1_001), {}, '/v1/traces')).status).toBe(413)
      expect((await post(app, gzipSync(bodyOf(5_000)), gzip)).status).toBe(413)
      expect((await post(app, gzipSync(bodyOf(900)).subarray(0, 60), gzip)).status).toBe(400)
      expect((await post(app, utf8('x'.repeat(1_000)))).status).toBe(400)
    }
    expect((await post(app, bodyOf(1_000))).status).toBe(503)
  })
})
