// Sessions that no hook speaks for: the watcher sees their transcripts grow. Only the gap is recorded and how many calls were seen,
// never what was said or asked: those words no hook vouches for. Nothing here is a decision.
import { asideRef, COLLECTOR, type Context, runRef } from './context.ts'
import type { Run } from './state.ts'

/** What the log knows of a session that is being watched. */
export interface WatchedSession {
  /** `gated`: hooks speak for it. `ungated`: it has an open run without any. `over`: its run is closed. `unknown`: it never had one. */
  state: 'gated' | 'ungated' | 'over' | 'unknown'
  /** Bytes of the transcript that are accounted for. */
  offset: number
  /** Collector time of its newest record, milliseconds; 0 when there is none. */
  lastTime: number
}

/** Calls in a transcript that no hook asked about. */
export interface UngatedCalls {
  agent: string
  session: string
  /** Tool calls since the last time. */
  calls: number
  /** Bytes of the transcript that they and everything before them take: where counting goes on after a restart. */
  offset: number
}

export function watchedSession(ctx: Pick<Context, 'ids' | 'state'>, agent: string, session: string): WatchedSession {
  const run = ctx.state.runs.get(ctx.ids.run(agent, session))
  if (run === undefined) return { state: 'unknown', offset: 0, lastTime: 0 }
  const state = !run.open ? 'over' : run.mode === 'ungated' ? 'ungated' : 'gated'
  return { state, offset: run.offset, lastTime: run.lastTime }
}

/** Records calls of a session without hooks; the first opens its run. Says false, and records nothing, when hooks speak for it by now. */
export function ungatedCalls(ctx: Context, seen: UngatedCalls): boolean {
  const id = ctx.ids.run(seen.agent, seen.session)
  const known = ctx.state.runs.get(id)
  if (known?.open && known.mode !== 'ungated') return false
  const run = known?.open ? known : openRun(ctx, seen, id, known)
  // The mode stays known when a run closes: a session is said to be ungated once, until hooks have spoken for it in between.
  if (known?.mode !== 'ungated') gap(ctx, run, 'ungated_session', 1)
  ctx.append({
    type: 'transcript.mark',
    run: runRef(run),
    source: COLLECTOR,
    body: { state: 'skipped', offset: seen.offset },
  })
  gap(ctx, run, 'hook_missing', seen.calls)
  return true
}

function openRun(ctx: Context, { agent, session }: UngatedCalls, id: string, known: Run | undefined): Run {
  const part = known === undefined ? 0 : known.part + 1
  ctx.append({
    type: 'run.opened',
    run: { id, part },
    source: COLLECTOR,
    body: {
      session,
      agent,
      ordinal: ctx.state.ordinals,
      mode: 'ungated',
      // Nothing asks, so nothing stops a call.
      fail_mode: 'open',
      reason: 'ungated',
      ...(part === 0 ? {} : { previous: part - 1 }),
    },
  })
  const run = ctx.state.runs.get(id)
  if (run === undefined) throw new Error('a run that was just opened is not in the state')
  return run
}

function gap(ctx: Context, run: Run, kind: 'ungated_session' | 'hook_missing', count: number): void {
  ctx.append({
    type: 'gap',
    run: runRef(run),
    source: COLLECTOR,
    trace: asideRef(ctx, run, undefined, 'gap'),
    body: { kind, count },
  })
}
