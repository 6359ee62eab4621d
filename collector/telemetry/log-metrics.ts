// Counters that are a fold over the log: every record counts once, at the start when the log is replayed, then as it is written. They
// survive a restart because the log does.
import { PriceTable, type Spent } from '../../conventions/prices.ts'
import { type AnyRecord, BODIES, type RecordOf, type RecordType } from '../../conventions/record.ts'
import type { Metrics } from './metrics.ts'

/** What is known of a record's run. */
export type RunOf = (id: string) => { agent: string } | undefined

/** All that is recorded of a model's message, with the record that is counted. */
type UsedOf = (message: string) => Spent | undefined

export class LogMetrics {
  readonly #metrics: Metrics
  readonly #count: Count
  readonly #prices: PriceTable
  /**
   * Whether records are new, not replayed. Cost is counted of new ones only: with other prices than the last time, a counter over the
   * whole log could come back lower, which reads as a counter that began anew.
   */
  live = false
  /** Time of the first record, milliseconds: when these counters began. */
  started = 0

  constructor(metrics: Metrics, prices = new PriceTable()) {
    this.#metrics = metrics
    this.#prices = prices
    this.#count = counting(metrics)
    // Present from the start: an alert on the first of its kind needs the 0 before it.
    for (const kind of BODIES.gap.shape.kind.options) metrics.counter('spanseal.gaps').add(0, kind)
    for (const kind of BODIES.violation.shape.kind.options) metrics.counter('spanseal.violations').add(0, kind)
  }

  /** Counts a record. `runOf` knows the run it belongs to already, `usedOf` its message. */
  apply(record: AnyRecord, runOf: RunOf, usedOf: UsedOf = () => undefined): void {
    if (record.log.seq === 0) this.started = Date.parse(record.time)
    this.#metrics.counter('spanseal.records').add(1, record.type, record.tier)
    const agent = record.run === undefined ? undefined : runOf(record.run.id)?.agent
    this.#count[record.type]?.(record as never, agent ?? '')
    if (record.type === 'model.message' && this.live) this.#cost(record, agent ?? '', usedOf)
  }

  #cost({ body, time }: RecordOf<'model.message'>, agent: string, usedOf: UsedOf): void {
    const { model = '', usage, message, sub } = body
    if (usage === undefined) return
    const whole = usedOf(message) ?? usage
    const cost = (spent: Spent) => this.#prices.costOf(model, spent, Date.parse(time))
    const now = cost(whole)
    if (now === null) {
      this.#metrics.counter('spanseal.tokens.unpriced').add(usage.input + usage.output, agent, model)
      return
    }
    // The length of the whole input says which price is right, so it is the message that is priced.
    const before = cost(less(whole, usage)) ?? 0
    const scope = sub === undefined ? 'session' : 'subagent'
    this.#metrics.counter('spanseal.cost.usd').add(Math.max(0, now - before), agent, model, scope)
  }
}

function less(whole: Spent, part: Spent): Spent {
  const rest = (kind: keyof Spent) => Math.max(0, (whole[kind] ?? 0) - (part[kind] ?? 0))
  return {
    input: rest('input'),
    output: rest('output'),
    cache_read: rest('cache_read'),
    cache_write: rest('cache_write'),
    cache_write_1h: rest('cache_write_1h'),
  }
}

type Count = { [T in RecordType]?: (record: RecordOf<T>, agent: string) => void }

function counting(metrics: Metrics): Count {
  const decisions = metrics.counter('spanseal.decisions')
  const rules = metrics.counter('spanseal.rule.matches')
  const calls = metrics.counter('spanseal.calls')
  const violations = metrics.counter('spanseal.violations')
  const gaps = metrics.counter('spanseal.gaps')
  const approvals = metrics.counter('spanseal.approvals')
  const waits = metrics.histogram('spanseal.approval.wait')
  const runs = metrics.counter('spanseal.runs')
  const turns = metrics.histogram('spanseal.turn.duration')
  const subagents = metrics.counter('spanseal.subagents')
  const tokens = metrics.counter('spanseal.tokens')
  const settings = metrics.counter('spanseal.settings.changes')
  const imports = metrics.counter('spanseal.import.spans')
  const starts = metrics.counter('spanseal.collector.starts')
  return {
    'tool.decided': ({ body }, agent) => {
      decisions.add(1, agent, body.tool, body.decision, body.enforced ? 'enforce' : 'observe')
      for (const rule of body.rules) rules.add(1, rule, body.decision)
    },
    'tool.completed': ({ body }, agent) => calls.add(1, agent, body.tool, body.status),
    violation: ({ body }) => violations.add(1, body.kind),
    gap: ({ body }) => gaps.add(1, body.kind),
    'approval.answered': ({ body }) => {
      approvals.add(1, body.answer, body.authentication)
      waits.observe(body.waited_ms / 1000, body.answer)
    },
    'approval.expired': ({ body }) => approvals.add(1, body.reason),
    'run.opened': ({ body, tier }) => runs.add(1, body.agent, body.mode, tier),
    'turn.closed': ({ body, time }, agent) =>
      turns.observe(Math.max(0, Date.parse(time) - Date.parse(body.opened)) / 1000, agent),
    'subagent.started': (_record, agent) => subagents.add(1, agent),
    'model.message': ({ body: { model = '', usage } }, agent) => {
      if (usage === undefined) return
      const { input, output, cache_read = 0, cache_write = 0, cache_write_1h = 0, reasoning = 0 } = usage
      // In the record, input has the cached in it, output the reasoning, and so on; apart, the types add up.
      tokens.add(Math.max(0, input - cache_read - cache_write), agent, model, 'input')
      tokens.add(Math.max(0, output - reasoning), agent, model, 'output')
      tokens.add(cache_read, agent, model, 'cache_read')
      tokens.add(Math.max(0, cache_write - cache_write_1h), agent, model, 'cache_write')
      if (reasoning > 0) tokens.add(reasoning, agent, model, 'reasoning')
      if (cache_write_1h > 0) tokens.add(cache_write_1h, agent, model, 'cache_write_1h')
    },
    'settings.changed': ({ body }) => settings.add(1, body.decision),
    'spans.imported': ({ body }) => {
      imports.add(body.count, 'accepted')
      imports.add(body.rejected, 'rejected')
    },
    'collector.started': ({ body }) => starts.add(1, body.after),
  }
}
