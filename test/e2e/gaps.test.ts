// What is missing and what should not have been: each kind of gap and violation is produced for real, here or in the test that a row
// names, and the page that people look it up in has each.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyRecord, BODIES } from '../../conventions/record.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'

const FORCE = 'git push --force origin main'
/** The clock of a collector that was asleep: stands that far ahead, in milliseconds. */
const ASLEEP_MS = 31 * 60 * 1000

let collector: Collector
beforeAll(async () => {
  collector = await new Collector().start()
})
afterAll(() => collector.remove())

const of = (session: string): AnyRecord[] => {
  const records = collector.records()
  const opened = records.find(
    ({ type, body }) => type === 'run.opened' && 'session' in body && body.session === session,
  )
  return records.filter(({ run }) => run !== undefined && run.id === opened?.run?.id)
}
const kinds = (records: AnyRecord[], type: 'gap' | 'violation') =>
  records.flatMap((record) => (record.type === type ? [record.body.kind] : []))

const gate = async (session: string, more: object): Promise<void> => {
  const asked = { agent: 'a', session, turn: 't1', call: 'c1', tool: 'Bash', cwd: '/home/dev/project', ...more }
  expect((await collector.gate(asked)).status).toBe(200)
}

async function importSpan(attributes: Record<string, string>): Promise<void> {
  const span = {
    traceId: 'c'.repeat(32),
    spanId: 'd'.repeat(16),
    name: 'chat',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  }
  const reply = await fetch(`${collector.endpoint().otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
  })
  expect(reply.status).toBe(200)
}

/** Another process on the same home, whose clock stands `ahead` milliseconds later. */
async function restart(ahead: number): Promise<void> {
  const { root } = collector
  const clock = `${root}/clock.cjs`
  writeFileSync(clock, `const now = Date.now; Date.now = () => now() + ${ahead}\n`)
  collector = await new Collector({
    root,
    keepConfig: true,
    env: { PATH: '/usr/bin:/bin', HOME: root, NODE_OPTIONS: `--require ${clock}` },
  }).start()
}

/** Makes the kind happen in the session, or names the test that does. */
type Row = ((session: string) => Promise<void>) | string

const GAPS: Record<(typeof BODIES.gap.shape.kind.options)[number], Row> = {
  // An agent that was killed while its call ran, and then resumed.
  decided_not_completed: async (session) => {
    await collector.hook('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: 'go' }))
    await collector.hook('PreToolUse', preToolUse(session, 'c1'))
    await collector.hook('SessionStart', event(session, 'SessionStart', { source: 'resume' }))
  },
  completed_not_decided: (session) => gate(session, { event: 'tool.after', arguments: { command: 'ls' }, result: '' }),
  no_transcript: async (session) => {
    await collector.hook('PreToolUse', preToolUse(session, 'c1'))
  },
  spoofed_attributes: () => importSpan({ 'spanseal.tier': 'T1' }),
  // A batch report with a call whose own hook was never heard.
  hook_missing: async (session) => {
    const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c1', tool_response: 'done' }
    await collector.hook('PostToolBatch', event(session, 'PostToolBatch', { tool_calls: [call] }))
  },
  collector_down: async () => {
    await collector.kill()
    await restart(0)
  },
  late_activity: async (session) => {
    const closed = () => collector.records().some(({ type }) => type === 'session.closed')
    await importSpan({ 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': session })
    await collector.stop()
    await restart(ASLEEP_MS)
    while (!closed()) await sleep(50)
    await importSpan({ 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': session })
  },
  ungated_session: 'test/e2e/claude/faults/world.ts',
  otlp_port_taken: 'test/e2e/otlp.test.ts',
  heartbeat_missing: 'test/e2e/fast.test.ts',
  copy_missing: 'test/e2e/peers/jaeger.peer.ts',
  content_not_forwarded: 'test/e2e/purge.test.ts',
}

const VIOLATIONS: Record<(typeof BODIES.violation.shape.kind.options)[number], Row> = {
  executed_against_policy: async (session) => {
    await gate(session, { arguments: { command: FORCE } })
    await gate(session, { event: 'tool.after', arguments: { command: FORCE }, result: '' })
  },
  executed_without_approval: async (session) => {
    await gate(session, { arguments: { command: 'git push origin main' } })
    await gate(session, { event: 'tool.after', arguments: { command: 'git push origin main' }, result: '' })
  },
  executed_other_arguments: async (session) => {
    await gate(session, { arguments: { command: 'ls' } })
    await gate(session, { event: 'tool.after', arguments: { command: 'ls -a' }, result: '' })
  },
}

describe.each([
  ['gap', GAPS, BODIES.gap.shape.kind.options],
  ['violation', VIOLATIONS, BODIES.violation.shape.kind.options],
] as const)('each kind of %s', (type, rows: Record<string, Row>, registered: readonly string[]) => {
  it('has a row', () => expect(Object.keys(rows).sort()).toEqual([...registered].sort()))

  it.each(Object.entries(rows))('is produced: %s', async (kind, row) => {
    if (typeof row === 'string') {
      expect(existsSync(row), row).toBe(true)
      expect(readFileSync(row, 'utf8')).toContain(`'${kind}'`)
      return
    }
    const session = `s-${kind}`
    const before = collector.records().length
    expect(kinds(of(session), type)).toEqual([])
    await row(session)
    expect(kinds(collector.records().slice(before), type)).toContain(kind)
  })

  it.each(registered)('is explained: %s', (kind) => {
    expect(readFileSync('docs/evidence.md', 'utf8')).toMatch(
      new RegExp(`^\\| ${type} \`${kind}\` \\| .+ \\| .+ \\|$`, 'm'),
    )
  })
})

describe('a call that a person declined or interrupted', () => {
  it.each([
    ['the turn ends', 'Stop', {}],
    ['the next prompt comes', 'UserPromptSubmit', { prompt: 'something else', prompt_id: 'p2' }],
    ['the session ends', 'SessionEnd', { reason: 'other' }],
  ])('is completed as unreported, without a gap, when %s', async (_when, name, more) => {
    const session = `declined-${name}`
    await collector.hook('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: 'go' }))
    await collector.hook('PreToolUse', preToolUse(session, 'c1'))
    await collector.hook(name, event(session, name, more))
    const completed = of(session).filter(({ type }) => type === 'tool.completed')
    expect(completed.map(({ body }) => 'status' in body && body.status)).toEqual(['unreported'])
    // These payloads name a transcript that is not there.
    expect(kinds(of(session), 'gap')).toEqual(['no_transcript'])
    expect(kinds(of(session), 'violation')).toEqual([])
  })

  it('is in the log as what it is when its result came after all before the turn ended', async () => {
    const session = 'not-declined'
    await collector.hook('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: 'go' }))
    await collector.hook('PreToolUse', preToolUse(session, 'c1'))
    await collector.hook('PostToolUse', postToolUse(session, 'c1'))
    await collector.hook('Stop', event(session, 'Stop'))
    const completed = of(session).filter(({ type }) => type === 'tool.completed')
    expect(completed.map(({ body }) => 'status' in body && body.status)).toEqual(['ok'])
  })
})

it('leaves a log that is intact, and whose report has what was not obeyed', async () => {
  const { status, findings } = await collector.verify()
  expect(status).toBe('intact')
  expect(findings.filter(({ severity }) => severity === 'enforcement').map(({ code }) => code)).toEqual([
    'policy.ran_against_deny',
    'policy.ran_without_approval',
    'policy.other_arguments',
    'policy.ungated',
  ])
})
