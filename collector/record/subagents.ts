// Sub-agents: in the foreground they nest under the call that launched them, in the background they are a trace of their own.
import type { Claim } from '../../conventions/claim.ts'
import type { Source, SpanRef } from '../../conventions/record.ts'
import { closeOpenCalls } from './calls.ts'
import { type Context, type Reporter, runRef, sourceOf, turnIdOf } from './context.ts'
import { type Call, type Run, type Sub, spanRef } from './state.ts'

/**
 * A sub-agent started. The agent does not say which call launched it. A launch into the background may have completed by now, and
 * then it has said so itself; else, since no sub-agent starts before its call's decision, the one launching call that still waits is
 * the launcher. Of several nobody knows which, and none is named: each will say, when it completes, which one it launched.
 */
export function subagentStarted(ctx: Context, run: Run, claim: Claim, reporter: Reporter): void {
  const id = claim.sub
  if (id === undefined || run.subs.has(id)) return
  const turn = turnIdOf(run, claim)
  const calls = [...run.calls.values()]
  const known = calls.find((call) => call.launched === id)
  const waiting = known === undefined ? calls.filter(isWaiting) : [known]
  const launcher = waiting.length === 1 ? waiting[0] : undefined
  // Of several, one in the background is enough: a turn that ends must not end the calls of a sub-agent that works on.
  const background = waiting.some((call) => call.background === true)
  ctx.append({
    type: 'subagent.started',
    run: runRef(run),
    source: sourceOf(reporter, claim),
    trace: background ? ownTrace(ctx, run, id) : nested(ctx, run, id, turn, launcher, waiting),
    ...(launcher === undefined ? {} : { call: { id: launcher.id, attempt: launcher.attempt } }),
    body: { turn, sub: id, ...(claim.subType === undefined ? {} : { sub_type: claim.subType }), background },
  })
}

const isWaiting = (call: Call) => call.background !== undefined && call.launched === undefined && call.stage === 'open'

function ownTrace(ctx: Context, run: Run, id: string): SpanRef {
  const trace = ctx.ids.trace('subagent', run.id, run.part, id, 0)
  return spanRef(trace, ctx.ids.span(trace, 'root'))
}

/** Under the launching call; beside the launching calls when it is one of several; else under the turn. */
function nested(
  ctx: Context,
  run: Run,
  id: string,
  turnId: string,
  launcher: Call | undefined,
  waiting: Call[],
): SpanRef {
  const inside = (trace: string, parent: string) => spanRef(trace, ctx.ids.span(trace, 'subagent', id), parent)
  if (launcher !== undefined) return inside(launcher.trace, launcher.span)
  const [first, ...others] = waiting
  if (first !== undefined && others.every(({ trace, parent }) => trace === first.trace && parent === first.parent)) {
    return inside(first.trace, first.parent)
  }
  const turn = ctx.state.turnOf(run, turnId)
  return inside(turn.trace, turn.root)
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
