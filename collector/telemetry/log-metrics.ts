// Counters that are a fold over the log: every record counts once, at the start when the log is replayed, then as it is written. They
// survive a restart because the log does.
import { type AnyRecord, BODIES, type RecordOf, type RecordType } from '../../conventions/record.ts'
import type { Metrics } from './metrics.ts'

/** What is known of a record's run. */
export type RunOf = (id: string) => { agent: string } | undefined

export class LogMetrics {
  readonly #metrics: Metrics
  readonly #count: Count
  /** Time of the first record, milliseconds: when these counters began. */
  started = 0

  constructor(metrics: Metrics) {
    this.#metrics = metrics
    this.#count = counting(metrics)
    // Present from the start: an alert on the first of its kind needs the 0 before it.
    for (const kind of BODIES.gap.shape.kind.options) metrics.counter('spanseal.gaps').add(0, kind)
    for (const kind of BODIES.violation.shape.kind.options) metrics.counter('spanseal.violations').add(0, kind)
  }

  /** Counts a record. `runOf` knows the run it belongs to already. */
  apply(record: AnyRecord, runOf: RunOf): void {
    if (record.log.seq === 0) this.started = Date.parse(record.time)
    this.#metrics.counter('spanseal.records').add(1, record.type, record.tier)
    const agent = record.run === undefined ? undefined : runOf(record.run.id)?.agent
    this.#count[record.type]?.(record as never, agent ?? '')
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
      const { input, output, cache_read = 0, cache_write = 0 } = usage
      // The record's input has the cached in it; apart, the types add up.
      tokens.add(Math.max(0, input - cache_read - cache_write), agent, model, 'input')
      tokens.add(output, agent, model, 'output')
      tokens.add(cache_read, agent, model, 'cache_read')
      tokens.add(cache_write, agent, model, 'cache_write')
    },
    'settings.changed': ({ body }) => settings.add(1, body.decision),
    'spans.imported': ({ body }) => {
      imports.add(body.count, 'accepted')
      imports.add(body.rejected, 'rejected')
    },
    'collector.started': ({ body }) => starts.add(1, body.after),
  }
}
