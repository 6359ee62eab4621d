// Which spans each kind of record gives, and what every one of them carries.
import { verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SpanFold } from '../../collector/forward/spans.ts'
import { readRegistry } from '../../conventions/generate.ts'
import { MAX_RECORD_BYTES, SHORT_RECORD_BYTES } from '../../conventions/limits.ts'
import type { Span } from '../../conventions/otlp.ts'
import { readRecordAttributes, recordAttributes } from '../../conventions/record-attribute.ts'
import { preAuthEncoding, RECORD_TYPE } from '../../conventions/signing.ts'
import { attributesOf, expectWholeTraces, id, KID, leafOf, MemoryLog, publicKey, Session } from './support.ts'

const CHECKPOINT = 'spanseal.example/log\n12\nroot\n\n— name signature\n'

function start(mode: 'enforce' | 'observe' = 'enforce'): Session {
  const session = new Session(new MemoryLog())
  session.mode = mode
  return session.open().prompt()
}

function spansOf({ log }: Session, checkpoint?: string): Span[] {
  const fold = new SpanFold()
  return log.entries.flatMap((entry) => fold.apply(entry, checkpoint))
}

const named = (spans: Span[], name: string) => spans.filter((span) => span.name === name)
const names = (spans: Span[]) => spans.map(({ name }) => name)

describe('a call', () => {
  test('that is allowed: gate at once, execute_tool at the end, root last', () => {
    const session = start().decide('c1').complete('c1').closeTurn()
    const spans = spansOf(session)
    expect(names(spans)).toEqual(['spanseal.gate', 'execute_tool Bash', 'invoke_agent claude-code'])
    expectWholeTraces(spans)
    const [gate, call, root] = spans
    expect(call?.parentSpanId).toBe(root?.spanId)
    expect(gate?.parentSpanId).toBe(call?.spanId)
    expect(call?.startTimeUnixNano).toBe(gate?.endTimeUnixNano)
    expect(call?.status).toEqual({})
    expect(attributesOf(call)).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'session.id': 'session-1',
      'gen_ai.conversation.id': 'session-1',
      'gen_ai.agent.name': 'claude-code',
      'gen_ai.agent.version': '2.1.332',
      'gen_ai.tool.name': 'Bash',
      'gen_ai.tool.call.id': 'c1',
      'spanseal.call.attempt': 1,
      'spanseal.decision': 'allow',
      'spanseal.policy_hash': id(64, 'policy'),
      'spanseal.status': 'ok',
      'spanseal.executed': true,
      'spanseal.tier': 'T1',
      'spanseal.source': 'hook',
      'spanseal.mode': 'enforce',
      'spanseal.run.id': session.runId,
      'spanseal.run.part': 0,
      'spanseal.turn.id': 't1',
      'spanseal.seq': 3,
      'spanseal.log.id': session.log.id,
    })
  })

  test('that is denied is sent at once, and never again whatever is reported later', () => {
    const session = start().decide('c1', 'deny')
    const spans = spansOf(session)
    expect(names(spans)).toEqual(['spanseal.gate', 'execute_tool Bash'])
    expect(spans[1]?.status).toEqual({ code: 2 })
    expect(attributesOf(spans[1])).toMatchObject({
      'error.type': 'policy_denied',
      'spanseal.executed': false,
      'spanseal.status': 'denied',
      'spanseal.decision': 'deny',
      'spanseal.rule_ids': ['rule.one'],
    })
    session.complete('c1').violation('c1').closeTurn()
    const all = spansOf(session)
    expectWholeTraces(all)
    expect(named(all, 'execute_tool Bash')).toHaveLength(1)
    const [violation] = named(all, 'spanseal.violation')
    expect(violation?.status).toEqual({ code: 2 })
    expect(attributesOf(violation)).toMatchObject({
      'spanseal.violation.kind': 'executed_against_policy',
      'spanseal.decision': 'deny',
      'gen_ai.tool.name': 'Bash',
    })
  })

  test('that would be denied runs when the run only observes', () => {
    const spans = spansOf(start('observe').decide('c1', 'deny').complete('c1').closeTurn())
    expectWholeTraces(spans)
    expect(attributesOf(named(spans, 'execute_tool Bash')[0])).toMatchObject({
      'spanseal.decision': 'deny',
      'spanseal.executed': true,
      'spanseal.mode': 'observe',
    })
  })

  test('that failed is an error; one without a report is unfinished, neither success nor error', () => {
    const spans = spansOf(
      start().decide('c1').complete('c1', 'error').decide('c2').complete('c2', 'unreported').closeTurn(),
    )
    expectWholeTraces(spans)
    const [failed, lost] = named(spans, 'execute_tool Bash')
    expect(failed?.status).toEqual({ code: 2 })
    expect(attributesOf(failed)).toMatchObject({ 'error.type': 'tool_error', 'spanseal.status': 'error' })
    expect(lost?.status).toEqual({})
    expect(attributesOf(lost)).toMatchObject({ 'spanseal.unfinished': true, 'spanseal.status': 'unreported' })
    expect(attributesOf(lost)).not.toHaveProperty('spanseal.executed')
  })

  test('that nobody decided starts as long before its end as the agent says', () => {
    const session = start().gap().complete('c1', 'ok', { duration_ms: 1_500 }).closeTurn()
    const spans = spansOf(session)
    expectWholeTraces(spans)
    const [call] = named(spans, 'execute_tool Bash')
    expect(BigInt(call?.endTimeUnixNano ?? 0) - BigInt(call?.startTimeUnixNano ?? 0)).toBe(1_500_000_000n)
    expect(attributesOf(call)).toMatchObject({ 'spanseal.time_source': 'agent' })
    expect(attributesOf(named(spans, 'spanseal.gap')[0])).toMatchObject({
      'spanseal.gap.kind': 'completed_not_decided',
      'spanseal.gap.count': 1,
    })
  })

  test('with an impossible duration is clamped and marked', () => {
    const spans = spansOf(start().complete('c1', 'ok', { duration_ms: Number.MAX_SAFE_INTEGER }).closeTurn())
    const [call] = named(spans, 'execute_tool Bash')
    expect(call?.startTimeUnixNano).toBe('0')
    expect(attributesOf(call)).toMatchObject({ 'spanseal.time_clamped': true })
  })
})

describe('an approval', () => {
  test('given: two short spans, then the call', () => {
    const spans = spansOf(start().decide('c1', 'ask').ask('c1').answer('c1', 'approve').complete('c1').closeTurn())
    expectWholeTraces(spans)
    expect(names(spans)).toEqual([
      'spanseal.gate',
      'spanseal.approval',
      'spanseal.approval',
      'execute_tool Bash',
      'invoke_agent claude-code',
    ])
    expect(attributesOf(spans[1])).toMatchObject({ 'spanseal.approval.id': 'apr-c1', 'spanseal.decision': 'ask' })
    expect(attributesOf(spans[2])).toMatchObject({
      'spanseal.approval.answer': 'approve',
      'spanseal.approval.authentication': 'unauthenticated',
      'gen_ai.tool.name': 'Bash',
      'spanseal.source': 'person',
    })
    expect(attributesOf(spans[3])).toMatchObject({ 'spanseal.decision': 'ask', 'spanseal.status': 'ok' })
  })

  test.each([
    ['rejected', 'approval_rejected', (session: Session) => session.answer('c1', 'reject')],
    ['expired', 'approval_expired', (session: Session) => session.expire('c1')],
  ])('%s: the call is sent as not executed, with the record that says so', (_name, errorType, end) => {
    const session = end(start().decide('c1', 'ask').ask('c1'))
    const closing = session.log.entries.at(-1)
    const spans = spansOf(session.complete('c1', 'denied').closeTurn())
    expectWholeTraces(spans)
    const [call] = named(spans, 'execute_tool Bash')
    expect(call?.status).toEqual({ code: 2 })
    expect(attributesOf(call)).toMatchObject({
      'error.type': errorType,
      'spanseal.executed': false,
      'spanseal.tier': 'T1',
      'spanseal.seq': closing?.record.log.seq,
    })
  })

  test('that was used can not end the call any more', () => {
    const session = start().decide('c1', 'ask').ask('c1').answer('c1', 'approve').expire('c1', 'abandoned')
    const spans = spansOf(session.complete('c1').closeTurn())
    expect(attributesOf(named(spans, 'execute_tool Bash')[0])).toMatchObject({ 'spanseal.status': 'ok' })
  })
})

describe('a turn', () => {
  test('carries the newest checkpoint on its root, and only one that fits', () => {
    const session = start().closeTurn()
    const [root] = spansOf(session, CHECKPOINT)
    expect(root?.parentSpanId).toBeUndefined()
    expect(attributesOf(root)).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'spanseal.turn.part': 0,
      'spanseal.checkpoint': CHECKPOINT,
    })
    expect(attributesOf(spansOf(session, 'x'.repeat(1_901))[0])).not.toHaveProperty('spanseal.checkpoint')
  })

  test('cut short takes its open calls along, and a late result lies in the next part with its decision', () => {
    const session = start().decide('c1', 'flag').say('text').closeTurn('crash')
    const spans = spansOf(session)
    expectWholeTraces(spans)
    expect(names(spans).at(-1)).toBe('invoke_agent claude-code')
    expect(attributesOf(spans.at(-1))).toMatchObject({ 'spanseal.unfinished': true })
    const [call] = named(spans, 'execute_tool Bash')
    expect(attributesOf(call)).toMatchObject({
      'error.type': 'unfinished',
      'spanseal.unfinished': true,
      'spanseal.seq': 2,
    })
    const later = spansOf(session.complete('c1').closeTurn())
    expectWholeTraces(later)
    const [, late] = named(later, 'execute_tool Bash')
    expect(late?.traceId).not.toBe(call?.traceId)
    expect(attributesOf(late)).toMatchObject({ 'spanseal.decision': 'flag', 'spanseal.status': 'ok' })
  })

  test('says when a program wrote its prompt', () => {
    const session = start().closeTurn().prompt('t2', true).closeTurn()
    const roots = spansOf(session).map(attributesOf)
    expect(roots[0]).not.toHaveProperty('spanseal.machine_prompt')
    expect(roots[1]).toMatchObject({ 'spanseal.machine_prompt': true, 'spanseal.turn.id': 't2' })
  })

  test('shows what the model said, with its tokens', () => {
    const usage = { input: 10, output: 3, cache_read: 4, cache_write: 2 }
    const spans = spansOf(start().say('reasoning', { usage }).closeTurn())
    expectWholeTraces(spans)
    expect(spans[0]?.name).toBe('chat model-x')
    expect(spans[0]?.kind).toBe(3)
    expect(attributesOf(spans[0])).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'model-x',
      'spanseal.message.kind': 'reasoning',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.cache_write.input_tokens': 2,
    })
  })
})

describe('a sub-agent', () => {
  test('in the foreground nests under the call that launched it', () => {
    const session = start().decide('c1', 'allow', { tool: 'Agent' }).startSub('s1', 'c1')
    session.decide('c2', 'allow', { sub: 's1' }).complete('c2', 'ok', { sub: 's1' }).say('text', { sub: 's1' })
    const spans = spansOf(session.endSub('s1').complete('c1', 'ok', { tool: 'Agent' }).closeTurn())
    expectWholeTraces(spans)
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    const [agent] = named(spans, 'invoke_agent Explore')
    expect(agent?.parentSpanId).toBe(named(spans, 'execute_tool Agent')[0]?.spanId)
    expect(attributesOf(agent)).toMatchObject({ 'spanseal.subagent.id': 's1', 'spanseal.subagent.type': 'Explore' })
    expect(attributesOf(named(spans, 'execute_tool Bash')[0])).toMatchObject({ 'spanseal.subagent.id': 's1' })
  })

  test('in the background is a trace of its own that outlives the turn', () => {
    const session = start().decide('c1', 'allow', { tool: 'Agent' }).startSub('s1')
    session
      .complete('c1', 'launched', { tool: 'Agent', launched: 's1' })
      .decide('c2', 'allow', { sub: 's1' })
      .closeTurn()
    expect(named(spansOf(session), 'execute_tool Bash')).toHaveLength(0)
    const spans = spansOf(session.complete('c2', 'ok', { sub: 's1' }).endSub('s1'))
    expectWholeTraces(spans)
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2)
  })

  test('cut short takes its own calls along', () => {
    const session = start().startSub('s1').decide('c1', 'allow', { sub: 's1' }).decide('c2')
    const spans = spansOf(session.endSub('s1', false))
    expect(names(spans).slice(2)).toEqual(['execute_tool Bash', 'invoke_agent Explore'])
    expectWholeTraces(spansOf(session.complete('c2').closeTurn()))
  })
})

test('a run that closes over an open call still sends it', () => {
  const session = start().decide('c1').closeTurn().close()
  expectWholeTraces(spansOf(session))
})

test('the signed record on a span verifies and is the record', () => {
  const session = start().decide('c1', 'ask').ask('c1').answer('c1', 'reject').say('text').gap().closeTurn('idle')
  for (const span of spansOf(session)) {
    const attributes = attributesOf(span)
    const parts = readRecordAttributes((key) => attributes[key])
    const entry = session.log.entries[Number(attributes['spanseal.seq'])]
    if (parts === null || entry === undefined) throw new Error('no record on the span')
    expect(parts.kid).toBe(KID)
    expect(Buffer.from(parts.record)).toEqual(Buffer.from(entry.bytes))
    expect(leafOf(parts.record)).toBe(entry.leaf)
    expect(verify(null, preAuthEncoding(RECORD_TYPE, parts.record), publicKey, parts.signature)).toBe(true)
    expect(entry.record.trace?.trace_id).toBe(span.traceId)
  }
})

test('a record travels in one attribute, a long one in numbered parts, and comes back whole or not at all', () => {
  const signature = Buffer.alloc(64, 1).toString('base64')
  const sent = (length: number) => recordAttributes({ kid: KID, signature, bytes: new Uint8Array(length) })
  expect(Object.keys(sent(SHORT_RECORD_BYTES))).toEqual(['spanseal.record'])
  expect(Object.keys(sent(MAX_RECORD_BYTES))).toEqual(['spanseal.record.1', 'spanseal.record.2', 'spanseal.record.3'])
  for (const length of [1, SHORT_RECORD_BYTES, SHORT_RECORD_BYTES + 10, MAX_RECORD_BYTES]) {
    const parts = sent(length)
    for (const part of Object.values(parts)) expect(part.length).toBeLessThanOrEqual(1_900)
    expect(readRecordAttributes((key) => parts[key])?.record).toHaveLength(length)
    const cut = Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, part.slice(0, 900)]))
    if (length > 600) expect(readRecordAttributes((key) => cut[key])?.record.length).not.toBe(length)
  }
})

test('only attributes that the registry lets out leave, and none of them is content', () => {
  const session = start().decide('c1', 'deny').decide('c2', 'ask').ask('c2').answer('c2', 'approve').complete('c2')
  session
    .say('text', { usage: { input: 1, output: 1 } })
    .startSub('s1')
    .endSub('s1')
    .gap()
    .violation('c1')
  const forwarded = readRegistry()
    .groups.filter(({ id: group }) => group.startsWith('registry.spanseal.forwarded'))
    .flatMap(({ attributes }) => attributes)
  const allowed = forwarded.filter(({ annotations }) => annotations.class !== 'content').map(({ id: key }) => key)
  const sent = spansOf(session.closeTurn(), CHECKPOINT).flatMap((span) => Object.keys(attributesOf(span)))
  expect(allowed).toEqual(expect.arrayContaining([...new Set(sent)]))
})
