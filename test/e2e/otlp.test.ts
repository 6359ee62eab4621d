// OTLP/HTTP as the built collector speaks it: the 41 edge requests, the rows of the conformance checklist that need a whole collector,
// and what one sender's flood does to others.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, connect, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EdgeCase, edgeCases, typeNamed, utf8, withSpan } from '../receive/otlp-support.ts'
import { Collector, preToolUse } from '../support/collector.ts'

const PROTOBUF = 'application/x-protobuf'
const JSON_TYPE = 'application/json'

interface Answer {
  status: number
  type: string
  retryAfter: string | undefined
  body: Buffer
}

let collector: Collector
beforeAll(async () => {
  collector = await new Collector().start()
})
afterAll(() => collector.remove())

function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array,
  to = collector,
  agent: Agent | false = false,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let answered = false
    const sent = request(`${to.endpoint().otlp}${path}`, { method, headers, agent }, (incoming) => {
      const chunks: Buffer[] = []
      answered = true
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          type: incoming.headers['content-type'] ?? '',
          retryAfter: incoming.headers['retry-after'],
          body: Buffer.concat(chunks),
        }),
      )
      incoming.on('error', reject)
    })
    // A refusal may come while the body is still on its way.
    sent.on('error', (error) => {
      if (!answered) reject(error)
    })
    sent.end(body)
  })
}

const post = (body: Uint8Array, headers: Record<string, string> = {}, path = '/v1/traces') =>
  send('POST', path, { 'content-type': JSON_TYPE, ...headers }, body)

function statusOf({ type, body }: Answer): { code?: number; message?: string } {
  if (type === JSON_TYPE) return JSON.parse(body.toString())
  const status = typeNamed('RpcStatus')
  return status.toObject(status.decode(body))
}

function rejectedBy({ type, body }: Answer): number {
  if (type === JSON_TYPE) return Number(JSON.parse(body.toString()).partialSuccess?.rejectedSpans ?? 0)
  const response = typeNamed('ExportTraceServiceResponse')
  return Number(response.toObject(response.decode(body), { longs: String }).partialSuccess?.rejectedSpans ?? 0)
}

/** What was decided where a case leaves it open: status, and spans that do not count. */
const DECIDED: Record<string, { status: number; rejected?: number }> = {
  'pb-zstd': { status: 400 },
  'json-enum-name': { status: 200 },
  'json-snake-case': { status: 200 },
  'trace-id-zero': { status: 200, rejected: 1 },
  'one-good-one-bad-span': { status: 200, rejected: 1 },
}

describe('the 41 requests', () => {
  it('are 41', () => expect(edgeCases).toHaveLength(41))

  it.each(edgeCases)('$id', async (edge: EdgeCase) => {
    const before = collector.records().length
    const answer = await send(edge.method, edge.path, edge.headers, Buffer.from(edge.bodyBase64, 'base64'))
    const { status, rejected = 0 } = DECIDED[edge.id] ?? { status: Number(edge.expect.status) }
    expect(answer.status).toBe(status)
    if (edge.expect.contentType !== undefined) expect(answer.type).toBe(edge.expect.contentType)
    const made = collector.records().slice(before)
    if (status !== 200) {
      expect(made).toEqual([])
      if (status !== 405 && status !== 415) expect(statusOf(answer).message).toMatch(/./)
      return
    }
    expect(rejectedBy(answer)).toBe(rejected)
    if (edge.id === 'json-empty-object' || edge.id === 'pb-empty-body') return expect(made).toEqual([])
    // Durable before the answer: the record is on disk by now.
    expect(made.filter(({ type }) => type === 'spans.imported')).toMatchObject([
      { tier: 'T3', source: { kind: 'otlp' }, body: { rejected } },
    ])
  })

  it('left a log that verifies, with each kept body', async () => {
    const { report } = { report: await collector.verify() }
    expect(report.findings).toEqual([])
  })
})

/** Rows of the conformance checklist, each with the request and what is answered. */
describe('the checklist', () => {
  const good = utf8(withSpan({}))
  const pb = Buffer.from(edgeCases.find(({ id }) => id === 'pb-plain')?.bodyBase64 ?? '', 'base64')
  const text = (answer: Answer) => answer.body.toString()

  it.each(['/v1/traces', '/v1/logs', '/v1/metrics'])('1, 2, 4, 5, 20: encodings and gzip at %s', async (path) => {
    for (const [type, body] of [
      [PROTOBUF, new Uint8Array(0)],
      [JSON_TYPE, utf8('{}')],
      ['application/json; charset=utf-8', utf8('{}')],
      ['APPLICATION/JSON', utf8('{}')],
    ] as const) {
      for (const gzip of [false, true]) {
        const headers = { 'content-type': type, ...(gzip && { 'content-encoding': 'gzip' }) }
        const answer = await post(gzip ? gzipSync(body) : body, headers, path)
        expect([answer.status, answer.type]).toEqual([200, type === PROTOBUF ? PROTOBUF : JSON_TYPE])
        expect(text(answer)).toBe(type === PROTOBUF ? '' : '{}')
      }
    }
  })

  it('3: zstd is not taken', async () => {
    expect(statusOf(await post(good, { 'content-encoding': 'zstd' }))).toEqual({
      code: 3,
      message: 'unsupported Content-Encoding: zstd',
    })
  })

  it.each(['/v1/traces', '/v1/logs', '/v1/metrics'])('6, 7, 8: type and method at %s', async (path) => {
    for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/jsonx' }]) {
      const answer = await send('POST', path, headers, good)
      expect([answer.status, answer.type, text(answer)]).toEqual([
        415,
        'text/plain',
        '415 unsupported media type, supported: [application/json, application/x-protobuf]',
      ])
    }
    for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
      const answer = await send(method, path, {}, new Uint8Array(0))
      expect([answer.status, answer.type, text(answer)]).toEqual([
        405,
        'text/plain',
        '405 method not allowed, supported: [POST]',
      ])
    }
  })

  it.each(['/v1/traces', '/v1/logs', '/v1/metrics'])('9: JSON that is no object at %s', async (path) => {
    const answer = await post(utf8('1234'), {}, path)
    expect([answer.status, answer.type, statusOf(answer).code]).toEqual([400, JSON_TYPE, 3])
  })

  it('10, 11: says gzip, is not', async () => {
    const json = await post(utf8('{"key":"value"}'), { 'content-encoding': 'gzip' })
    expect([json.status, text(json)]).toEqual([400, '{"code":3,"message":"gzip: invalid header"}'])
    const binary = await post(pb, { 'content-encoding': 'gzip', 'content-type': PROTOBUF })
    expect([binary.status, binary.type, statusOf(binary)]).toEqual([
      400,
      PROTOBUF,
      { code: 3, message: 'gzip: invalid header' },
    ])
  })

  it('12: an unknown Content-Encoding, with no Content-Type in JSON', async () => {
    const answer = await send('POST', '/v1/traces', { 'content-encoding': 'br' }, good)
    expect([answer.status, answer.type, statusOf(answer)]).toEqual([
      400,
      JSON_TYPE,
      { code: 3, message: 'unsupported Content-Encoding: br' },
    ])
  })

  it('18, 19: 64 MiB exactly, one byte over, and what unpacks to more', async () => {
    const limit = 64 * 1024 * 1024
    const filled = (length: number) => {
      const body = Buffer.alloc(length, 0x20)
      body.set(good)
      return body
    }
    expect((await post(filled(limit))).status).toBe(200)
    for (const answer of [
      await post(filled(limit + 1)),
      await post(gzipSync(filled(limit + 1), { level: 1 }), { 'content-encoding': 'gzip' }),
    ]) {
      expect([answer.status, statusOf(answer).code]).toEqual([413, 8])
    }
  })

  it('21, 22, 25, 26: what JSON may hold', async () => {
    const spanOf = (changes: object) => post(utf8(withSpan(changes)))
    expect((await spanOf({ unknown: { nested: [1] }, startTimeUnixNano: 1 })).status).toBe(200)
    expect((await spanOf({ startTimeUnixNano: '12', kind: 'SPAN_KIND_SERVER' })).status).toBe(200)
    expect((await post(utf8({ resource_spans: [] }))).status).toBe(200)
    for (const startTimeUnixNano of ['3.f14', true, -1, '-1', 1.5])
      expect(statusOf(await spanOf({ startTimeUnixNano })).message).toContain('startTimeUnixNano')
  })

  it('23: an id of another length costs the request, in every signal', async () => {
    for (const traceId of ['ab', 'z'.repeat(32)]) {
      expect((await post(utf8(withSpan({ traceId })))).status).toBe(400)
      const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ traceId }] }] }] }
      expect(statusOf(await post(utf8(logs), {}, '/v1/logs')).message).toContain('logRecords[0].traceId')
    }
  })

  it('31, 32: listens on loopback, and to no web page', async () => {
    expect(collector.endpoint().otlp).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const answer = await post(good, { origin: 'https://evil.example' })
    expect([answer.status, statusOf(answer).code]).toEqual([403, 7])
    const preflight = await send('OPTIONS', '/v1/traces', { origin: 'https://evil.example' }, new Uint8Array(0))
    expect(preflight.status).toBe(403)
  })

  it('30: what comes while it stops is either on disk or not answered 200', async () => {
    const stopping = await new Collector().start()
    const otlp = stopping.endpoint().otlp
    let taken = 0
    let going = true
    const senders = Array.from({ length: 4 }, async () => {
      while (going) {
        const response = await fetch(`${otlp}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': JSON_TYPE },
          body: JSON.stringify(withSpan({})),
        }).catch(() => null)
        if (response?.status === 200) taken++
        if (response === null) return
      }
    })
    while (taken < 20) await new Promise(setImmediate)
    await stopping.stop()
    going = false
    await Promise.all(senders)
    const imported = stopping.records().filter(({ type }) => type === 'spans.imported').length
    expect(imported).toBeGreaterThanOrEqual(taken)
    expect(stopping.records().at(-1)?.type).toBe('collector.stopped')
    await stopping.remove()
  })
})

describe('logs and metrics', () => {
  const attributes = [
    { key: 'session.id', value: { stringValue: 'otlp-1' } },
    { key: 'prompt', value: { stringValue: 'private words' } },
  ]
  // What detectors of SDKs put there beside the name.
  const resource = {
    attributes: [
      { key: 'service.name', value: { stringValue: 'agent' } },
      { key: 'host.name', value: { stringValue: 'private-host' } },
      { key: 'process.owner', value: { stringValue: 'private-owner' } },
      { key: 'process.command_args', value: { arrayValue: { values: [{ stringValue: 'private words' }] } } },
    ],
  }

  it('are recorded one request each, kept whole, and shown as receipt only', async () => {
    const before = collector.records().length
    const log = {
      timeUnixNano: '1790000000000000021',
      severityNumber: 9,
      body: { stringValue: 'private words' },
      attributes,
    }
    const logs = utf8({ resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 's' }, logRecords: [log, log] }] }] })
    expect((await post(logs, {}, '/v1/logs')).status).toBe(200)
    const point = { timeUnixNano: '1790000000000000021', asInt: '7', attributes }
    const sum = { dataPoints: [point], aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA', isMonotonic: true }
    const histogram = { dataPoints: [{ timeUnixNano: '5', count: '3', sum: 4.5, bucketCounts: ['1', '2'] }] }
    const metrics = [
      { name: 'agent.tokens', unit: '{token}', sum },
      { name: 'agent.duration', histogram },
    ]
    const body = utf8({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] })
    expect((await post(body, {}, '/v1/metrics')).status).toBe(200)

    const made = collector.records().slice(before)
    expect(made.map(({ type }) => type)).toEqual(['session.imported', 'logs.imported', 'metrics.imported'])
    expect(made[1]).toMatchObject({ tier: 'T3', body: { count: 2, sessions: 1, bytes: logs.length } })
    expect(made[2]).toMatchObject({ tier: 'T3', body: { count: 2, sessions: 1, bytes: body.length } })
    const { rows } = await collector.sql(
      `SELECT service, scope, severity, received, receipt_only, attributes::VARCHAR FROM logs WHERE service = 'agent'`,
    )
    // Two that look alike may differ in what the index does not hold.
    expect(rows).toEqual(Array(2).fill(['agent', 's', 9, 1, true, '{"session.id":"otlp-1"}']))
    const points = await collector.sql(
      `SELECT metric, kind, temporality, value, count, sum, receipt_only FROM metrics WHERE service = 'agent' ORDER BY metric`,
    )
    expect(points.rows).toEqual([
      ['agent.duration', 'histogram', 'unspecified', null, 3, 4.5, true],
      ['agent.tokens', 'sum', 'delta', 7, null, null, true],
    ])
    expect((await collector.sql('SELECT name FROM import_sessions')).rows).toContainEqual(['otlp-1'])
    await collector.sql('SELECT 1')
    const index = ['', '.wal']
      .map((end) => `${collector.root}/spanseal.duckdb${end}`)
      .filter((path) => existsSync(path))
    for (const path of index)
      for (const word of ['private words', 'private-host', 'private-owner'])
        expect(readFileSync(path, 'latin1')).not.toContain(word)
    expect((await collector.verify()).findings).toEqual([])
  })
})

describe('senders that do harm', () => {
  it('bodies that fill all the room keep neither a hook nor a small sender from its answer', async () => {
    const { port } = new URL(collector.endpoint().otlp)
    const large = Buffer.alloc(1024 * 1024, 0x20)
    large.set(utf8(withSpan({})))
    const head = `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${64 * large.length}\r\n\r\n`
    // Each sends all but the last byte of the 64 MiB it speaks of, and waits: half of all the room.
    const stuck = Array.from({ length: 2 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
    for (const socket of stuck) {
      socket.write(head)
      for (let i = 0; i < 64; i++) socket.write(i < 63 ? large : large.subarray(1))
    }
    // All of it must have been read before another large body asks for room.
    while (stuck.some(({ writableLength }) => writableLength > 0)) await new Promise((next) => setTimeout(next, 5))
    for (let i = 0; i < 20; i++) expect((await post(utf8('{}'))).status).toBe(200)
    const answer = await post(large)
    expect(answer.status).toBe(429)
    expect([answer.retryAfter, statusOf(answer).code]).toEqual(['1', 8])
    for (let i = 0; i < 5; i++) {
      expect((await collector.hook('PreToolUse', preToolUse('flood', `f${i}`))).body).toBe('spanseal/1 pass\n')
      expect((await post(utf8(withSpan({})))).status).toBe(200)
    }
    for (const socket of stuck) socket.destroy()
    while ((await post(large)).status !== 200) await new Promise(setImmediate)
  })

  it('connections that send as fast as they can keep neither a hook nor another sender from its answer', async () => {
    const body = utf8({
      resourceSpans: Array.from({ length: 200 }, () => withSpan({ name: 'x'.repeat(400) }).resourceSpans[0]),
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    let going = true
    let taken = 0
    const flood = Array.from({ length: 16 }, async () => {
      while (going) {
        const { status } = await send('POST', '/v1/traces', { 'content-type': JSON_TYPE }, body, collector, agent)
        expect(status).toBe(200)
        taken++
      }
    })
    while (taken < 32) await new Promise((next) => setTimeout(next, 5))
    const before = taken
    for (let i = 0; i < 10; i++) {
      expect((await collector.hook('PreToolUse', preToolUse('busy', `b${i}`))).body).toBe('spanseal/1 pass\n')
      expect((await post(utf8(withSpan({})))).status).toBe(200)
    }
    // Each of the others had its turns meanwhile, and no more than that: nobody waits for a whole queue of one sender.
    expect(taken - before).toBeGreaterThan(0)
    going = false
    await Promise.all(flood)
    agent.destroy()
  })

  it('requests without waiting for an answer are taken one after the other, each answered', async () => {
    const { port } = new URL(collector.endpoint().otlp)
    const body = JSON.stringify(withSpan({}))
    const one = `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const socket = connect(Number(port), '127.0.0.1')
    let answers = 0
    socket.on('data', (chunk: Buffer) => {
      answers += chunk.toString().split('HTTP/1.1 200').length - 1
    })
    socket.write(one.repeat(50))
    while (answers < 50) await new Promise((next) => setTimeout(next, 5))
    socket.destroy()
  })

  it('more connections than there may be: silent ones make room', async () => {
    const { port } = new URL(collector.endpoint().otlp)
    const silent = Array.from({ length: 400 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
    await Promise.all(silent.slice(0, 200).map((socket) => new Promise((next) => socket.once('connect', next))))
    expect((await post(utf8(withSpan({})))).status).toBe(200)
    for (const socket of silent) socket.destroy()
  })
})

describe('a port that another program has', () => {
  it('costs OTLP and nothing else, is recorded, and another port works', async () => {
    const other = createServer()
    await new Promise<void>((next) => other.listen(0, '127.0.0.1', next))
    const { port } = other.address() as AddressInfo
    const without = await new Collector({ config: `version: 1\notlp: {port: ${port}}\n` }).start()
    expect(without.endpoint().otlp).toBeNull()
    expect(without.stderr).toContain(
      `127.0.0.1 port ${port} is taken by another program: no OTLP is received; hooks are not affected`,
    )
    expect(without.stderr).toContain(`Set another otlp.port in ${without.root}/config.yaml`)
    expect((await without.hook('PreToolUse', preToolUse('taken', 'c1'))).body).toBe('spanseal/1 pass\n')
    expect(without.records().filter((record) => record.type === 'gap' && record.run === undefined)).toMatchObject([
      { source: { kind: 'collector' }, body: { kind: 'otlp_port_taken', count: 1 } },
    ])
    await without.stop()

    writeFileSync(`${without.root}/config.yaml`, 'version: 1\notlp: {port: 0}\n')
    const again = await new Collector({ root: without.root, keepConfig: true }).start()
    const headers = { 'content-type': JSON_TYPE }
    expect((await send('POST', '/v1/traces', headers, utf8(withSpan({})), again)).status).toBe(200)
    expect((await again.verify()).findings.filter(({ severity }) => severity !== 'warning')).toEqual([])
    await again.remove()
    other.close()
  })
})

describe('sessions of third parties', () => {
  const session = (id: string) => [{ key: 'session.id', value: { stringValue: id } }]

  it('the same batch three times, with a restart between, is one set in every view', async () => {
    const again = await new Collector().start()
    const at = { timeUnixNano: '1790000000000000021' }
    const spans = utf8(withSpan({ attributes: session('s') }))
    const logs = utf8({
      resourceLogs: [{ scopeLogs: [{ logRecords: [at, at].map((log) => ({ ...log, attributes: session('s') })) }] }],
    })
    const metrics = utf8({
      resourceMetrics: [
        { scopeMetrics: [{ metrics: [{ name: 'm', gauge: { dataPoints: [{ ...at, asDouble: 1.5 }] } }] }] },
      ],
    })
    for (let round = 0; round < 3; round++) {
      for (const [path, body] of [
        ['/v1/traces', spans],
        ['/v1/logs', logs],
        ['/v1/metrics', metrics],
      ] as const) {
        expect((await send('POST', path, { 'content-type': JSON_TYPE }, body, again)).status).toBe(200)
      }
      if (round === 1) {
        await again.stop()
        await again.start()
      }
    }
    const rows = async (view: string) => (await again.sql(`SELECT received, receipt_only FROM ${view}`)).rows
    expect(await rows('spans')).toEqual([[3, true]])
    expect(await rows('logs')).toEqual([
      [3, true],
      [3, true],
    ])
    expect(await rows('metrics')).toEqual([[3, true]])
    expect((await again.sql('SELECT name, part, receipt_only FROM import_sessions')).rows).toEqual([['s', 0, true]])
    expect(again.records().filter(({ type }) => type.endsWith('.imported'))).toHaveLength(10)
    await again.remove()
  })

  it('an export without a session is counted as no session data', async () => {
    const counts = async () => ((await collector.status()) as { counts?: Record<string, number> }).counts ?? {}
    const before = await counts()
    const start = collector.records().length
    await post(utf8(withSpan({})))
    await post(utf8(withSpan({ attributes: session('t') })))
    const after = await counts()
    expect([
      Number(after.imported) - Number(before.imported),
      Number(after.not_session_data) - Number(before.not_session_data),
    ]).toEqual([2, 1])
    expect(
      collector
        .records()
        .slice(start)
        .filter(({ type }) => type === 'spans.imported')
        .map(({ body }) => 'sessions' in body && body.sessions),
    ).toEqual([0, 1])
  })

  it('what this collector sent out itself is acknowledged and not recorded', async () => {
    const first = collector.records()[0]
    const own = [{ key: 'spanseal.log.id', value: { stringValue: first?.log.id } }]
    const before = collector.records().length
    expect((await post(utf8(withSpan({}, { attributes: own })))).status).toBe(200)
    expect(collector.records().length).toBe(before)
    // Beside spans of others it is in the body that was received, and in no view.
    const mixed = {
      resourceSpans: [
        ...withSpan({ name: 'mine', attributes: own }).resourceSpans,
        ...withSpan({ name: 'theirs' }).resourceSpans,
      ],
    }
    expect((await post(utf8(mixed))).status).toBe(200)
    expect(collector.records().slice(before)[0]).toMatchObject({ type: 'spans.imported', body: { count: 2, loops: 1 } })
    const { rows } = await collector.sql(`SELECT name FROM spans WHERE name IN ('mine', 'theirs')`)
    expect(rows).toEqual([['theirs']])
  })
})

describe('a port that other machines reach', () => {
  const tlsDir = new URL('../fixtures/tls/', import.meta.url).pathname
  const pem = (name: string) => readFileSync(`${tlsDir}${name}`)
  const TOKEN = 'a-token-of-the-test-0123456789'
  const body = utf8(withSpan({}))
  const tls = `cert_file: ${tlsDir}server.pem, key_file: HOME/server.key`

  /** Status of an export over TLS, or the error's code where there was no answer. */
  function sendTls(
    url: string,
    options: { cert?: Buffer; key?: Buffer; token?: string } = {},
  ): Promise<number | string> {
    const { cert, key, token } = options
    const headers = { 'content-type': JSON_TYPE, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    return new Promise((resolve) => {
      const credentials = { ca: pem('ca.pem'), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) }
      const sent = httpsRequest(
        `${url}/v1/traces`,
        { method: 'POST', agent: false, headers, ...credentials },
        (incoming) => {
          incoming.resume()
          incoming.on('end', () => resolve(incoming.statusCode ?? 0))
        },
      )
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      sent.end(body)
    })
  }

  /** What only this user may read, in the home. */
  function secrets({ root }: Collector): void {
    writeFileSync(`${root}/token`, `${TOKEN}\n`, { mode: 0o600 })
    writeFileSync(`${root}/server.key`, pem('server.key'), { mode: 0o600 })
  }

  async function open(otlp: string): Promise<{ opened: Collector; url: string }> {
    const opened = new Collector({ config: `version: 1\notlp: {host: 0.0.0.0, port: 0, ${otlp}}\n` })
    secrets(opened)
    writeFileSync(
      `${opened.root}/config.yaml`,
      readFileSync(`${opened.root}/config.yaml`, 'utf8').replaceAll('HOME', opened.root),
    )
    await opened.start()
    return { opened, url: opened.endpoint().otlp.replace('0.0.0.0', 'localhost') }
  }

  it.each([
    ['nothing', 'port: 0'],
    ['a token without TLS', 'port: 0, token_file: /nowhere'],
    ['TLS without anything to know a sender by', `port: 0, tls: {${tls.replace('HOME', '/nowhere')}}`],
  ])('is not opened with %s', async (_what, otlp) => {
    const refused = new Collector({ config: `version: 1\notlp: {host: 0.0.0.0, ${otlp}}\n` })
    await expect(refused.start()).rejects.toThrow(
      /otlp\.host 0\.0\.0\.0 is reached from other machines, so it needs otlp\.tls and/,
    )
    await refused.remove()
  })

  it('says which file is missing or holds no token', async () => {
    for (const [otlp, message] of [
      [
        `tls: {cert_file: /nowhere/cert, key_file: /nowhere/key}, token_file: HOME/words`,
        /holds no token of 16 to 1024/,
      ],
      [
        `tls: {cert_file: /nowhere/cert, key_file: /nowhere/key, client_ca_file: ${tlsDir}ca.pem}`,
        /otlp\.tls\.cert_file \/nowhere\/cert can't be read \(ENOENT\)/,
      ],
      [`tls: {cert_file: cert, key_file: /nowhere/key}`, /otlp\.tls\.cert_file: must be an absolute path/],
    ] as const) {
      const refused = new Collector()
      writeFileSync(`${refused.root}/words`, pem('ca.pem'), { mode: 0o600 })
      const config = `version: 1\notlp: {host: 0.0.0.0, port: 0, ${otlp.replace('HOME', refused.root)}}\n`
      writeFileSync(`${refused.root}/config.yaml`, config)
      await expect(refused.start()).rejects.toThrow(message)
      await refused.remove()
    }
  })

  it.each([
    ['server.key', 'otlp.tls.key_file'],
    ['token', 'otlp.token_file'],
  ])('is not opened while others could read %s', async (name, field) => {
    const refused = new Collector()
    const { root } = refused
    secrets(refused)
    const otlp = `tls: {${tls}}, token_file: HOME/token`.replaceAll('HOME', root)
    writeFileSync(`${root}/config.yaml`, `version: 1\notlp: {host: 0.0.0.0, port: 0, ${otlp}}\n`)
    for (const mode of [0o644, 0o640, 0o602]) {
      chmodSync(`${root}/${name}`, mode)
      await expect(refused.start()).rejects.toThrow(
        `${field} ${root}/${name} has mode ${mode.toString(8)}, so others could read or change it. Run: chmod 600 '${root}/${name}'`,
      )
    }
    chmodSync(`${root}/${name}`, 0o600)
    await refused.start()
    await refused.remove()
  })

  it('takes who shows the token over TLS, and nobody else', async () => {
    const { opened, url } = await open(`tls: {${tls}}, token_file: HOME/token`)
    expect(url).toMatch(/^https:/)
    expect(await sendTls(url, { token: TOKEN })).toBe(200)
    expect(await sendTls(url, { token: `${TOKEN}x` })).toBe(401)
    expect(await sendTls(url)).toBe(401)
    expect(await fetch(url.replace('https', 'http')).catch(() => 'refused')).toBe('refused')
    expect(opened.records().filter(({ type }) => type === 'spans.imported')).toHaveLength(1)
    expect(readFileSync(`${opened.root}/log/00000000.seg`, 'latin1')).not.toContain(TOKEN)
    await opened.remove()
  })

  it('takes who has a certificate of the named authority, and nobody else', async () => {
    const { opened, url } = await open(`tls: {${tls}, client_ca_file: ${tlsDir}ca.pem}`)
    expect(await sendTls(url, { cert: pem('client.pem'), key: pem('client.key') })).toBe(200)
    expect(await sendTls(url, { cert: pem('stranger.pem'), key: pem('stranger.key') })).not.toBe(200)
    expect(await sendTls(url, { token: TOKEN })).not.toBe(200)
    expect(opened.records().filter(({ type }) => type === 'spans.imported')).toHaveLength(1)
    await opened.remove()
  })
})
