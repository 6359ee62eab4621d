// What a running collector says of itself: numbers and names, no content.
import type { Json } from '../conventions/strict-json.ts'
import type { Forwarding } from './forwarding.ts'
import type { Gate } from './gate-wiring.ts'
import type { OpenLog } from './open-log.ts'
import type { Pipeline } from './pipeline.ts'
import { bindingOf } from './record/approvals.ts'
import type { State } from './record/state.ts'
import type { IndexClient } from './store/index/client.ts'

export interface StatusSources {
  opened: OpenLog
  pipeline: Pipeline
  gate: Gate
  forwarding: Forwarding
  index: IndexClient
}

export function statusOf({ opened, pipeline, gate, forwarding, index }: StatusSources): { [key: string]: Json } {
  return {
    log_id: opened.logId,
    log_key: opened.logKey,
    genesis: Buffer.from(opened.genesis, 'base64').toString('hex'),
    records: opened.writer.durableSize,
    checkpoint: Number(opened.checkpoints.newest?.split('\n')[1] ?? 0),
    open_runs: [...opened.state.runs.values()].filter(({ open }) => open).length,
    pending_approvals: pipeline.approvals.pending,
    policy: { hash: gate.policyHash, origin: gate.origin, rules: gate.rules },
    counts: { ...pipeline.counts },
    forward: forwarding.status().map((stream) => ({ ...stream })),
    audit: forwarding.audits().map((audit) => ({ ...audit })),
    index: { lag: index.lag() },
  }
}

/** Calls that wait for a person. */
export function approvalsOf(state: State): Json {
  return [...state.approvals.values()]
    .filter(({ state: now }) => now === 'pending')
    .map(({ id, run, call, requested, expires }) => {
      const of = state.runs.get(run)
      const held = of?.calls.get(call)
      return {
        id,
        agent: of?.agent ?? '',
        session: of?.session ?? '',
        call,
        tool: held?.tool ?? '',
        rules: held?.rules ?? [],
        reason: held?.live.refusal ?? '',
        requested: new Date(requested).toISOString(),
        expires: new Date(expires).toISOString(),
        binding: { ...bindingOf(state, id) },
      }
    })
}
