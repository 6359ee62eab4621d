// Sub-agents: in the foreground they nest under the call that launched them, in the background they are a trace of their own.
import type { Claim } from '../../conventions/claim.ts'
import type { Source } from '../../conventions/record.ts'
import { closeOpenCalls } from './calls.ts'
import { type Context, type Reporter, runRef, sourceOf, turnIdOf } from './context.ts'
import { type Call, type Run, type Sub, spanRef } from './state.ts'

/** A sub-agent started. The agent does not say which call launched it: the oldest launching call that has none yet. */
export function subagentStarted(ctx: Context, run: Run, claim: Claim, reporter: Reporter): void {
  const id = claim.sub
  if (id === undefined || run.subs.has(id)) return
  const turn = turnIdOf(run, claim)
  const launcher = findLauncher(run)
  const background = launcher?.background ?? false
  ctx.append({
    type: 'subagent.started',
    run: runRef(run),
    source: sourceOf(reporter, claim),
    trace: traceOf(ctx, run, id, turn, background, launcher),
    ...(launcher === undefined ? {} : { call: { id: launcher.id, attempt: launcher.attempt } }),
    body: { turn, sub: id, ...(claim.subType === undefined ? {} : { sub_type: claim.subType }), background },
  })
}

function findLauncher(run: Run): Call | undefined {
  for (const call of run.calls.values()) {
    if (call.background !== undefined && call.launched === undefined && call.stage === 'open') return call
  }
  return undefined
}

function traceOf(ctx: Context, run: Run, id: string, turnId: string, background: boolean, launcher: Call | undefined) {
  if (background) {
    const trace = ctx.ids.trace('subagent', run.id, run.part, id, 0)
    return spanRef(trace, ctx.ids.span(trace, 'root'))
  }
  if (launcher !== undefined)
    return spanRef(launcher.trace, ctx.ids.span(launcher.trace, 'subagent', id), launcher.span)
  const turn = ctx.state.turnOf(run, turnId)
  return spanRef(turn.trace, ctx.ids.span(turn.trace, 'subagent', id), turn.root)
}

/** A sub-agent ended. One whose start no hook reported is left out: there is nothing to end. */
export function subagentEnded(ctx: Context, run: Run, claim: Claim, reporter: Reporter): void {
  const sub = claim.sub === undefined ? undefined : run.subs.get(claim.sub)
  if (!sub?.open) return
  closeOpenCalls(ctx, run, (call) => call.sub === sub.id)
  endSubagent(ctx, run, sub, sourceOf(reporter, claim), true)
}

/** Closes a sub-agent's span; `finished` false when it was still at work. */
export function endSubagent(ctx: Context, run: Run, sub: Sub, source: Source, finished: boolean): void {
  ctx.append({
    type: 'subagent.ended',
    run: runRef(run),
    source,
    trace: spanRef(sub.trace, sub.span, sub.parent),
    body: {
      ...(sub.turn === undefined ? {} : { turn: sub.turn }),
      sub: sub.id,
      ...(sub.type === undefined ? {} : { sub_type: sub.type }),
      opened: sub.opened,
      finished,
    },
  })
}
