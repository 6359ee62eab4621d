// Approvals: a person's answer to an ask, bound to one call's exact arguments, used once.
import { randomBytes } from 'node:crypto'
import type { Body } from '../../conventions/record.ts'
import { COLLECTOR, type Context, runRef } from './context.ts'
import { type Approval, type Call, type Run, spanRef } from './state.ts'

/** Milliseconds a call is held: a minute less than the hook may run (600 s), so that the hook still hears the answer. */
export const HOLD_MS = 9 * 60 * 1000

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
export function answerApproval(ctx: Context, id: string, answer: 'approve' | 'reject', now: number): boolean {
  const found = find(ctx, id)
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
      authentication: 'unauthenticated',
      nonce: approval.nonce,
      waited_ms: Math.max(0, now - approval.requested),
    },
  })
  return true
}

/** Uses an approved answer up, just before the call is let through. False when there is none to use. */
export function consumeApproval(ctx: Context, id: string, now: number): boolean {
  const found = find(ctx, id)
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
  const found = find(ctx, id)
  if (found === null) return
  const { run, call } = found
  ctx.append({
    ...envelope(ctx, run, call, 'approval.expired'),
    type: 'approval.expired',
    body: { ...place(call), approval: id, reason },
  })
}

/** An approval and the very attempt it is for: bound by the decision's leaf, not by the call's id. */
function find(ctx: Context, id: string): { approval: Approval; run: Run; call: Call } | null {
  const approval = ctx.state.approvals.get(id)
  const run = approval === undefined ? undefined : ctx.state.runs.get(approval.run)
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
