// What must not happen whatever a sender, a clock or an order of events does: no call runs on another call's answer, no record is made
// twice or contradicts another, and no request brings the collector down.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Claim } from '../../conventions/claim.ts'
import type { RecordType } from '../../conventions/record.ts'
import { BODIES, ENVELOPE } from '../../conventions/record.ts'
import { HOOK, requestOf, TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
beforeEach(async () => {
  t = await new TestPipeline().start()
})
afterEach(() => t.close())

const of = <T extends RecordType>(type: T) => t.of(type)
const OBSERVING = { ...HOOK, mode: 'observe', failMode: 'open' } as const
const call = (args: string, more: Partial<Claim> = {}, reporter = HOOK as typeof HOOK | typeof OBSERVING) =>
  t.claim({ event: 'tool.before', turn: 'p1', callId: 'c1', tool: 'Bash', args, cwd: '/p', ...more }, reporter)
const done = (args: string, more: Partial<Claim> = {}) =>
  t.claim({ event: 'tool.after', turn: 'p1', callId: 'c1', tool: 'Bash', args, result: '1', ...more })
const holdOf = async (args: string, more: Partial<Claim> = {}) => {
  const answer = await call(args, more)
  if (answer.kind !== 'hold') throw new Error(`expected a hold, got ${answer.kind}`)
  return answer.approval
}
const never = new AbortController().signal

describe('an approval', () => {
  it('for one attempt opens no other attempt of the same call id', async () => {
    const id = await holdOf('{"a":"!ask"}')
    expect((await call('{"b":"!deny"}')).kind).toBe('block')
    expect(of('approval.expired')[0]?.body).toMatchObject({ approval: id, reason: 'superseded' })
    expect((await t.pipeline.approvals.answer(id, 'approve')).ok).toBe(false)
    expect((await call('{"b":"!deny"}')).kind).toBe('block')
    expect((await t.pipeline.approvals.wait(id, HOOK, never))?.kind).toBe('block')
  })

  it('that was never used ends with the collector, and lets nothing through afterwards', async () => {
    const id = await holdOf('!ask')
    await t.pipeline.approvals.answer(id, 'approve')
    await t.reopen()
    expect(of('approval.expired')[0]?.body.reason).toBe('restart')
    expect(await t.pipeline.approvals.wait(id, HOOK, never)).toBeNull()
    expect(of('approval.consumed')).toEqual([])
    expect((await call('!ask')).kind).not.toBe('pass')
  })

  it('left behind by a request during a clean stop is ended at the next start', async () => {
    await t.pipeline.suspend('collector_stop')
    await holdOf('!ask')
    t.log.writer.append({ type: 'collector.stopped', source: { kind: 'collector' }, body: { reason: 'command' } })
    await t.log.writer.durable()
    await t.reopen()
    expect(of('approval.expired').map(({ body }) => body.reason)).toEqual(['restart'])
    expect(t.log.state.approvals.size).toBe(0)
  })

  it('is not given and not used after it has expired, whatever the timers did meanwhile', async () => {
    const late = await holdOf('!ask')
    t.now += 20 * 60_000
    expect((await t.pipeline.approvals.answer(late, 'approve')).ok).toBe(false)
    const used = await holdOf('!ask', { callId: 'c2' })
    await t.pipeline.approvals.answer(used, 'approve')
    t.now += 20 * 60_000
    const waiting = t.pipeline.approvals.wait(used, HOOK, never)
    t.pipeline.approvals.settle()
    expect((await waiting)?.kind).toBe('block')
    expect(of('approval.consumed')).toEqual([])
    expect(of('approval.expired').map(({ body }) => body.reason)).toEqual(['timeout', 'timeout'])
  })

  it('ends with its turn, and tells who waits', async () => {
    const id = await holdOf('!ask')
    const waiting = t.pipeline.approvals.wait(id, HOOK, never)
    await t.claim({ event: 'prompt', turn: 'p2', prompt: 'next' })
    expect((await waiting)?.kind).toBe('block')
    expect(of('approval.expired')[0]?.body.reason).toBe('ended')
    expect(t.log.state.approvals.size).toBe(0)
  })
})

describe('a twin', () => {
  it('of an observing hook says nothing to an enforcing one', async () => {
    expect((await call('!deny', {}, OBSERVING)).kind).toBe('pass')
    expect((await call('!deny')).kind).toBe('block')
    expect((await call('!ask', { callId: 'c2' }, OBSERVING)).kind).toBe('pass')
    expect((await call('!ask', { callId: 'c2' })).kind).toBe('hold')
  })

  it('is the same tool in the same place, not only the same id and arguments', async () => {
    await call('{"x":1}', { tool: 'Harmless' })
    await call('{"x":1}')
    await call('{"x":1}', { cwd: '/elsewhere' })
    expect(of('tool.decided').map(({ call: ref, body }) => [ref?.attempt, body.tool])).toEqual([
      [1, 'Harmless'],
      [2, 'Bash'],
      [3, 'Bash'],
    ])
  })
})

it('one request asks about one call', async () => {
  const request = requestOf({
    event: 'tool.before',
    agent: 'a',
    session: 's',
    callId: 'c1',
    tool: 'Bash',
    args: '!deny',
  })
  const second = requestOf({ event: 'tool.before', agent: 'a', session: 's', callId: 'c2', tool: 'Bash', args: '!ask' })
  const { answer } = await t.pipeline.claims(
    { resourceSpans: [...request.resourceSpans, ...second.resourceSpans] },
    HOOK,
  )
  expect(answer.kind).toBe('block')
  expect(t.story()).toEqual([])
})

describe('the records', () => {
  it('number attempts through a whole run part, not from 1 in each turn', async () => {
    await call('{"a":1}')
    await done('{"a":1}')
    await t.claim({ event: 'turn.end', turn: 'p1' })
    await call('{"a":2}')
    expect(of('tool.decided').map(({ call: ref }) => ref?.attempt)).toEqual([1, 2])
  })

  it('hold one completion for a call whose decision was missed, also when the batch reports it again', async () => {
    await done('{}')
    await t.claim({ event: 'tool.reported', turn: 'p1', callId: 'c1', tool: 'Bash', args: '{}', result: '1' })
    expect(of('tool.completed')).toHaveLength(1)
    expect(of('gap')).toHaveLength(1)
  })

  it.each(['collector_stop', 'crash'] as const)(
    'know a denied call after a %s: that it ran is a violation',
    async (reason) => {
      await call('!deny')
      await t.pipeline.suspend(reason)
      await done('!deny')
      expect(of('violation')[0]?.body.kind).toBe('executed_against_policy')
      expect(of('gap')).toEqual([])
    },
  )

  it('say once that the clock stepped back, not before each record until it has caught up', async () => {
    await call('{}')
    t.now -= 3_600_000
    for (let i = 0; i < 5; i++) await call('{}', { callId: `x${i}` })
    expect(of('clock.stepped')).toHaveLength(1)
  })

  it('open one run part however often a resume is announced', async () => {
    const path = join(t.home.root, 'S1.jsonl')
    for (const uuid of ['u1', 'u2']) {
      writeFileSync(
        path,
        `${JSON.stringify({ type: 'assistant', uuid, message: { id: uuid, content: [{ type: 'text', text: 'x' }] } })}\n`,
        { flag: 'a' },
      )
      await t.claim({ event: 'session.start', reason: 'resume', transcript: path })
    }
    expect(of('run.opened')).toHaveLength(1)
  })

  it('put what comes after a turn’s end into a trace of its own, not into an unfinished second part', async () => {
    const path = join(t.home.root, 'S1.jsonl')
    await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one', transcript: path })
    await t.claim({ event: 'turn.end', turn: 'p1', transcript: path })
    writeFileSync(
      path,
      `${JSON.stringify({ type: 'assistant', uuid: 'u1', message: { id: 'm1', content: [{ type: 'text', text: 'late' }] } })}\n`,
    )
    await t.claim({ event: 'prompt', turn: 'p2', prompt: 'two', transcript: path })
    expect(of('turn.closed')).toHaveLength(1)
    expect(of('model.message')[0]?.trace?.parent).toBeUndefined()
  })

  it('all fit their schemas', async () => {
    await call('{"a":"!ask"}')
    await done('{"b":1}', { durationMs: 3, exitCode: 0 })
    expect((await done('{}', { durationMs: -5, callId: 'c7' })).kind).toBe('block')
    await t.claim({ event: 'session.end' })
    for (const record of t.records()) {
      expect(ENVELOPE.safeParse(record).error, record.type).toBeUndefined()
      expect(BODIES[record.type].safeParse(record.body).error, record.type).toBeUndefined()
    }
  })
})

describe('the project folder', () => {
  it('is the same before and after a restart, even when its name looks like a secret', async () => {
    const project = '/home/dev/token=abcdef123456'
    await call('{}', { cwd: project })
    const before = [...t.log.state.runs.values()][0]?.project
    await t.reopen()
    expect(before).toBe(project)
    expect([...t.log.state.runs.values()][0]?.project).toBe(project)
  })
})

describe('the process', () => {
  it('outlives facts with half a character in them', async () => {
    await t.close()
    t = await new TestPipeline({
      gate: () => ({ decision: 'allow', rules: [], facts: { words: ['-\ud83c', { '\udf0d': 'x' }] } }),
    }).start()
    expect((await call('{}')).kind).toBe('pass')
    expect(t.failure).toBeUndefined()
  })

  it('outlives a gate that throws: that call is refused, the next one is not', async () => {
    await t.close()
    let broken = true
    t = await new TestPipeline({
      gate: () => {
        if (broken) throw new TypeError('a bug')
        return { decision: 'allow', rules: [] }
      },
    }).start()
    expect((await call('{}')).kind).toBe('block')
    broken = false
    expect((await call('{}')).kind).toBe('pass')
    expect(t.failure).toBeUndefined()
    expect(t.faults).toHaveLength(1)
  })

  it('outlives a checkpoint that can not be kept, and answers', async () => {
    mkdirSync(`${t.home.checkpoint}.new`)
    await call('{}')
    expect((await t.claim({ event: 'session.end' })).kind).toBe('pass')
    expect(t.failure).toBeUndefined()
    expect(t.faults.length).toBeGreaterThan(0)
  })
})
