// Approvals: a person's answer to an ask, bound to one call's exact arguments, used once.
import { randomBytes } from 'node:crypto'
import type { Body } from '../../conventions/record.ts'
import { COLLECTOR, type Context, runRef } from './context.ts'
import { type Approval, type Call, type Run, spanRef } from './state.ts'

/** Milliseconds a call is held: a minute less than the hook may run (600 s), so that the hook still hears the answer. */
export const HOLD_MS = 9 * 60 * 1000

/** Asks a person. The binding is the decision's leaf: it commits to run, call, attempt, tool, arguments and policy. */
export function requestApproval(ctx: Context, run: Run, call: Call, policyHash: string, now: number): Approval {
  const id = `apr-${randomBytes(5).toString('hex')}`
  ctx.append({
    type: 'approval.requested',
    run: runRef(run),
    source: COLLECTOR,
    trace: approvalSpan(ctx, call, 'approval.requested'),
    call: { id: call.id, attempt: call.attempt },
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

/** A person's answer. Null when the approval is not pending (any more): nothing is recorded then. */
export function answerApproval(ctx: Context, id: string, answer: 'approve' | 'reject', now: number): Approval | null {
  const found = pending(ctx, id)
  if (found === null) return null
  const { approval, run, call } = found
  ctx.append({
    type: 'approval.answered',
    run: runRef(run),
    source: { kind: 'person' },
    trace: approvalSpan(ctx, call, 'approval.answered'),
    call: { id: call.id, attempt: call.attempt },
    body: {
      ...place(call),
      approval: id,
      answer,
      authentication: 'unauthenticated',
      nonce: approval.nonce,
      waited_ms: Math.max(0, now - approval.requested),
    },
  })
  return approval
}

/** Uses an approved answer up, just before the call is let through. False when there is none to use. */
export function consumeApproval(ctx: Context, id: string): boolean {
  const approval = ctx.state.approvals.get(id)
  const run = approval === undefined ? undefined : ctx.state.runs.get(approval.run)
  const call = approval === undefined ? undefined : run?.calls.get(approval.call)
  if (approval?.state !== 'approved' || run === undefined || call === undefined) return false
  ctx.append({
    type: 'approval.consumed',
    run: runRef(run),
    source: COLLECTOR,
    trace: approvalSpan(ctx, call, 'approval.consumed'),
    call: { id: call.id, attempt: call.attempt },
    body: { ...place(call), approval: id, decision: approval.decision, nonce: approval.nonce },
  })
  return true
}

/** Ends a hold without an answer. */
export function expireApproval(ctx: Context, id: string, reason: Body<'approval.expired'>['reason']): void {
  const found = pending(ctx, id)
  if (found === null) return
  const { run, call } = found
  ctx.append({
    type: 'approval.expired',
    run: runRef(run),
    source: COLLECTOR,
    trace: approvalSpan(ctx, call, 'approval.expired'),
    call: { id: call.id, attempt: call.attempt },
    body: { ...place(call), approval: id, reason },
  })
}

function pending(ctx: Context, id: string): { approval: Approval; run: Run; call: Call } | null {
  const approval = ctx.state.approvals.get(id)
  const run = approval === undefined ? undefined : ctx.state.runs.get(approval.run)
  const call = approval === undefined ? undefined : run?.calls.get(approval.call)
  if (approval?.state !== 'pending' || run === undefined || call === undefined) return null
  return { approval, run, call }
}

const approvalSpan = (ctx: Context, call: Call, kind: string) =>
  spanRef(call.trace, ctx.ids.span(call.trace, kind, call.id, call.attempt), call.span)

const place = (call: Call) => ({
  ...(call.turn === undefined ? {} : { turn: call.turn }),
  ...(call.sub === undefined ? {} : { sub: call.sub }),
})
