// A forwarder against a real server: what arrives, in which order, and what happens when the server is not well.
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MAX_BATCH_BYTES, MAX_BATCH_ITEMS } from '../../collector/forward/batch.ts'
import { Forwarder } from '../../collector/forward/forwarder.ts'
import { traces } from '../../collector/forward/traces.ts'
import type { Span } from '../../conventions/otlp.ts'
import { type Answer, StandInBackend, startBackend, TAKEN } from './backend.ts'
import { forward, idle, logOfTurns, NOW, spansOfLog, temporaryFolder, until } from './forwarder-support.ts'
import { attributesOf, expectWholeTraces, MemoryLog, Session } from './support.ts'

const ids = (spans: Span[]) => spans.map(({ spanId }) => spanId)

test('sends the log in order as OTLP/JSON, the configured headers, and a resource that can not be overwritten', async () => {
  const backend = await startBackend()
  const log = logOfTurns(2)
  const rig = forward(log, backend.url, {
    destination: { headers: { authorization: 'Bearer for-the-test', 'Content-Type': 'text/plain' } },
    resourceAttributes: { 'deployment.environment.name': 'test', 'service.name': 'other' },
  })
  await idle(rig)
  expect(backend.taken).toEqual(spansOfLog(log))
  const [first] = backend.requests
  expect(first).toMatchObject({ method: 'POST', path: '/v1/traces' })
  expect(first?.headers).toMatchObject({
    authorization: 'Bearer for-the-test',
    'content-type': 'application/json',
  })
  const [resource] = first?.request.resourceSpans ?? []
  expect(attributesOf({ ...spansOfLog(log)[0], ...resource?.resource } as Span)).toEqual({
    'deployment.environment.name': 'test',
    'service.name': 'claude-code',
    'service.namespace': 'spanseal',
    'service.instance.id': log.id,
  })
  expect(resource?.scopeSpans?.[0]?.scope).toEqual({ name: 'spanseal', version: '0.1.0' })
  expect(rig.forwarder.status()).toMatchObject({ state: 'idle', sent: 6, next_seq: log.entries.length })
})

test('sends what is added later when told so, and each agent under its own resource', async () => {
  const backend = await startBackend()
  const log = logOfTurns(1)
  const rig = forward(log, backend.url)
  await idle(rig)
  new Session(log, 'other').open('codex').prompt().decide('x1').complete('x1').closeTurn()
  rig.forwarder.notify()
  await until(() => backend.taken.length === 6)
  const services = backend.requests
    .at(-1)
    ?.request.resourceSpans.map(({ resource }) => resource?.attributes?.find(({ key }) => key === 'service.name'))
  expect(services).toEqual([{ key: 'service.name', value: { stringValue: 'codex' } }])
})

test('a dead backend loses nothing: all arrives in order once it lives, one batch was in memory', async () => {
  const probe = await startBackend()
  const port = Number(new URL(probe.url).port)
  await probe.close()
  const log = logOfTurns(500)
  const rig = forward(log, `http://127.0.0.1:${port}`)
  await until(() => rig.clock.waits.length >= 12)
  expect(rig.forwarder.status()).toMatchObject({ state: 'retrying', reason: 'ECONNREFUSED', sent: 0 })
  expect(log.largestRead).toBeLessThan(log.entries.length / 4)
  const backend = await new StandInBackend().listen(port)
  await idle(rig)
  expect(ids(backend.taken)).toEqual(ids(spansOfLog(log)))
  expectWholeTraces(backend.taken)
  for (const { spans, size } of backend.requests) {
    expect(spans.length).toBeLessThanOrEqual(MAX_BATCH_ITEMS)
    expect(size).toBeLessThan(MAX_BATCH_BYTES * 1.1)
  }
  expect(backend.requests.length).toBeGreaterThan(3)
  expect(Math.max(...rig.clock.waits)).toBeLessThanOrEqual(60_000)
  expect(rig.lines.filter((line) => line.includes('ECONNREFUSED'))).toHaveLength(1)
})

test.each([429, 502, 503, 504])('repeats after %i, not before Retry-After', async (status) => {
  const backend = await startBackend((_received, count) =>
    count === 1 ? { status, headers: { 'retry-after': '17' } } : TAKEN,
  )
  const log = logOfTurns(1)
  const rig = forward(log, backend.url)
  await idle(rig)
  expect(rig.clock.waits).toContain(17_000)
  expect(backend.taken).toEqual(spansOfLog(log))
  expect(rig.forwarder.status()).toMatchObject({ sent: 3, retries: 1 })
})

test('reads a Retry-After that is a date, and cuts a senseless one', async () => {
  const headers = [new Date(NOW + 42_000).toUTCString(), '999999999']
  const backend = await startBackend((_received, count) => {
    const after = headers[count - 1]
    return after === undefined ? TAKEN : { status: 503, headers: { 'retry-after': after } }
  })
  const rig = forward(logOfTurns(1), backend.url)
  await idle(rig)
  expect(rig.clock.waits.slice(0, 2)).toEqual([42_000, 3_600_000])
})

test('a connection that breaks is repeated with the same bytes', async () => {
  const backend = await startBackend((_received, count) => (count === 1 ? 'destroy' : TAKEN))
  const log = logOfTurns(1)
  let asked = 0
  const rig = forward(log, backend.url, { checkpoint: () => `checkpoint ${asked++}` })
  await idle(rig)
  expect(backend.requests[1]?.request).toEqual(backend.requests[0]?.request)
})

test.each([400, 413])('%i for one span: the others arrive, that one is counted and named', async (status) => {
  const log = logOfTurns(20)
  const poisoned = ids(spansOfLog(log))[31]
  const backend = await startBackend(({ spans }) =>
    spans.some(({ spanId }) => spanId === poisoned) ? { status, body: 'secret of the backend' } : TAKEN,
  )
  const rig = forward(log, backend.url)
  await idle(rig)
  expect(ids(backend.taken)).toEqual(ids(spansOfLog(log)).filter((spanId) => spanId !== poisoned))
  expect(rig.forwarder.status()).toMatchObject({ sent: 59, quarantined: 1, next_seq: log.entries.length })
  expect(rig.lines.join('\n')).toContain(poisoned)
  expect(rig.lines.join('\n')).not.toContain('secret')
})

test('a lone span that is refused is quarantined only when an empty request is taken', async () => {
  const log = new MemoryLog()
  new Session(log).open().prompt().closeTurn()
  const backend = await startBackend(({ spans }) => (spans.length > 0 ? { status: 400 } : TAKEN))
  const rig = forward(log, backend.url)
  await idle(rig)
  expect(rig.forwarder.status()).toMatchObject({ sent: 0, quarantined: 1 })
})

test('an address that refuses everything blocks and quarantines nothing', async () => {
  const backend = await startBackend(() => ({ status: 400 }))
  const log = logOfTurns(2)
  const rig = forward(log, backend.url)
  await until(() => rig.clock.waits.length >= 3)
  expect(rig.forwarder.status()).toMatchObject({ state: 'blocked', sent: 0, quarantined: 0, next_seq: 0 })
  // Repaired between a span that was refused and the empty request that asks why, it would have refused that span alone.
  let repaired = false
  backend.answer = ({ spans }) => {
    repaired ||= spans.length > 0
    return repaired ? TAKEN : { status: 400 }
  }
  await idle(rig)
  expect(ids(backend.taken)).toEqual(ids(spansOfLog(log)))
})

test.each([401, 403, 404, 500])(
  '%i blocks with a slow retry, drops nothing, and goes on when it is repaired',
  async (status) => {
    const backend = await startBackend(() => ({ status }))
    const log = logOfTurns(1)
    const rig = forward(log, backend.url)
    await until(() => rig.clock.waits.length >= 2)
    expect(rig.clock.waits.every((ms) => ms === 60_000)).toBe(true)
    expect(rig.forwarder.status()).toMatchObject({ state: 'blocked', reason: `HTTP ${status}`, next_seq: 0 })
    backend.answer = () => TAKEN
    await idle(rig)
    expect(backend.taken).toEqual(spansOfLog(log))
    expect(rig.forwarder.status()).not.toHaveProperty('reason')
  },
)

test('a redirect is not followed: the headers go nowhere else', async () => {
  const other = await startBackend()
  const backend = await startBackend(() => ({ status: 307, headers: { location: `${other.url}/v1/traces` } }))
  const rig = forward(logOfTurns(1), backend.url, {
    destination: { headers: { authorization: 'Bearer for-the-test' } },
  })
  await until(() => rig.clock.waits.length >= 2)
  expect(rig.forwarder.status()).toMatchObject({ state: 'blocked', reason: 'HTTP 307: redirects are not followed' })
  expect(other.requests).toEqual([])
})

test('a TLS problem blocks', async () => {
  const backend = await startBackend()
  const rig = forward(logOfTurns(1), backend.url.replace('http:', 'https:'))
  await until(() => rig.clock.waits.length >= 2)
  expect(rig.forwarder.status()).toMatchObject({ state: 'blocked', next_seq: 0 })
  expect(rig.forwarder.status().reason).toMatch(/^TLS: /)
})

test('a partial success is counted and not repeated', async () => {
  const body = JSON.stringify({ partialSuccess: { rejectedSpans: '2', errorMessage: 'secret of the backend' } })
  const backend = await startBackend(() => ({ status: 200, body }))
  const rig = forward(logOfTurns(1), backend.url)
  await idle(rig)
  expect(backend.requests).toHaveLength(1)
  expect(rig.forwarder.status()).toMatchObject({ sent: 1, rejected: 2 })
  expect(rig.lines.join('\n')).toContain('2 of 3')
  expect(rig.lines.join('\n')).not.toContain('secret')
})

test('a success with a body that is no JSON, or an endless one, is a success', async () => {
  const backend = await startBackend((_received, count) => ({
    status: 200,
    body: count === 1 ? 'OK' : 'x'.repeat(1e6),
  }))
  const log = logOfTurns(1)
  const rig = forward(log, backend.url)
  await idle(rig)
  new Session(log, 'other').open().prompt().closeTurn()
  rig.forwarder.notify()
  await until(() => rig.forwarder.status().sent === 4)
  expect(backend.requests).toHaveLength(2)
})

test('stop sends what is left; a next one goes on after it', async () => {
  const backend = await startBackend()
  const log = logOfTurns(3)
  const first = forward(log, backend.url)
  await first.forwarder.stop({ drainMs: 10_000 })
  expect(first.forwarder.status()).toMatchObject({ state: 'stopped', sent: 9 })
  expect(statSync(first.stateFile).mode & 0o777).toBe(0o600)
  new Session(log, 'other').open().prompt().decide('x1').closeTurn('crash')
  const second = forward(log, backend.url, { stateFile: first.stateFile })
  await idle(second)
  expect(ids(backend.taken)).toEqual(ids(spansOfLog(log)))
  expect(second.forwarder.status()).toMatchObject({ sent: 12 })
})

test('stop gives up at once on a blocked destination, and after its time on a hanging one', async () => {
  const backend = await startBackend(() => ({ status: 401 }))
  const blocked = forward(logOfTurns(1), backend.url)
  blocked.clock.frozen = true
  await until(() => blocked.forwarder.status().state === 'blocked')
  await blocked.forwarder.stop({ drainMs: 3_600_000 })
  backend.answer = () => 'hang'
  const hanging = forward(logOfTurns(1), backend.url)
  await until(() => backend.requests.length >= 2)
  await hanging.forwarder.stop({ drainMs: 1 })
  expect(hanging.forwarder.status()).toMatchObject({ state: 'stopped', sent: 0, next_seq: 0 })
})

test('a destination that blocks while the rest is being sent ends the stop', async () => {
  let refuse: (answer: Answer) => void = () => {}
  const backend = await startBackend(() => new Promise((resolve) => (refuse = resolve)))
  const rig = forward(logOfTurns(1), backend.url)
  rig.clock.frozen = true
  await until(() => backend.requests.length === 1)
  const stopped = rig.forwarder.stop({ drainMs: 3_600_000 })
  refuse({ status: 401 })
  await stopped
  expect(rig.forwarder.status()).toMatchObject({ state: 'stopped', next_seq: 0 })
})

test('after a kill at any request nothing is lost, and a span id has one body, roots with their checkpoint included', async () => {
  const dir = temporaryFolder()
  const stateFile = join(dir, 'backend.json')
  const log = logOfTurns(500)
  let asked = 0
  const checkpoint = () => `checkpoint ${asked++}`
  const killed: string[] = []
  // What lies on disk while a request is under way is what a kill at that moment leaves.
  const backend = await startBackend((_received, count) => {
    const copy = join(dir, `killed-${count}.json`)
    try {
      copyFileSync(stateFile, copy)
      killed.push(copy)
    } catch {
      killed.push(join(dir, 'never-written.json'))
    }
    return TAKEN
  })
  await idle(forward(log, backend.url, { stateFile, checkpoint }))
  expect(killed.length).toBeGreaterThan(3)
  const bodies = new Map(backend.taken.map((span) => [span.spanId, JSON.stringify(span)]))
  expect([...bodies.keys()]).toEqual(ids(spansOfLog(log)))
  for (const [kill, file] of killed.entries()) {
    const before = backend.requests.slice(0, kill + 1).flatMap(({ spans }) => spans)
    const again = await startBackend()
    await idle(forward(log, again.url, { stateFile: file, checkpoint }))
    expect(new Set(ids([...before, ...again.taken]))).toEqual(new Set(bodies.keys()))
    const roots = before.filter(({ parentSpanId }) => parentSpanId === undefined)
    expect(roots.length).toBeGreaterThan(0)
    const first = new Map(before.map((span) => [span.spanId, JSON.stringify(span)]))
    for (const span of again.taken) expect(JSON.stringify(span)).toBe(first.get(span.spanId) ?? JSON.stringify(span))
  }
})

test('a turn with more open calls than a batch holds is cut into several, its root comes last', async () => {
  const log = new MemoryLog()
  const session = new Session(log).open().prompt()
  for (let call = 0; call < 700; call++) session.decide(`c${call}`)
  session.closeTurn('crash')
  const backend = await startBackend()
  const rig = forward(log, backend.url)
  await idle(rig)
  expectWholeTraces(backend.taken)
  expect(backend.taken).toHaveLength(1_401)
  expect(backend.taken.at(-1)?.name).toBe('invoke_agent claude-code')
  for (const { spans, size } of backend.requests) {
    expect(spans.length).toBeLessThanOrEqual(MAX_BATCH_ITEMS)
    expect(size).toBeLessThan(MAX_BATCH_BYTES * 1.1)
  }
})

test('a log that ends before the cursor halts: it was cut', async () => {
  const backend = await startBackend()
  const full = logOfTurns(3)
  const first = forward(full, backend.url)
  await idle(first)
  await first.forwarder.stop({ drainMs: 0 })
  const second = forward(logOfTurns(2), backend.url, { stateFile: first.stateFile })
  await until(() => second.forwarder.status().state === 'halted')
  expect(second.forwarder.status().reason).toContain('cut or rolled back')
})

test('another log is sent from its start', async () => {
  const backend = await startBackend()
  const first = forward(logOfTurns(3), backend.url)
  await idle(first)
  await first.forwarder.stop({ drainMs: 0 })
  const log = new MemoryLog('successor')
  new Session(log).open().prompt().closeTurn()
  const second = forward(log, backend.url, { stateFile: first.stateFile })
  await idle(second)
  expect(second.forwarder.status()).toMatchObject({ sent: 10, next_seq: 3 })
})

test('a damaged cursor file halts instead of sending everything again', async () => {
  const stateFile = join(temporaryFolder(), 'backend.json')
  writeFileSync(stateFile, '{"v":1')
  const backend = await startBackend()
  const rig = forward(logOfTurns(1), backend.url, { stateFile })
  await until(() => rig.forwarder.status().state === 'halted')
  expect(backend.requests).toEqual([])
  expect(readFileSync(stateFile, 'utf8')).toBe('{"v":1')
})

test('a cursor that can not be written holds sending back, and a log that can not be read is read again', async () => {
  const backend = await startBackend()
  const log = logOfTurns(1)
  const unwritable = forward(log, backend.url, { stateFile: join(temporaryFolder(), 'missing', 'backend.json') })
  await until(() => unwritable.clock.waits.length >= 2)
  expect(unwritable.forwarder.status()).toMatchObject({
    state: 'blocked',
    reason: "the cursor can't be written: ENOENT",
  })
  expect(backend.requests).toEqual([])
  let failures = 2
  const unreadable = forward(log, backend.url, {
    source: {
      read(from, maxBytes) {
        if (failures-- > 0) throw new Error('no such segment')
        return log.read(from, maxBytes)
      },
    },
  })
  await until(() => unreadable.forwarder.status().sent === 3)
})

test('an address with a password or a header that can not be sent is refused without repeating it', () => {
  const settings = {
    name: 'backend',
    source: new MemoryLog(),
    stateFile: 'unused',
    checkpoint: () => undefined,
    resourceAttributes: {},
    version: '0.1.0',
    log: () => {},
  }
  const attempt = (url: string, headers: Record<string, string>) => () =>
    new Forwarder({
      ...settings,
      signal: traces({ evidence: true }),
      destination: { url, protocol: 'http/json', evidence: 'attribute', content: false, headers },
    })
  expect(attempt('http://user:hunter2@127.0.0.1:1', {})).toThrow(/must not hold a password/)
  expect(attempt('http://user:hunter2@127.0.0.1:1', {})).not.toThrow(/hunter2/)
  expect(attempt('http://127.0.0.1:1', { authorization: 'hunter2\n' })).toThrow(/header authorization/)
  expect(attempt('http://127.0.0.1:1', { authorization: 'hunter2\n' })).not.toThrow(/hunter2/)
  expect(attempt('ftp://127.0.0.1:1', {})).toThrow(TypeError)
})
