// Approvals: a person's answer to an ask, bound to one call's exact arguments, used once.
import { randomBytes } from 'node:crypto'
import type { Answer, ApproverSignature, Binding } from '../../conventions/approval.ts'
import type { Claim } from '../../conventions/claim.ts'
import type { Refusal } from '../../conventions/decision.ts'
import type { Body, Content } from '../../conventions/record.ts'
import { asideRef, COLLECTOR, type Context, runRef, textContents } from './context.ts'
import { type Approval, type Call, type Run, type State, spanRef } from './state.ts'

/** Milliseconds a call is held: a minute less than the hook may run (600 s), so that the hook still hears the answer. */
export const HOLD_MS = 9 * 60 * 1000

/** Attempts recorded for one approval; more are refused all the same. Whoever tries in a loop must not fill the log. */
const MAX_REFUSALS_RECORDED = 16

/** How a person's word is known. */
export type Proof =
  | { authentication: 'unauthenticated' }
  | { authentication: 'signed'; signature: ApproverSignature }
  | { authentication: 'break_glass'; reason: string }

/** What the records say of a proof, and the content behind them. */
export function proofBody(proof: Proof): Pick<Body<'approver.removed'>, 'authentication' | keyof ApproverSignature> {
  const { authentication } = proof
  if (authentication !== 'signed') return { authentication }
  const { approver, signature, flags, counter } = proof.signature
  return {
    authentication,
    approver,
    signature,
    ...(flags === undefined ? {} : { flags }),
    ...(counter === undefined ? {} : { counter }),
  }
}

export function proofContents(proof: Proof): { contents?: Content[] } {
  return proof.authentication === 'break_glass' ? { contents: textContents('reason', proof.reason) } : {}
}

/** What an answer to an approval is for; null when it does not wait (any more). */
export function bindingOf(state: State, id: string): Binding | null {
  const found = find(state, id)
  if (found === null) return null
  const { approval, run, call } = found
  return {
    run: run.id,
    call: call.id,
    attempt: call.attempt,
    tool: call.tool,
    args: call.args?.commitment ?? null,
    decision: approval.decision,
    policy_hash: approval.policyHash,
    nonce: approval.nonce,
    expires: new Date(approval.expires).toISOString(),
  }
}

/** Why an approval ended unused. ended: the turn did. superseded: the call was asked again with other arguments. */
export type ExpiryReason = Body<'approval.expired'>['reason']

/** Asks a person. The binding is the decision's leaf: it commits to run, call, attempt, tool, arguments and policy. */
export function requestApproval(ctx: Context, run: Run, call: Call, policyHash: string, now: number): Approval {
  const id = `apr-${randomBytes(5).toString('hex')}`
  ctx.append({
    ...envelope(ctx, run, call, 'approval.requested'),
    type: 'approval.requested',
    body: {
      ...place(call),
      approval: id,
      tool: call.tool,
      decision: call.leaf,
      policy_hash: policyHash,
      nonce: randomBytes(16).toString('hex'),
      expires: new Date(now + HOLD_MS).toISOString(),
    },
  })
  const approval = ctx.state.approvals.get(id)
  if (approval === undefined) throw new Error('an approval that was just requested is not in the state')
  return approval
}

/** A person's answer. False when the approval does not wait (any more): nothing is recorded then, or its expiry. */
export function answerApproval(ctx: Context, id: string, answer: Answer, proof: Proof, now: number): boolean {
  const found = find(ctx.state, id)
  if (found?.approval.state !== 'pending') return false
  const { approval, run, call } = found
  if (now > approval.expires) {
    expireApproval(ctx, id, 'timeout')
    return false
  }
  ctx.append({
    ...envelope(ctx, run, call, 'approval.answered'),
    type: 'approval.answered',
    source: { kind: 'person' },
    body: {
      ...place(call),
      approval: id,
      answer,
      ...proofBody(proof),
      nonce: approval.nonce,
      waited_ms: Math.max(0, now - approval.requested),
    },
    ...proofContents(proof),
  })
  return true
}

/** Uses an approved answer up, just before the call is let through. False when there is none to use. */
export function consumeApproval(ctx: Context, id: string, now: number): boolean {
  const found = find(ctx.state, id)
  if (found?.approval.state !== 'approved') return false
  const { approval, run, call } = found
  if (now > approval.expires) {
    expireApproval(ctx, id, 'timeout')
    return false
  }
  ctx.append({
    ...envelope(ctx, run, call, 'approval.consumed'),
    type: 'approval.consumed',
    body: { ...place(call), approval: id, decision: approval.decision, nonce: approval.nonce },
  })
  return true
}

/** Ends an approval that was not used. Nothing happens when it has ended before. */
export function expireApproval(ctx: Context, id: string, reason: ExpiryReason): void {
  const found = find(ctx.state, id)
  if (found === null) return
  const { run, call } = found
  ctx.append({
    ...envelope(ctx, run, call, 'approval.expired'),
    type: 'approval.expired',
    body: { ...place(call), approval: id, reason },
  })
}

/** Why a call that comes with an approval's id may not use it; null: it may, or, still unanswered, may only wait. */
export function presentedProblem(
  ctx: Context,
  run: Run,
  claim: Claim,
  id: string,
  same: Call | undefined,
): Refusal | null {
  const ended = ctx.state.endedApprovals.get(id)
  const approval = ctx.state.approvals.get(id) ?? ended
  if (approval === undefined) return 'unknown'
  if (approval.run !== run.id) return 'wrong_run'
  if (approval.call !== claim.callId) return 'wrong_call'
  if (ended !== undefined) return ended.end
  if (same?.approval !== id) return 'args_mismatch'
  return ctx.state.approvals.get(id)?.state === 'approved' ? null : 'not_approved'
}

/** Somebody came with an approval that is not for what they want: recorded in the run they came from, under their call. */
export function refusePresented(ctx: Context, run: Run, claim: Claim, approval: string, kind: Refusal): void {
  const known = ctx.state.approvals.get(approval) ?? ctx.state.endedApprovals.get(approval)
  const { callId } = claim
  if ((known?.refusals ?? 0) >= MAX_REFUSALS_RECORDED) return
  ctx.append({
    type: 'approval.refused',
    run: runRef(run),
    source: COLLECTOR,
    trace: asideRef(ctx, run, run.currentTurn, 'approval.refused'),
    ...(callId === undefined ? {} : { call: { id: callId, attempt: run.attempts.get(callId) ?? 1 } }),
    body: { approval, kind },
  })
}

/** An answer that does not count, recorded at the call that waits. */
export function refuseAnswer(ctx: Context, id: string, kind: Refusal): void {
  const found = find(ctx.state, id)
  if (found === null || found.approval.refusals >= MAX_REFUSALS_RECORDED) return
  const { run, call } = found
  ctx.append({
    ...envelope(ctx, run, call, 'approval.refused'),
    type: 'approval.refused',
    trace: asideRef(ctx, run, call.turn, 'approval.refused'),
    body: { ...place(call), approval: id, kind },
  })
}

/** An approval and the very attempt it is for: bound by the decision's leaf, not by the call's id. */
function find(state: State, id: string): { approval: Approval; run: Run; call: Call } | null {
  const approval = state.approvals.get(id)
  const run = approval === undefined ? undefined : state.runs.get(approval.run)
  const call = approval === undefined ? undefined : run?.calls.get(approval.call)
  if (approval === undefined || run === undefined || call?.leaf !== approval.decision) return null
  return { approval, run, call }
}

const envelope = (ctx: Context, run: Run, call: Call, kind: string) => ({
  run: runRef(run),
  source: COLLECTOR,
  trace: spanRef(call.trace, ctx.ids.span(call.trace, kind, call.id, call.attempt), call.span),
  call: { id: call.id, attempt: call.attempt },
})

const place = (call: Call) => ({
  ...(call.turn === undefined ? {} : { turn: call.turn }),
  ...(call.sub === undefined ? {} : { sub: call.sub }),
})
