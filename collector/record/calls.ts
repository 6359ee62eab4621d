// Tool calls: a decision before, a completion after, paired by the agent's call id; and what is said when one of them is missing.
import type { Claim } from '../../conventions/claim.ts'
import type { Decision } from '../../conventions/decision.ts'
import { MAX_RULES_IN_BODY } from '../../conventions/limits.ts'
import type { Body, Content } from '../../conventions/record.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { expireApproval } from './approvals.ts'
import {
  asideRef,
  COLLECTOR,
  type Context,
  jsonContent,
  placeOf,
  type Reporter,
  runRef,
  sourceOf,
  textContents,
  turnIdOf,
} from './context.ts'
import { type Call, type Run, spanRef } from './state.ts'

/** What the gate said of a call. */
export interface Verdict {
  decision: Decision
  /** Ids of all matching rules, strictest first. */
  rules: string[]
  policyHash: string
  /** What the call would do, for the vault. */
  facts: Json
}

type Status = Body<'tool.completed'>['status']

/**
 * The same call, asked again while it is open: hooks registered twice fire twice. Anything else under its id is a new attempt, as is
 * the same once another policy is in force or a prompt has forbidden more: an answer of before is none to that.
 */
export function findTwin(
  ctx: Context,
  run: Run,
  claim: Claim,
  reporter: Reporter,
  policyHash: string,
): Call | undefined {
  const call = claim.callId === undefined ? undefined : run.calls.get(claim.callId)
  if (call === undefined || call.stage === 'done' || call.args === undefined) return undefined
  // What an observing hook asked first says nothing to one that enforces.
  if (!call.enforced && reporter.mode === 'enforce') return undefined
  if (call.tool !== claim.tool || call.sub !== claim.sub) return undefined
  if (call.live.cwd !== undefined && call.live.cwd !== claim.cwd) return undefined
  const { under } = call
  if (under.policyHash !== policyHash) return undefined
  if (under.constraints !== run.constraints.length || under.constraintsLost !== run.constraintsLost) return undefined
  const same = ctx.commitment(call.args.salt, 'args', Buffer.from(claim.args ?? '')) === call.args.commitment
  return same ? call : undefined
}

/** Records a decision and returns the call it opened. The claim has a call id and a tool: its receiver checked. */
export function decided(ctx: Context, run: Run, claim: Claim, reporter: Reporter, verdict: Verdict): Call {
  const { callId = '', tool = '' } = claim
  const turn = turnIdOf(run, claim)
  const place = placeOf(ctx, run, turn, claim.sub)
  const attempt = (run.attempts.get(callId) ?? 0) + 1
  const before = run.calls.get(callId)
  if (before?.approval !== undefined) expireApproval(ctx, before.approval, 'superseded')
  const span = ctx.ids.span(place.trace, 'tool', callId, attempt)
  ctx.append({
    type: 'tool.decided',
    run: runRef(run),
    source: sourceOf(reporter, claim),
    trace: spanRef(place.trace, ctx.ids.span(place.trace, 'gate', callId, attempt), span),
    call: { id: callId, attempt },
    body: {
      ...place.body,
      tool,
      decision: verdict.decision,
      rules: verdict.rules.slice(0, MAX_RULES_IN_BODY),
      rules_total: verdict.rules.length,
      policy_hash: verdict.policyHash,
      enforced: reporter.mode === 'enforce',
      ...(claim.permissionMode === undefined ? {} : { permission_mode: claim.permissionMode }),
      ...(claim.background === undefined ? {} : { background: claim.background }),
      span_parent: place.parent,
      ...(claim.agentSpan === undefined
        ? {}
        : { agent_trace: claim.agentSpan.traceId, agent_span: claim.agentSpan.spanId }),
      args_source: 'raw',
    },
    contents: [
      ...textContents('args', claim.args ?? ''),
      jsonContent('facts', verdict.facts),
      ...(verdict.rules.length > MAX_RULES_IN_BODY ? [jsonContent('rules', verdict.rules)] : []),
    ],
  })
  const call = run.calls.get(callId)
  if (call === undefined) throw new Error('a call that was just decided is not in the state')
  call.live.cwd = claim.cwd
  return call
}

/** A result came. A call nobody decided is recorded as such, with a gap; one that was forbidden, with a violation. */
export function completed(ctx: Context, run: Run, claim: Claim, reporter: Reporter): void {
  const call = claim.callId === undefined ? undefined : run.calls.get(claim.callId)
  if (call?.stage === 'done') return
  if (call === undefined) gap(ctx, run, claim, reporter, 'completed_not_decided')
  complete(ctx, run, claim, reporter, statusOf(claim, call), call)
}

/** A batch report lists every call of a model answer: the only word on calls that were denied or had no hook. */
export function reported(ctx: Context, run: Run, claim: Claim, reporter: Reporter): void {
  const call = claim.callId === undefined ? undefined : run.calls.get(claim.callId)
  if (call?.stage === 'done') return
  if (call === undefined) gap(ctx, run, claim, reporter, 'hook_missing')
  complete(ctx, run, claim, reporter, call?.stage === 'refused' ? 'denied' : 'unreported', call)
}

/** Completes calls that nobody will report any more: declined, interrupted or lost; never read as success. */
export function closeOpenCalls(ctx: Context, run: Run, which: (call: Call) => boolean): void {
  for (const call of [...run.calls.values()]) {
    if ((call.stage !== 'open' && call.stage !== 'held') || !which(call)) continue
    if (call.approval !== undefined) expireApproval(ctx, call.approval, 'ended')
    const { trace, span, parent } = spanPlace(ctx, run, call)
    ctx.append({
      type: 'tool.completed',
      run: runRef(run),
      source: COLLECTOR,
      trace: spanRef(trace, span, parent),
      call: { id: call.id, attempt: call.attempt },
      body: { ...placeBody(call), tool: call.tool, status: 'unreported', decision: call.leaf, ...duplicatesOf(call) },
    })
  }
}

function complete(
  ctx: Context,
  run: Run,
  claim: Claim,
  reporter: Reporter,
  status: Status,
  call: Call | undefined,
): void {
  const { callId = '', tool = '' } = claim
  const turn = turnIdOf(run, claim)
  const place = call === undefined ? undecidedPlace(ctx, run, claim, turn) : spanPlace(ctx, run, call)
  const ran = status !== 'denied' && status !== 'unreported'
  const forbidden = call?.stage === 'refused' || call?.stage === 'held'
  const written = ctx.append({
    type: 'tool.completed',
    run: runRef(run),
    source: sourceOf(reporter, claim),
    trace: spanRef(place.trace, place.span, place.parent),
    call: { id: callId, attempt: call?.attempt ?? 1 },
    body: {
      ...(call === undefined ? { turn, ...(claim.sub === undefined ? {} : { sub: claim.sub }) } : placeBody(call)),
      tool,
      status,
      ...(claim.exitCode === undefined ? {} : { exit_code: claim.exitCode }),
      ...(claim.durationMs === undefined ? {} : { duration_ms: claim.durationMs }),
      decision: call?.leaf ?? null,
      ...(call === undefined ? {} : duplicatesOf(call)),
      ...(claim.launched === undefined ? {} : { launched: claim.launched }),
    },
    contents: [
      ...argsContents(ctx, claim, call),
      ...(claim.result === undefined ? [] : textContents('result', claim.result)),
    ],
  })
  if (call === undefined || !ran || !call.enforced) return
  if (forbidden)
    violation(ctx, run, call, call.decision === 'deny' ? 'executed_against_policy' : 'executed_without_approval')
  const args = written.record.commit?.find(({ n }) => n === 'args')?.c
  const otherArgs = args !== undefined && call.args !== undefined && args !== call.args.commitment
  // The same arguments to another tool are another call, too.
  if (otherArgs || tool !== call.tool) {
    violation(ctx, run, call, 'executed_other_arguments')
  }
}

/** Equal arguments get equal commitments: the decision's salt is used again, and the same bytes are not kept twice. */
function argsContents(ctx: Context, claim: Claim, call: Call | undefined): Content[] {
  if (claim.args === undefined) return []
  if (call?.args === undefined) return textContents('args', claim.args)
  const { salt, commitment } = call.args
  const bytes = Buffer.from(claim.args)
  if (ctx.commitment(salt, 'args', bytes) === commitment) return [{ name: 'args', bytes, keep: false, salt }]
  return textContents('args', claim.args).map((content) => (content.name === 'args' ? { ...content, salt } : content))
}

function statusOf(claim: Claim, call: Call | undefined): Status {
  if (claim.event === 'tool.failed') return claim.interrupted ? 'interrupted' : 'error'
  // A background launch returns before the sub-agent has worked.
  return claim.launched !== undefined && call?.background === true ? 'launched' : 'ok'
}

const placeBody = (call: Call) => ({
  ...(call.turn === undefined ? {} : { turn: call.turn }),
  ...(call.sub === undefined ? {} : { sub: call.sub }),
})

const duplicatesOf = ({ live }: Call) => (live.duplicates === 0 ? {} : { duplicates: live.duplicates })

/** Where the call's span lies; one that went out as unfinished gets a new span in the turn's next part. */
function spanPlace(ctx: Context, run: Run, call: Call): { trace: string; span: string; parent: string } {
  if (!call.orphan) return call
  const { trace, root } = ctx.state.turnOf(run, call.turn ?? `t${run.prompts}`)
  return { trace, span: ctx.ids.span(trace, 'tool', call.id, call.attempt), parent: root }
}

function undecidedPlace(ctx: Context, run: Run, claim: Claim, turn: string) {
  const place = placeOf(ctx, run, turn, claim.sub)
  return { trace: place.trace, span: ctx.ids.span(place.trace, 'tool', claim.callId ?? '', 1), parent: place.parent }
}

/** The model asked for calls in a turn that ended as it should, and no hook ever spoke of them. `but`: sub-agents still at work. */
export function gapsOfTurn(ctx: Context, run: Run, turn: string, but: (sub: string | undefined) => boolean): void {
  for (const [id, { turn: of, sub, tool }] of [...run.asked]) {
    if (of !== turn || but(sub) || run.attempts.has(id) || run.calls.has(id)) continue
    ctx.append({
      type: 'gap',
      run: runRef(run),
      source: COLLECTOR,
      trace: asideRef(ctx, run, turn, 'gap'),
      call: { id, attempt: 1 },
      body: {
        turn,
        ...(sub === undefined ? {} : { sub }),
        kind: 'hook_missing',
        count: 1,
        ...(tool === undefined ? {} : { tool }),
      },
    })
  }
}

function gap(ctx: Context, run: Run, claim: Claim, reporter: Reporter, kind: Body<'gap'>['kind']): void {
  const turn = turnIdOf(run, claim)
  ctx.append({
    type: 'gap',
    run: runRef(run),
    source: sourceOf(reporter, claim),
    trace: asideRef(ctx, run, turn, 'gap'),
    ...(claim.callId === undefined ? {} : { call: { id: claim.callId, attempt: 1 } }),
    body: { turn, kind, count: 1, ...(claim.tool === undefined ? {} : { tool: claim.tool }) },
  })
}

function violation(ctx: Context, run: Run, call: Call, kind: Body<'violation'>['kind']): void {
  ctx.append({
    type: 'violation',
    run: runRef(run),
    source: COLLECTOR,
    trace: asideRef(ctx, run, call.turn, 'violation'),
    call: { id: call.id, attempt: call.attempt },
    body: { ...placeBody(call), kind, tool: call.tool, decision: call.leaf },
  })
}
