// The heartbeat of a session whose calls come by http hooks: its command hooks, which start a collector that is down. Without them the
// calls are decided as long as the collector runs, and nothing brings it back.
import type { Claim } from '../../conventions/claim.ts'
import { asideRef, COLLECTOR, type Context, type Reporter, runRef, turnIdOf } from './context.ts'
import type { Run } from './state.ts'

/** Before a call is decided: says once that no command hook was heard in this run. */
export function checkHeartbeat(ctx: Context, run: Run, claim: Claim, reporter: Reporter): void {
  if (reporter.way !== 'http' || run.heartbeat !== 'none') return
  ctx.append({
    type: 'gap',
    run: runRef(run),
    source: COLLECTOR,
    trace: asideRef(ctx, run, turnIdOf(run, claim), 'gap'),
    body: { kind: 'heartbeat_missing', count: 1 },
  })
}
