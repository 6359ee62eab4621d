// The longest ids and names that are let in fit into every record: nothing accepted can fail later for its length.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { bindingOf } from '../../collector/record/approvals.ts'
import { MAX_CONSTRAINTS } from '../../conventions/constraint.ts'
import {
  MAX_ID_CHARS,
  MAX_NAME_CHARS,
  MAX_RECORD_BYTES,
  MAX_RULE_ID_CHARS,
  MAX_RULES_IN_BODY,
} from '../../conventions/limits.ts'
import type { AnyRecord } from '../../conventions/record.ts'
import { BODIES } from '../../conventions/record.ts'
import { answerBytes, changeBytes, fileApprover, softToken, type TestApprover } from '../support/approver.ts'
import { HOOK, TestPipeline } from '../support/pipeline.ts'
import { newKey } from '../verify/support.ts'

const id = (letter: string) => letter.repeat(MAX_ID_CHARS)
const name = (letter: string) => letter.repeat(MAX_NAME_CHARS)

let t: TestPipeline
beforeEach(async () => {
  t = await new TestPipeline({
    gate: (claim) => ({
      decision: (/!(deny|ask)/.exec(claim.args ?? '')?.[1] as 'deny' | 'ask' | undefined) ?? 'allow',
      rules: Array.from({ length: MAX_RULES_IN_BODY + 1 }, (_, i) => `${i}`.padEnd(MAX_RULE_ID_CHARS, 'R')),
    }),
  }).start()
})
afterEach(() => t.close())

it('fits the longest of everything into every record', async () => {
  const common = {
    agent: name('a'),
    agentVersion: name('v'),
    session: id('s'),
    turn: id('t'),
    sub: id('u'),
    subType: name('y'),
    permissionMode: name('p'),
    nativeEvent: name('e'),
    reason: name('r'),
    cwd: '/x',
    prompt: 'x',
  }
  const reporter = { ...HOOK, adapter: 'x'.repeat(40), version: '10.10.10' }
  const call = (letter: string) => ({
    ...common,
    callId: id(letter),
    tool: name('b'),
    args: '{"token":"ghp_abcdefghijklmnopqrstuvwxyz"}',
  })
  const say = (claim: Parameters<TestPipeline['claim']>[0]) => t.claim(claim, reporter)
  await say({ ...common, event: 'session.start' })
  const forbidden = Array.from(
    { length: MAX_CONSTRAINTS + 1 },
    (_, i) => `Don't install anything. Don't touch ${i}.ts.`,
  )
  await say({ ...common, event: 'prompt', prompt: forbidden.join(' ') })
  await say({ ...call('1'), event: 'tool.before', background: true })
  await say({ ...common, event: 'subagent.start' })
  await say({
    ...call('1'),
    event: 'tool.failed',
    exitCode: -2147483648,
    durationMs: Number.MAX_SAFE_INTEGER,
    result: '"ghp_abcdefghijklmnopqrstuvwxyz"',
    launched: id('l'),
  })
  await say({ ...call('2'), event: 'tool.before', args: '!ask' })
  const waiting = [...t.log.state.approvals.keys()][0] ?? ''
  expect(waiting).not.toBe('')
  const { approvers } = t.pipeline.approvals
  const token = softToken(name('n'), newKey(), { application: name('s') })
  const change = (add: TestApprover) => ({ action: 'add' as const, after: approvers.list().after, ...add.public })
  const alice = fileApprover('alice', newKey())
  expect(await approvers.change(change(alice), {})).toEqual({ ok: true })
  const added = change(token)
  expect(await approvers.change(added, { signature: alice.sign(changeBytes(added)) })).toEqual({ ok: true })
  expect(await t.pipeline.approvals.answer(waiting, 'approve')).toMatchObject({ ok: false, status: 403 })
  const binding = { ...bindingOf(t.log.state, waiting) }
  const signature = token.sign(answerBytes('approve', binding))
  expect(await t.pipeline.approvals.answer(waiting, 'approve', { signature })).toEqual({ ok: true })
  const removed = { action: 'remove' as const, after: approvers.list().after, kid: token.public.kid }
  expect(await approvers.change(removed, { break_glass: 'x'.repeat(1_000) })).toEqual({ ok: true })
  await t.pipeline.approvals.wait(waiting, HOOK, new AbortController().signal)
  await say({ ...call('2'), event: 'tool.after', args: 'other', result: '1' })
  await say({ ...call('3'), event: 'tool.before', args: '!ask' })
  await say({ ...call('4'), event: 'tool.before', args: '!deny' })
  await say({ ...call('5'), event: 'tool.reported' })
  await say({ ...call('6'), event: 'tool.before' })
  for (const event of ['compact.before', 'permission', 'settings.change', 'subagent.end', 'turn.end'] as const)
    await say({ ...common, tool: name('b'), event })
  await say({ ...call('7'), event: 'tool.before' })
  t.now += 7 * 60 * 60 * 1000
  await t.pipeline.tick()
  await say({ ...common, event: 'session.start', reason: 'resume' })
  for (const signal of ['traces', 'logs', 'metrics'] as const) {
    await t.pipeline.importItems({
      signal,
      encoding: 'protobuf',
      count: Number.MAX_SAFE_INTEGER,
      rejected: Number.MAX_SAFE_INTEGER,
      bytes: Number.MAX_SAFE_INTEGER,
      spoofed: Number.MAX_SAFE_INTEGER,
      loops: Number.MAX_SAFE_INTEGER,
      sessions: Array.from({ length: 64 }, (_, i) => `${i}`.padStart(80, 's')),
      contents: [
        { name: 'body', bytes: new Uint8Array(1), keep: false },
        { name: 'body.redacted', bytes: new Uint8Array(1), keep: true },
      ],
    })
  }
  t.now += 60 * 60 * 1000
  await t.pipeline.tick()
  await t.pipeline.suspend('collector_stop')
  expect(t.failure).toBeUndefined()
  expect(t.pipeline.counts.refused).toBe(0)

  const records = t.records()
  const sizes = new Map<string, number>()
  for (const record of records)
    sizes.set(record.type, Math.max(sizes.get(record.type) ?? 0, JSON.stringify(record).length))
  for (const [type, size] of sizes) if (type !== 'log.opened') expect(size, type).toBeLessThanOrEqual(MAX_RECORD_BYTES)
  const seen = new Set(records.map((record: AnyRecord) => record.type))
  const elsewhere = [
    'model.message',
    'transcript.mark',
    'clock.stepped',
    'collector.stopped',
    'config.loaded',
    'violation',
    'approval.expired',
    // Of a fixed size: hashes and numbers.
    'key.added',
    'key.retired',
    'key.revoked',
    'retention.set',
    'content.expired',
  ]
  expect(
    Object.keys(BODIES).filter((type) => !elsewhere.includes(type) && !seen.has(type as AnyRecord['type'])),
  ).toEqual([])
})

it('refuses what is longer, before anything of it is recorded', async () => {
  const before = t.records().length
  for (const claim of [
    { event: 'prompt', session: `${id('s')}s` },
    { event: 'prompt', turn: `${id('t')}t` },
    { event: 'tool.before', callId: `${id('c')}c`, tool: 'Bash', args: '{}' },
    { event: 'tool.before', callId: 'c', tool: `${name('b')}b`, args: '{}' },
  ] as const) {
    expect((await t.claim(claim)).kind).toBe('block')
  }
  expect(t.records().length).toBe(before)
})
