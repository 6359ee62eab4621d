// The first records of a collector's life: what it found, what it closes after a crash, which policy is in force.
import type { Gate } from './gate-wiring.ts'
import type { OpenLog } from './open-log.ts'
import type { Pipeline } from './pipeline.ts'
import { COLLECTOR } from './record/context.ts'

export interface StartOptions {
  log: OpenLog
  pipeline: Pipeline
  gate: Gate
  version: string
}

/** Records the start; durable when it resolves. */
export async function recordStart({ log, pipeline, gate, version }: StartOptions): Promise<void> {
  const { writer, state, cut } = log
  const crashed = state.running
  const isNew = writer.durableSize === 0
  if (crashed) await pipeline.suspend('crash')
  // A request that came while the last collector was stopping may have left one behind.
  else await pipeline.approvals.endAll()
  writer.append({
    type: 'collector.started',
    source: COLLECTOR,
    body: { version, after: isNew ? 'new' : crashed ? 'crash' : 'stop', ...(cut === 0 ? {} : { cut }) },
  })
  if (crashed) writer.append({ type: 'gap', source: COLLECTOR, body: { kind: 'collector_down', count: 1 } })
  if (state.policyHash !== gate.policyHash) {
    writer.append({
      type: 'policy.loaded',
      source: COLLECTOR,
      body: { policy_hash: gate.policyHash, origin: gate.origin, rules: gate.rules },
    })
  }
  await writer.durable()
}
