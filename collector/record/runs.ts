// Runs and turns: opened by the first event, closed by the agent, by the next prompt, by silence, or by the collector going away.
import type { Claim } from '../../conventions/claim.ts'
import type { Body } from '../../conventions/record.ts'
import { closeOpenCalls, gapsOfTurn } from './calls.ts'
import {
  asideRef,
  COLLECTOR,
  type Context,
  type Reporter,
  runRef,
  sourceOf,
  textContents,
  turnIdOf,
} from './context.ts'
import { type Run, spanRef } from './state.ts'
import { endSubagent } from './subagents.ts'

/** Milliseconds without any event after which a run part is closed; what comes later opens the next part. */
const RUN_IDLE_MS = 6 * 60 * 60 * 1000
/** Calls, records and milliseconds after which a turn's part is closed, so that no trace grows without end. */
const MAX_TURN_CALLS = 500
const MAX_TURN_RECORDS = 2_000
const MAX_TURN_MS = 60 * 60 * 1000

type TurnReason = Body<'turn.closed'>['reason']

const OPEN_REASONS: Readonly<Record<string, Body<'run.opened'>['reason']>> = {
  startup: 'startup',
  resume: 'resume',
  clear: 'clear',
  compact: 'compact',
}

/** The open run part of a claim's session; opens one where there is none. */
export function ensureRun(ctx: Context, claim: Claim, reporter: Reporter): Run {
  const id = ctx.ids.run(claim.agent, claim.session)
  const known = ctx.state.runs.get(id)
  if (known?.open) {
    // A resumed session without an end: the agent was killed before it could say so. One event fired twice is not that.
    const resumed = claim.event === 'session.start' && claim.reason === 'resume' && known.turns.size > 0
    // Once hooks speak for a session it is gated, in a part of its own.
    const ungated = known.mode === 'ungated'
    if (!resumed && !ungated) return known
    closeRun(ctx, known, ungated ? 'hooks_began' : 'resumed')
  }
  const starts = claim.event === 'session.start'
  const reason = starts
    ? (OPEN_REASONS[claim.reason ?? ''] ?? 'other')
    : known === undefined
      ? 'first_event'
      : 'reopened'
  const part = known === undefined ? 0 : known.part + 1
  ctx.append({
    type: 'run.opened',
    run: { id, part },
    source: sourceOf(reporter, claim),
    body: {
      session: claim.session,
      agent: claim.agent,
      ...(claim.agentVersion === undefined ? {} : { agent_version: claim.agentVersion }),
      ordinal: ctx.state.ordinals,
      mode: reporter.mode,
      fail_mode: reporter.failMode,
      reason,
      ...(part === 0 ? {} : { previous: part - 1 }),
    },
    // A path, kept as it is: rules speak of it, before a restart and after.
    contents: claim.cwd === undefined ? [] : [{ name: 'cwd', bytes: Buffer.from(claim.cwd), keep: true }],
  })
  const run = ctx.state.runs.get(id)
  if (run === undefined) throw new Error('a run that was just opened is not in the state')
  run.project = claim.cwd
  return run
}

/** A prompt: closes what the last turn left open, and begins the next. Recorded once however often the hook fires. */
export function promptSubmitted(ctx: Context, run: Run, claim: Claim, reporter: Reporter): void {
  const turnId = claim.turn ?? `t${run.prompts + 1}`
  const text = claim.prompt ?? ''
  const before = run.turns.get(turnId)?.prompt
  if (before !== undefined && ctx.commitment(before.salt, 'prompt', Buffer.from(text)) === before.commitment) return
  for (const turn of [...run.turns.values()]) if (turn.open && turn.id !== turnId) endTurn(ctx, run, turn.id, 'prompt')
  const turn = ctx.state.turnOf(run, turnId)
  ctx.append({
    type: 'prompt.submitted',
    run: runRef(run),
    source: sourceOf(reporter, claim),
    trace: spanRef(turn.trace, turn.root),
    body: { turn: turnId, machine: claim.machine ?? false, bytes: Buffer.byteLength(text) },
    contents: textContents('prompt', text),
  })
}

/** The agent says the turn is over. Repeats change nothing. */
export function turnEnded(ctx: Context, run: Run, claim: Claim): void {
  endTurn(ctx, run, turnIdOf(run, claim), 'stop')
}

function endTurn(ctx: Context, run: Run, id: string, reason: TurnReason): void {
  const turn = run.turns.get(id)
  if (!turn?.open) return
  const goesOn = reason === 'crash' || reason === 'collector_stop' || reason === 'size'
  if (!goesOn) closeOpenCalls(ctx, run, (call) => call.turn === id && !inBackground(run, call.sub))
  // Only where the agent says that the turn is over: a person who interrupts leaves calls that were asked for and never begun.
  if (reason === 'stop') gapsOfTurn(ctx, run, id, (sub) => inBackground(run, sub))
  ctx.append({
    type: 'turn.closed',
    run: runRef(run),
    source: COLLECTOR,
    trace: spanRef(turn.trace, turn.root),
    body: {
      turn: id,
      part: turn.part,
      reason,
      calls: turn.calls,
      denied: turn.denied,
      opened: turn.opened,
      finished: reason === 'stop',
    },
  })
}

function inBackground(run: Run, sub: string | undefined): boolean {
  const found = sub === undefined ? undefined : run.subs.get(sub)
  return found?.open === true && found.background
}

/** The session ended. */
export function sessionEnded(ctx: Context, run: Run): void {
  closeOpenCalls(ctx, run, () => true)
  closeParts(ctx, run, 'session_end')
  closeRun(ctx, run, 'session_end')
}

function closeRun(ctx: Context, run: Run, reason: Body<'run.closed'>['reason']): void {
  if (reason !== 'session_end') {
    for (const call of run.calls.values()) {
      if (call.stage !== 'open') continue
      ctx.append({
        type: 'gap',
        run: runRef(run),
        source: COLLECTOR,
        trace: asideRef(ctx, run, call.turn, 'gap'),
        call: { id: call.id, attempt: call.attempt },
        body: {
          kind: 'decided_not_completed',
          count: 1,
          tool: call.tool,
          ...(call.turn === undefined ? {} : { turn: call.turn }),
        },
      })
    }
    closeParts(ctx, run, 'idle')
  }
  ctx.append({ type: 'run.closed', run: runRef(run), source: COLLECTOR, body: { records: run.seq + 1, reason } })
}

/** Sends out the roots of everything open in a run. */
function closeParts(ctx: Context, run: Run, reason: TurnReason): void {
  for (const sub of [...run.subs.values()]) if (sub.open) endSubagent(ctx, run, sub, COLLECTOR, false)
  for (const turn of [...run.turns.values()]) if (turn.open) endTurn(ctx, run, turn.id, reason)
}

/** The collector stops, or comes back after a crash: roots go out as unfinished, holds end, runs stay open. */
export function suspendRuns(ctx: Context, reason: 'crash' | 'collector_stop'): void {
  for (const run of ctx.state.runs.values()) if (run.open) closeParts(ctx, run, reason)
}

/** Closes what has been silent or has grown too long. `now`: collector time, milliseconds. */
export function closeIdle(ctx: Context, now: number): void {
  for (const run of ctx.state.runs.values()) {
    if (!run.open) continue
    if (now - run.lastTime > RUN_IDLE_MS) {
      closeRun(ctx, run, 'idle')
      continue
    }
    for (const turn of [...run.turns.values()]) {
      const long =
        turn.calls >= MAX_TURN_CALLS || turn.records >= MAX_TURN_RECORDS || now - Date.parse(turn.opened) > MAX_TURN_MS
      if (turn.open && long) endTurn(ctx, run, turn.id, 'size')
    }
  }
}
