// What is counted from the log: each record once, the same after a replay, bounded whatever names the records hold.
import { afterEach, expect, it } from 'vitest'
import { type Usage, UsedTokens } from '../../collector/record/usage.ts'
import { LogMetrics } from '../../collector/telemetry/log-metrics.ts'
import { type Family, type MetricName, Metrics } from '../../collector/telemetry/metrics.ts'
import { exposition } from '../../collector/telemetry/prometheus.ts'
import type { AnyRecord } from '../../conventions/record.ts'
import { TestPipeline } from '../support/pipeline.ts'

let world: TestPipeline | undefined
afterEach(() => world?.close())

/** Values by label values, joined by blanks. */
function values(families: Family[], name: MetricName): Record<string, number> {
  const points = families.find((family) => family.name === name)?.points ?? []
  return Object.fromEntries(
    points.map((point) => [point.labels.join(' ').trim(), 'value' in point ? point.value : point.distribution.count]),
  )
}

function counted(records: AnyRecord[], agents: ReadonlyMap<string, { agent: string }>): Family[] {
  const metrics = new Metrics()
  const log = new LogMetrics(metrics)
  for (const record of records) log.apply(record, (id) => agents.get(id))
  return metrics.collect([])
}

it('counts decisions, outcomes, approvals, violations and gaps of a session', async () => {
  world = await new TestPipeline().start()
  const call = (callId: string, args: string, event: 'tool.before' | 'tool.after' = 'tool.before') =>
    world?.claim({ event, callId, tool: 'Bash', args: JSON.stringify({ command: args }), turn: 't1' })
  await call('c1', 'ls')
  await call('c1', 'ls', 'tool.after')
  await call('c2', '!deny')
  await call('c2', '!deny', 'tool.after')
  await call('c3', '!ask')
  const id = world.of('approval.requested')[0]?.body.approval ?? ''
  await world.pipeline.approvals.answer(id, 'reject')
  await call('c4', 'ls', 'tool.after')
  const families = counted(world.records(), world.log.state.runs)
  expect(values(families, 'spanseal.decisions')).toEqual({
    'claude-code Bash allow enforce': 1,
    'claude-code Bash deny enforce': 1,
    'claude-code Bash ask enforce': 1,
  })
  expect(values(families, 'spanseal.rule.matches')).toEqual({ 'T-DENY deny': 1, 'T-ASK ask': 1 })
  expect(values(families, 'spanseal.violations')).toMatchObject({
    executed_against_policy: 1,
    executed_without_approval: 0,
  })
  expect(values(families, 'spanseal.gaps')).toMatchObject({ completed_not_decided: 1, ungated_session: 0 })
  expect(values(families, 'spanseal.approvals')).toEqual({ 'reject unauthenticated': 1 })
  expect(values(families, 'spanseal.approval.wait')).toEqual({ reject: 1 })
  expect(values(families, 'spanseal.runs')).toEqual({ 'claude-code enforce T1': 1 })
  expect(values(families, 'spanseal.calls')['claude-code Bash ok']).toBe(3)
})

it('token types add up to what the record says, cached input apart', () => {
  const usage = { input: 100, output: 7, cache_read: 60, cache_write: 30 }
  const families = counted(
    [record('model.message', { kind: 'text', model: 'm', message: 'x', offset: 1, usage })],
    RUNS,
  )
  expect(values(families, 'spanseal.tokens')).toEqual({
    'claude-code m input': 10,
    'claude-code m output': 7,
    'claude-code m cache_read': 60,
    'claude-code m cache_write': 30,
  })
})

it('token types add up also with reasoning and cache for an hour', () => {
  const usage = { input: 100, output: 7, cache_read: 60, cache_write: 30, cache_write_1h: 20, reasoning: 5 }
  const message = record('model.message', { kind: 'text', model: 'm', message: 'x', offset: 1, usage })
  expect(values(counted([message], RUNS), 'spanseal.tokens')).toEqual({
    'claude-code m input': 10,
    'claude-code m output': 2,
    'claude-code m reasoning': 5,
    'claude-code m cache_read': 60,
    'claude-code m cache_write': 10,
    'claude-code m cache_write_1h': 20,
  })
})

it('cost is counted of new records only, by the length of the whole message, and no price is no cost', () => {
  const used = new UsedTokens()
  const metrics = new Metrics()
  const log = new LogMetrics(metrics)
  const say = (message: string, model: string, usage: Usage, sub?: string) => {
    used.add(RUN, message, usage)
    const body = { kind: 'text', model, message, offset: 1, usage, ...(sub === undefined ? {} : { sub }) }
    log.apply(
      record('model.message', body),
      (id) => RUNS.get(id),
      (id) => used.of(id),
    )
  }
  say('replayed', 'claude-opus-5-5', { input: 1_000_000, output: 0 })
  log.live = true
  say('m1', 'claude-opus-5-5', { input: 1_000, output: 1 })
  say('m1', 'claude-opus-5-5', { input: 0, output: 149 })
  // Above 100,000 tokens of input all of this model costs five times as much, and the later line does not repeat the input.
  say('m2', 'claude-haiku-5-5', { input: 100_001, output: 1 }, 'a1')
  say('m2', 'claude-haiku-5-5', { input: 0, output: 99 }, 'a1')
  say('m3', 'nobody-knows', { input: 5, output: 6 })
  const families = metrics.collect([])
  expect(values(families, 'spanseal.cost.usd')).toEqual({
    'claude-code claude-opus-5-5 session': expect.closeTo(0.007, 12),
    'claude-code claude-haiku-5-5 subagent': expect.closeTo(0.0500005 + 0.00025, 12),
  })
  expect(values(families, 'spanseal.tokens.unpriced')).toEqual({ 'claude-code nobody-knows': 11 })
})

const RUN = 'a'.repeat(32)
const RUNS = new Map([[RUN, { agent: 'claude-code' }]])

function record(type: AnyRecord['type'], body: object, run = RUN, seq = 1): AnyRecord {
  const envelope = { v: 1, log: { id: 'b'.repeat(32), seq, root: '' }, time: '2026-11-30T12:00:00.000Z', tier: 'T1' }
  return {
    ...envelope,
    type,
    run: { id: run, part: 0, seq: 0, prev: null },
    source: { kind: 'hook' },
    body,
  } as AnyRecord
}

it('10,000 sessions, agents, tools, rules and models leave the number of series bounded', () => {
  const metrics = new Metrics()
  const log = new LogMetrics(metrics)
  const add = (n: number) => {
    const agent = () => ({ agent: `agent${n}` })
    const run = n.toString(16).padStart(32, '0')
    const place = { turn: `turn${n}` }
    const decided = { ...place, tool: `tool${n}`, rules: [`R${n}`], rules_total: 1, enforced: true }
    log.apply(record('run.opened', { session: `s${n}`, agent: `agent${n}`, mode: 'enforce' }, run, n), agent)
    for (const decision of ['allow', 'deny']) log.apply(record('tool.decided', { ...decided, decision }, run, n), agent)
    log.apply(record('tool.completed', { ...place, tool: `tool${n}`, status: 'ok' }, run, n), agent)
    const usage = { input: 9, output: 9 }
    log.apply(record('model.message', { ...place, model: `model${n}`, usage }, run, n), agent)
    log.apply(record('turn.closed', { ...place, opened: '2026-11-30T11:59:00.000Z' }, run, n), agent)
    log.apply(record('subagent.started', place, run, n), agent)
  }
  const target = { attributes: {}, starts: { log: 0, destination: 0, process: 0 } }
  const lines = () => exposition(metrics.collect([]), target, true).split('\n').length
  for (let n = 0; n < 5_000; n++) add(n)
  const half = lines()
  for (let n = 5_000; n < 10_000; n++) add(n)
  expect(lines()).toBe(half)
  expect(half).toBeLessThan(12_000)
  const families = metrics.collect([])
  const denied = Object.entries(values(families, 'spanseal.decisions')).filter(([labels]) => labels.includes(' deny '))
  expect(denied.reduce((sum, [, count]) => sum + count, 0)).toBe(10_000)
  expect(values(families, 'spanseal.decisions')['other other deny enforce']).toBe(10_000 - 200)
  expect(values(families, 'spanseal.metrics.folded')['spanseal.decisions']).toBe(2 * (10_000 - 200))
})
