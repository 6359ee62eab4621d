// Runs and turns: opened once, closed once, continued in parts; the live state is the same after a replay of the log.
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RecordType } from '../../conventions/record.ts'
import { TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
beforeEach(async () => {
  t = await new TestPipeline().start()
})
afterEach(() => t.close())

const of = <T extends RecordType>(type: T) => t.of(type)
const call = (callId: string, more = {}) =>
  t.claim({ event: 'tool.before', callId, tool: 'Bash', args: '{}', turn: 'p1', ...more })

it('opens a run at the first event, whatever it is, and chains its records', async () => {
  await call('c1')
  await t.claim({ event: 'session.start', reason: 'startup' })
  expect(of('run.opened')).toHaveLength(1)
  const run = t.story().filter((record) => record.run !== undefined)
  expect(run.map((record) => record.run?.seq)).toEqual(run.map((_, i) => i))
  expect(run[0]?.run?.prev).toBeNull()
  expect(run[1]?.run?.prev).not.toBeNull()
})

it('ends a turn once, however often the agent says so', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'hello' })
  for (let i = 0; i < 13; i++) await t.claim({ event: 'turn.end', turn: 'p1' })
  expect(of('turn.closed')).toHaveLength(1)
})

it('records a prompt once when its hook fires twice, and marks machine prompts', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'hello' })
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'hello' })
  await t.claim({ event: 'prompt', turn: 'p2', prompt: '<task-notification>done', machine: true })
  expect(of('prompt.submitted').map(({ body }) => body.machine)).toEqual([false, true])
})

it('closes an interrupted turn at the next prompt, its open call as unreported', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one' })
  await call('c1')
  await t.claim({ event: 'prompt', turn: 'p2', prompt: 'two' })
  expect(of('turn.closed')[0]?.body).toMatchObject({ turn: 'p1', reason: 'prompt', finished: false })
  expect(of('tool.completed')[0]?.body.status).toBe('unreported')
})

it('counts turns itself where the agent names none', async () => {
  await t.claim({ event: 'prompt', prompt: 'one' })
  await call('c1', { turn: undefined })
  await t.claim({ event: 'turn.end' })
  await t.claim({ event: 'prompt', prompt: 'two' })
  expect(of('prompt.submitted').map(({ body }) => body.turn)).toEqual(['t1', 't2'])
  expect(of('tool.decided')[0]?.body.turn).toBe('t1')
})

it('continues a closed turn as its next part, in a trace of its own', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one' })
  await t.claim({ event: 'turn.end', turn: 'p1' })
  await call('c1')
  await t.claim({ event: 'turn.end', turn: 'p1' })
  const [first, second] = of('turn.closed')
  expect([first?.body.part, second?.body.part]).toEqual([0, 1])
  expect(first?.trace?.trace_id).not.toBe(second?.trace?.trace_id)
})

it('opens the next part of a run after its end, and at a resume without an end', async () => {
  await call('c1')
  await t.claim({ event: 'session.end', reason: 'other' })
  await t.claim({ event: 'session.start', reason: 'resume' })
  await call('c2')
  await t.claim({ event: 'session.start', reason: 'resume' })
  expect(of('run.opened').map(({ body, run }) => [run?.part, body.reason, body.previous, body.ordinal])).toEqual([
    [0, 'first_event', undefined, 0],
    [1, 'resume', 0, 1],
    [2, 'resume', 1, 2],
  ])
  expect(of('run.closed').map(({ body }) => body.reason)).toEqual(['session_end', 'resumed'])
})

it('says how many records a closed run has', async () => {
  await call('c1')
  await t.claim({ event: 'session.end' })
  const closed = of('run.closed')[0]
  expect(closed?.body.records).toBe((closed?.run?.seq ?? 0) + 1)
})

it('nests a foreground sub-agent and gives a background one its own trace', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one' })
  await call('fg', { tool: 'Agent', background: false })
  await t.claim({ event: 'subagent.start', turn: 'p1', sub: 'a1', subType: 'general-purpose' })
  await call('inner', { sub: 'a1' })
  await t.claim({ event: 'subagent.end', turn: 'p1', sub: 'a1' })
  await call('bg', { tool: 'Agent', background: true })
  await t.claim({ event: 'subagent.start', turn: 'p1', sub: 'a2' })
  await call('inner2', { sub: 'a2' })
  await t.claim({ event: 'turn.end', turn: 'p1' })
  await t.claim({ event: 'subagent.end', turn: 'p1', sub: 'a2' })
  const [foreground, background] = of('subagent.started')
  const decisions = new Map(of('tool.decided').map((record) => [record.call?.id, record]))
  expect(foreground?.trace?.parent).toBe(decisions.get('fg')?.trace?.parent)
  expect(decisions.get('inner')?.body.span_parent).toBe(foreground?.trace?.span_id)
  expect(background?.trace?.parent).toBeUndefined()
  expect(background?.trace?.trace_id).not.toBe(foreground?.trace?.trace_id)
  expect(decisions.get('inner2')?.trace?.trace_id).toBe(background?.trace?.trace_id)
  expect(of('subagent.ended').map(({ body }) => body.finished)).toEqual([true, true])
  expect(of('turn.closed')).toHaveLength(1)
})

it('knows a background sub-agent whose launch completed before it started', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one' })
  await call('bg', { tool: 'Agent', background: true })
  const launch = { callId: 'bg', tool: 'Agent', args: '{}', result: '{}', launched: 'a1', background: true }
  await t.claim({ event: 'tool.after', turn: 'p1', ...launch })
  await call('fg', { tool: 'Agent', background: false })
  await t.claim({ event: 'subagent.start', turn: 'p1', sub: 'a1' })
  await call('inner', { sub: 'a1' })
  await t.claim({ event: 'turn.end', turn: 'p1' })
  await t.claim({
    event: 'tool.after',
    turn: 'p1',
    sub: 'a1',
    callId: 'inner',
    tool: 'Bash',
    args: '{}',
    result: '"x"',
  })
  const [started] = of('subagent.started')
  expect(started?.call?.id).toBe('bg')
  expect(started?.body.background).toBe(true)
  expect(started?.trace?.parent).toBeUndefined()
  const inner = of('tool.completed').filter((record) => record.call?.id === 'inner')
  expect(inner.map(({ body }) => body.status)).toEqual(['ok'])
  expect(of('gap')).toEqual([])
})

it('names no launching call where several could be it: a signed guess would be a false statement', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one' })
  await call('left', { tool: 'Agent', background: false })
  await call('right', { tool: 'Agent', background: false })
  // The second one is quicker.
  await t.claim({ event: 'subagent.start', turn: 'p1', sub: 'r' })
  await t.claim({ event: 'subagent.start', turn: 'p1', sub: 'l' })
  await call('inner', { sub: 'r' })
  for (const [callId, launched] of [['right', 'r'] as const, ['left', 'l'] as const]) {
    await t.claim({ event: 'subagent.end', turn: 'p1', sub: launched })
    await t.claim({ event: 'tool.after', turn: 'p1', callId, tool: 'Agent', args: '{}', result: '{}', launched })
  }
  const started = of('subagent.started')
  expect(started.map((record) => record.call)).toEqual([undefined, undefined])
  const [left] = of('tool.decided')
  expect(started.map(({ trace }) => trace?.parent)).toEqual([left?.body.span_parent, left?.body.span_parent])
  expect(of('tool.decided')[2]?.body.span_parent).toBe(started[0]?.trace?.span_id)
  const agents = of('tool.completed').filter(({ body }) => body.tool === 'Agent')
  expect(agents.map((record) => [record.call?.id, record.body.launched])).toEqual([
    ['right', 'r'],
    ['left', 'l'],
  ])
})

it('sends every root out when the collector stops or crashes, and leaves the runs open', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one' })
  await call('c1')
  await t.reopen()
  expect(of('turn.closed')[0]?.body).toMatchObject({ reason: 'crash', finished: false })
  expect(of('gap').map(({ body }) => body.kind)).toEqual(['collector_down'])
  await t.claim({ event: 'tool.after', turn: 'p1', callId: 'c1', tool: 'Bash', args: '{}', result: '"late"' })
  const done = of('tool.completed')[0]
  expect(done?.body.status).toBe('ok')
  expect(done?.trace?.trace_id).not.toBe(of('turn.closed')[0]?.trace?.trace_id)
  expect(of('run.opened')).toHaveLength(1)
})

it('has the same live state after a replay as before it', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one', cwd: '/home/dev/project' })
  await call('c1')
  await call('c2', { args: '!ask' })
  await t.claim({ event: 'subagent.start', turn: 'p1', sub: 'a1' })
  const live = t.snapshot()
  await t.log.close()
  const again = new TestPipeline({ root: t.home.root })
  expect(again.snapshot()).toBe(live)
  await again.log.close()
})

it('refuses nothing because of order: events of a session in any order are all recorded', async () => {
  for (const event of [
    'session.end',
    'turn.end',
    'subagent.end',
    'compact.after',
    'prompt',
    'session.start',
  ] as const) {
    expect(await t.claim({ event, session: 'S9', turn: 'p9', sub: 'a9', prompt: 'x' })).toEqual({ kind: 'pass' })
  }
})
