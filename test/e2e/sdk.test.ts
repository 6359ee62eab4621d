// The contract of `spanseal/sdk`, as it is built: each verb against the real collector, and each fault against each verb. The faults are
// played by a stand-in, since no collector answers like that.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyRecord } from '../../conventions/record.ts'
import type * as Sdk from '../../hooks/sdk/index.ts'
import { type Behaviour, head, reply, type StandIn, standIn } from '../hooks/support/stand-in.ts'
import { Collector } from '../support/collector.ts'

const { openRun }: typeof Sdk = await import(resolve('dist/sdk.mjs'))
const TOKEN = 'token-of-the-agent'
const LS = { call: 'c1', tool: 'Bash', arguments: { command: 'ls' }, turn: 't1' }
const PUSH = { ...LS, arguments: { command: 'git push origin main' } }
const FORCE = { ...LS, arguments: { command: 'git push --force origin main' } }

let collector: Collector
beforeAll(async () => {
  const hash = createHash('sha256').update(TOKEN).digest('hex')
  const config = `version: 1\notlp: {port: 0}\napps: [{name: app, kind: sdk, token_sha256: "${hash}"}]\n`
  collector = await new Collector({ config }).start()
})
afterAll(() => collector.remove())

const run = (session: string, target: Sdk.RunOptions['target'] = { socket: `${collector.root}/run/hook.sock` }) =>
  openRun({ agent: 'a', session, target, cwd: '/home/dev/project', deadlines: { answer: 5, wait: 20 } })
const of = (session: string): AnyRecord[] => {
  const records = collector.records()
  const opened = records.find(
    ({ type, body }) => type === 'run.opened' && 'session' in body && body.session === session,
  )
  return records.filter((record) => record.run !== undefined && record.run.id === opened?.run?.id)
}
const types = (session: string) => of(session).map(({ type }) => type)

/** The answer, which has to be the one that is expected for the test to go on. */
function as<D extends string, T extends { decision: string }>(said: T, decision: D): Extract<T, { decision: D }> {
  expect(said).toMatchObject({ decision })
  return said as Extract<T, { decision: D }>
}

describe('against the real collector', () => {
  it('an allowed call is decided and completed, under equal commitments', async () => {
    const agent = run('allowed')
    const said = as(await agent.decide(LS), 'allow')
    expect(said.receipts.some(({ record }) => JSON.parse(record).type === 'tool.decided')).toBe(true)
    expect(await agent.complete(said, { result: 'a\n' })).toMatchObject({ ok: true })
    const args = of('allowed').flatMap(({ commit }) => commit?.filter(({ n }) => n === 'args').map(({ c }) => c) ?? [])
    expect(types('allowed')).toContain('tool.completed')
    expect(args).toHaveLength(2)
    expect(args[1]).toBe(args[0])
    expect(types('allowed')).not.toContain('violation')
  })

  it('a denied call is refused, and can be neither waited for nor completed', async () => {
    const agent = run('denied')
    const said = as(await agent.decide(FORCE), 'deny')
    expect(said).toMatchObject({ by: 'collector', reason: expect.any(String) })
    expect(await agent.complete(said as never, { result: '' })).toMatchObject({ ok: false })
    expect(await agent.consume(said as never)).toMatchObject({ decision: 'deny', by: 'failure' })
    expect(await agent.complete({ decision: 'allow', call: FORCE, receipts: [] }, { result: '' })).toMatchObject({
      ok: false,
    })
    expect(types('denied')).not.toContain('tool.completed')
  })

  it.each([
    ['approve', 'allow'],
    ['reject', 'deny'],
  ])('a held call waits for the person: %s', async (answer, decision) => {
    const agent = run(answer)
    const held = as(await agent.decide(PUSH), 'hold')
    expect(await agent.complete(held as never, { result: '' })).toMatchObject({ ok: false })
    const waiting = agent.consume(held)
    expect(await agent.consume(held)).toMatchObject({ decision: 'deny', by: 'failure' })
    await collector.admin('POST', `/approvals/${held.approval}/${answer}`)
    const said = await waiting
    expect(said.decision).toBe(decision)
    expect(types(answer).includes('approval.consumed')).toBe(decision === 'allow')
    if (said.decision === 'allow') expect(await agent.complete(said, { result: '' })).toMatchObject({ ok: true })
    expect(await agent.consume(held)).toMatchObject({ decision: 'deny', by: 'failure' })
    expect(types(answer)).not.toContain('violation')
  })

  it('a held call may be asked again with its approval, once', async () => {
    const agent = run('again')
    const held = as(await agent.decide(PUSH), 'hold')
    await collector.admin('POST', `/approvals/${held.approval}/approve`)
    as(await agent.decide(PUSH, held.approval), 'allow')
    as(await agent.decide(PUSH, held.approval), 'deny')
  })

  it('what ran otherwise than decided, or failed, is said so', async () => {
    const agent = run('otherwise')
    const said = as(await agent.decide(LS), 'allow')
    await agent.complete(said, { result: '', ran: { command: 'ls -a' }, failed: true })
    expect(of('otherwise').find(({ type }) => type === 'violation')?.body).toMatchObject({
      kind: 'executed_other_arguments',
    })
    expect(of('otherwise').find(({ type }) => type === 'tool.completed')?.body).toMatchObject({ status: 'error' })
  })

  it('arguments that change after the decision are reported as they were decided', async () => {
    const agent = run('changed')
    const call = { ...LS, arguments: { command: 'ls' } }
    const said = as(await agent.decide(call), 'allow')
    call.arguments.command = 'rm x'
    expect(await agent.complete(said, { result: '' })).toMatchObject({ ok: true })
    expect(types('changed')).not.toContain('violation')
  })

  it('what is no call is recorded', async () => {
    const agent = run('observed')
    expect(await agent.observe({ event: 'session.start' })).toMatchObject({ ok: true })
    expect(await agent.observe({ event: 'prompt', turn: 't1', prompt: 'go' })).toMatchObject({ ok: true })
    expect(await agent.observe({ event: 'turn.end', turn: 't1' })).toMatchObject({ ok: true })
    expect(await agent.observe({ event: 'session.end' })).toMatchObject({ ok: true })
    expect(types('observed')).toEqual(expect.arrayContaining(['prompt.submitted', 'turn.closed', 'run.closed']))
    expect(await agent.observe({ event: 'dance' } as never)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('event'),
    })
  })

  it('over TCP the token counts', async () => {
    const url = collector.endpoint().otlp
    as(await run('tcp', { url, token: TOKEN }).decide(LS), 'allow')
    expect(of('tcp').find(({ type }) => type === 'tool.decided')?.source).toMatchObject({ kind: 'sdk', adapter: 'app' })
    const wrong = await run('tcp-wrong', { url, token: 'wrong' }).decide(LS)
    expect(wrong).toMatchObject({ decision: 'deny', by: 'failure', reason: expect.stringContaining('token') })
  })

  it('a collector that was killed refuses every verb', async () => {
    const other = await new Collector().start()
    const agent = run('killed', { socket: `${other.root}/run/hook.sock` })
    const allowed = as(await agent.decide(LS), 'allow')
    const held = as(await agent.decide({ ...PUSH, call: 'c2' }), 'hold')
    const waiting = agent.consume(held)
    await other.kill()
    expect(await waiting).toMatchObject({ decision: 'deny', by: 'failure' })
    expect(await agent.decide(LS)).toMatchObject({ decision: 'deny', by: 'failure' })
    expect(await agent.consume(held)).toMatchObject({ decision: 'deny', by: 'failure' })
    expect(await agent.complete(allowed, { result: '' })).toMatchObject({ ok: false })
    expect(await agent.observe({ event: 'session.end' })).toMatchObject({ ok: false })
    await other.remove()
  })
})

const circle: Record<string, unknown> = {}
circle.self = circle
it.each([
  ['a circle', circle],
  ['a bigint', 1n],
  ['nothing', undefined],
  ['a function', () => 1],
])('arguments that JSON can not say are refused: %s', async (_what, value) => {
  const said = await run('unsaid').decide({ ...LS, arguments: value })
  expect(said).toMatchObject({ decision: 'deny', by: 'failure', reason: expect.stringContaining('JSON') })
})

const ALLOW = '{"decision":"allow","receipts":[]}'
const HOLD = '{"decision":"hold","approval":"apr-1","reason":"ask","receipts":[]}'
const receipt = (record: string, leaf?: string) => ({
  record,
  kid: 'sha256:0',
  signature: 's',
  leaf: leaf ?? createHash('sha256').update('\0').update(record).digest('base64'),
})
const allowWith = (...receipts: unknown[]) => reply('200 OK', JSON.stringify({ decision: 'allow', receipts }))

const FAULTS: Record<string, Behaviour> = {
  'closes at once': (socket) => socket.end(),
  'breaks the connection': (socket) => socket.destroy(),
  'says nothing': () => {},
  'sends garbage': (socket) => socket.end('\x00\xff\x16\x03 garbage'),
  'cuts the answer': (socket) => socket.end(head('200 OK', ALLOW.length) + ALLOW.slice(0, -5)),
  'cuts the answer before its last line feed': (socket) => socket.end(`${head('200 OK', ALLOW.length + 1)}${ALLOW}`),
  'cuts the JSON': reply('200 OK', ALLOW.slice(0, -1)),
  'sends half of it and stops': (socket) => socket.write(head('200 OK', ALLOW.length) + ALLOW.slice(0, 9)),
  'sends nothing': reply('200 OK', ''),
  'sends no object': reply('200 OK', '["allow"]'),
  'sends an empty object': reply('200 OK', '{}'),
  'sends bytes that are no UTF-8': (socket) => {
    const body = Buffer.concat([Buffer.from(`${ALLOW.slice(0, -1)},"x":"`), Buffer.of(0xff), Buffer.from('"}')])
    socket.end(Buffer.concat([Buffer.from(head('200 OK', body.length)), body]))
  },
  'sends too much': reply('200 OK', `{"decision":"allow","receipts":[],"x":"${'x'.repeat(2 << 20)}"}`),
  'allows with status 500': reply('500 Internal Server Error', ALLOW),
  'allows with status 202': reply('202 Accepted', ALLOW),
  'allows with status 404': reply('404 Not Found', ALLOW),
  'says another word': reply('200 OK', '{"decision":"ALLOW","receipts":[]}'),
  'allows without receipts': reply('200 OK', '{"decision":"allow"}'),
  'allows with a receipt that is none': allowWith(null),
  'allows with a receipt of another leaf': allowWith(receipt('{"type":"x"}', 'A'.repeat(43))),
  'allows with a receipt that is no record': allowWith(receipt('{')),
}
/** What is wrong only for a verb that asks about a call. */
const FAULTS_OF_CALLS: Record<string, Behaviour> = {
  'decides another call': allowWith(receipt('{"type":"tool.decided","call":{"id":"c9"}}')),
  'holds without an id': reply('200 OK', '{"decision":"hold","reason":"ask","receipts":[]}'),
  'holds under a path': reply('200 OK', '{"decision":"hold","approval":"../x","reason":"ask","receipts":[]}'),
  'denies without a reason': reply('200 OK', '{"decision":"deny"}'),
}

describe('against a stand-in that plays the fault', () => {
  const dir = mkdtempSync(`${tmpdir()}/spanseal-sdk-`)
  let behave: Behaviour = reply('200 OK', ALLOW)
  let stand: StandIn
  beforeAll(async () => {
    stand = await standIn(`${dir}/hook.sock`, (socket, request) => behave(socket, request))
  })
  afterAll(async () => {
    await stand.close()
    rmSync(dir, { recursive: true })
  })

  const refusal = { decision: 'deny', by: 'failure', reason: expect.stringMatching(/./) }
  const unrecorded = { ok: false, reason: expect.stringMatching(/./) }

  it.each([...Object.entries(FAULTS), ...Object.entries(FAULTS_OF_CALLS)])('it %s', async (name, fault) => {
    const agent = openRun({
      agent: 'a',
      session: 's',
      target: { socket: `${dir}/hook.sock` },
      deadlines: { answer: 0.3, wait: 0.3 },
    })
    // Honest answers first, without which there is nothing to wait for or to complete.
    behave = reply('200 OK', ALLOW)
    const allowed = as(await agent.decide(LS), 'allow')
    behave = reply('200 OK', HOLD)
    const held = as(await agent.decide(LS), 'hold')
    behave = fault
    expect(await agent.decide(LS)).toEqual(refusal)
    expect(await agent.consume(held)).toEqual(refusal)
    if (name in FAULTS_OF_CALLS) return
    expect(await agent.complete(allowed, { result: '' })).toEqual(unrecorded)
    expect(await agent.observe({ event: 'session.end' })).toEqual(unrecorded)
  })

  it('it holds what already waited', async () => {
    const agent = run('s', { socket: `${dir}/hook.sock` })
    behave = reply('200 OK', HOLD)
    const held = as(await agent.decide(LS), 'hold')
    expect(await agent.consume(held)).toEqual(refusal)
  })

  it.each(['https://127.0.0.1:1', 'no url', 'http://127.0.0.1:1'])('nothing is at %s', async (url) => {
    const agent = run('s', { url, token: 't' })
    expect(await agent.decide(LS)).toEqual(refusal)
    expect(await agent.observe({ event: 'session.end' })).toEqual(unrecorded)
  })
})
