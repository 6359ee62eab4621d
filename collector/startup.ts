// The first records of a collector's life: what it found, what it closes after a crash, which policy is in force.
import type { Gate } from './gate-wiring.ts'
import type { OpenLog } from './open-log.ts'
import type { Pipeline } from './pipeline.ts'
import { COLLECTOR } from './record/context.ts'

export interface StartOptions {
  log: OpenLog
  pipeline: Pipeline
  gate: Gate
  /** Hash of the configuration in force; undefined where there is none. */
  configHash?: string
  /** Days that content is kept. */
  contentDays?: number | undefined
  version: string
}

/** Records the start; durable when it resolves. */
export async function recordStart({
  log,
  pipeline,
  gate,
  configHash,
  contentDays,
  version,
}: StartOptions): Promise<void> {
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
  recordLoaded(log, gate, configHash, contentDays)
  await writer.durable()
}

/** Records which policy and configuration are in force from here on, where they are others than before. Not durable yet. */
export function recordLoaded(
  { writer, state }: OpenLog,
  gate: Gate,
  configHash: string | undefined,
  contentDays: number | undefined,
): void {
  const content_days = contentDays ?? null
  if ((state.contentDays ?? null) !== content_days)
    writer.append({ type: 'retention.set', source: COLLECTOR, body: { content_days } })
  const { policyHash: policyBefore, configHash: configBefore } = state
  if (policyBefore !== gate.policyHash) {
    const previous = policyBefore === undefined ? {} : { previous: policyBefore }
    writer.append({
      type: 'policy.loaded',
      source: COLLECTOR,
      body: { policy_hash: gate.policyHash, origin: gate.origin, rules: gate.rules, ...previous },
    })
  }
  if (configHash !== undefined && configBefore !== configHash) {
    const previous = configBefore === undefined ? {} : { previous: configBefore }
    writer.append({ type: 'config.loaded', source: COLLECTOR, body: { config_hash: configHash, ...previous } })
  }
}
