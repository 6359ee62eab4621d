// Follows decisions, approvals and what ran: was each decision obeyed, and each approval used once, for exactly what it was given.
import { answerMessage } from '../../conventions/approval.ts'
import type { Body } from '../../conventions/record.ts'
import type { Approvers } from './approvers.ts'
import type { Accepted } from './chain.ts'
import type { Code, Findings } from './findings.ts'
import { bodyOf } from './read-record.ts'

/** Milliseconds between the check of an approval's end and the time its use is recorded with. */
const USE_GRACE_MS = 5_000

/** Statuses that mean the tool did something. */
const RAN: readonly Body<'tool.completed'>['status'][] = ['ok', 'error', 'interrupted', 'launched']

interface Call {
  run: string
  call: string
  tool: string
  decision: Body<'tool.decided'>['decision']
  enforced: boolean
  args: string | undefined
  /** Approvals used for it, less the times it ran. */
  uses: number
}

interface Approval {
  run: string
  call: string
  decision: string
  nonce: string
  expires: string
  tool: string
  policyHash: string
  state: 'asked' | 'approved' | 'rejected' | 'used' | 'ended'
}

export interface DecisionCounts {
  decided: number
  /** Decisions made in observe mode: written down, not enforced. */
  observed: number
  ran_against_deny: number
  ran_without_approval: number
  other_arguments: number
  ungated: number
  approvals_asked: number
  approvals_used: number
  approvals_rejected: number
  approvals_ended: number
  unauthenticated: number
  /** Answers that an approver signed. */
  signed: number
  /** Answers that were unsigned on purpose. */
  break_glass: number
}

export class Decisions {
  readonly counts: DecisionCounts = {
    decided: 0,
    observed: 0,
    ran_against_deny: 0,
    ran_without_approval: 0,
    other_arguments: 0,
    ungated: 0,
    approvals_asked: 0,
    approvals_used: 0,
    approvals_rejected: 0,
    approvals_ended: 0,
    unauthenticated: 0,
    signed: 0,
    break_glass: 0,
  }
  private readonly calls = new Map<string, Call>()
  private readonly approvals = new Map<string, Approval>()
  private readonly observing = new Set<string>()
  private readonly findings: Findings
  /** False when only a part of a run is shown: what it refers to may lie outside. */
  private readonly all: boolean

  /** Approvers are pinned: an approval that none of them signed does not count. */
  private readonly signedOnly: boolean
  private readonly approvers: Approvers

  constructor(findings: Findings, all: boolean, signedOnly: boolean, approvers: Approvers) {
    this.findings = findings
    this.all = all
    this.signedOnly = signedOnly
    this.approvers = approvers
  }

  take(accepted: Accepted): void {
    const { record } = accepted
    const opened = bodyOf(record, 'run.opened')
    if (opened?.mode === 'observe') this.observing.add(runOf(accepted))
    const decided = bodyOf(record, 'tool.decided')
    if (decided !== null) this.decided(accepted, decided)
    const completed = bodyOf(record, 'tool.completed')
    if (completed !== null) this.completed(accepted, completed)
    const requested = bodyOf(record, 'approval.requested')
    if (requested !== null) this.requested(accepted, requested)
    const answered = bodyOf(record, 'approval.answered')
    if (answered !== null) this.answered(accepted, answered)
    const consumed = bodyOf(record, 'approval.consumed')
    if (consumed !== null) this.consumed(accepted, consumed)
    const expired = bodyOf(record, 'approval.expired')
    if (expired !== null) this.expired(accepted, expired)
  }

  private decided(accepted: Accepted, body: Body<'tool.decided'>): void {
    this.counts.decided++
    if (!body.enforced) this.counts.observed++
    this.calls.set(accepted.leaf64, {
      run: runOf(accepted),
      call: callOf(accepted),
      tool: body.tool,
      decision: body.decision,
      enforced: body.enforced,
      args: commitmentOf(accepted, 'args'),
      uses: 0,
    })
  }

  private completed(accepted: Accepted, body: Body<'tool.completed'>): void {
    if (!RAN.includes(body.status)) return
    const call = body.decision === null ? undefined : this.calls.get(body.decision)
    if (call === undefined) {
      if (this.observing.has(runOf(accepted)) || (body.decision !== null && !this.all)) return
      this.counts.ungated++
      this.findings.add(
        'policy.ungated',
        body.decision === null ? body.tool : `${body.tool}: no such decision`,
        accepted.seq,
      )
      return
    }
    if (!call.enforced) return
    if (call.decision === 'deny') {
      this.counts.ran_against_deny++
      this.findings.add('policy.ran_against_deny', body.tool, accepted.seq)
    }
    if (call.decision === 'ask' && call.uses-- <= 0) {
      this.counts.ran_without_approval++
      this.findings.add('policy.ran_without_approval', body.tool, accepted.seq)
    }
    const args = commitmentOf(accepted, 'args')
    const otherCall = call.run !== runOf(accepted) || call.call !== callOf(accepted)
    if (otherCall || body.tool !== call.tool || (args !== undefined && args !== call.args)) {
      this.counts.other_arguments++
      this.findings.add(
        'policy.other_arguments',
        otherCall ? `${body.tool}: the decision was on another call` : body.tool,
        accepted.seq,
      )
    }
  }

  private requested(accepted: Accepted, body: Body<'approval.requested'>): void {
    if (this.approvals.has(body.approval)) {
      this.add('approval.replayed', accepted, 'asked for twice')
      return
    }
    this.counts.approvals_asked++
    const call = this.calls.get(body.decision)
    if (call === undefined && this.all) this.add('approval.unbound', accepted, 'for a decision that is not there')
    if (call !== undefined) {
      if (call.decision !== 'ask') this.add('approval.unbound', accepted, `for a decision that was ${call.decision}`)
      this.checkPlace(accepted, call)
      const args = commitmentOf(accepted, 'args')
      if (args !== undefined && args !== call.args) this.add('approval.args_mismatch', accepted, body.tool)
    }
    this.approvals.set(body.approval, {
      run: runOf(accepted),
      call: callOf(accepted),
      decision: body.decision,
      nonce: body.nonce,
      expires: body.expires,
      tool: body.tool,
      policyHash: body.policy_hash,
      state: 'asked',
    })
  }

  private answered(accepted: Accepted, body: Body<'approval.answered'>): void {
    if (body.authentication === 'unauthenticated') {
      this.counts.unauthenticated++
      this.add('approval.unauthenticated', accepted, body.answer)
      if (this.signedOnly && body.answer === 'approve') this.add('approval.approver_signature', accepted, 'not signed')
    }
    if (body.authentication === 'signed') this.counts.signed++
    if (body.authentication === 'break_glass') this.counts.break_glass++
    const approval = this.find(accepted, body.approval)
    if (approval === undefined) return
    this.authenticate(accepted, body, approval)
    this.checkPlace(accepted, approval)
    if (body.nonce !== approval.nonce) this.add('approval.unbound', accepted, 'another nonce')
    if (approval.state === 'ended') {
      this.add('approval.expired', accepted, 'answered after it had ended')
      return
    }
    if (approval.state !== 'asked') {
      this.add('approval.replayed', accepted, 'answered twice')
      return
    }
    approval.state = body.answer === 'approve' ? 'approved' : 'rejected'
    if (body.answer === 'reject') this.counts.approvals_rejected++
  }

  /** The signature is over what was asked: the binding is put together from the records, so none of it can differ. */
  private authenticate(accepted: Accepted, body: Body<'approval.answered'>, approval: Approval): void {
    const { run, call } = accepted.record
    const { decision, tool, policyHash, nonce, expires } = approval
    const binding = {
      run: run?.id ?? '',
      call: call?.id ?? '',
      attempt: call?.attempt ?? 0,
      tool,
      args: this.calls.get(decision)?.args ?? null,
      decision,
      policy_hash: policyHash,
      nonce,
      expires,
    }
    const signer = this.approvers.authenticate(body, answerMessage(body.answer, binding), accepted.seq)
    if (signer !== null) this.approvers.answered(signer, accepted.seq)
  }

  private consumed(accepted: Accepted, body: Body<'approval.consumed'>): void {
    const approval = this.find(accepted, body.approval)
    if (approval === undefined) return
    this.checkPlace(accepted, approval)
    if (body.nonce !== approval.nonce || body.decision !== approval.decision) {
      this.add('approval.unbound', accepted, 'another nonce or decision than was asked about')
    }
    const refusal = refuseUse(approval, accepted.record.time)
    if (refusal !== null) {
      this.add(refusal[0], accepted, refusal[1])
      return
    }
    approval.state = 'used'
    this.counts.approvals_used++
    const call = this.calls.get(approval.decision)
    if (call !== undefined) call.uses++
  }

  private expired(accepted: Accepted, body: Body<'approval.expired'>): void {
    const approval = this.find(accepted, body.approval)
    if (approval === undefined) return
    this.checkPlace(accepted, approval)
    if (approval.state === 'used') return
    approval.state = 'ended'
    this.counts.approvals_ended++
  }

  private find(accepted: Accepted, id: string): Approval | undefined {
    const approval = this.approvals.get(id)
    if (approval === undefined && this.all) this.add('approval.unknown', accepted, accepted.record.type)
    return approval
  }

  /** The record must lie in the run and call that the other one names; what it does not say can't be wrong. */
  private checkPlace(accepted: Accepted, other: { run: string; call: string }): void {
    if (accepted.record.run !== undefined && runOf(accepted) !== other.run)
      this.add('approval.wrong_run', accepted, runOf(accepted))
    if (accepted.record.call !== undefined && callOf(accepted) !== other.call)
      this.add('approval.wrong_call', accepted, callOf(accepted))
  }

  private add(code: Code, { seq }: Accepted, note: string): void {
    this.findings.add(code, note, seq)
  }
}

/** Why an approval can't be used now, or null. */
function refuseUse({ state, expires }: Approval, time: string): [Code, string] | null {
  if (state === 'used') return ['approval.replayed', 'used twice']
  if (state === 'ended' || Date.parse(time) > Date.parse(expires) + USE_GRACE_MS) return ['approval.expired', expires]
  return state === 'approved' ? null : ['approval.not_approved', state]
}

const runOf = ({ record }: Accepted) => (record.run === undefined ? '' : `${record.run.id}/${record.run.part}`)

const callOf = ({ record }: Accepted) => (record.call === undefined ? '' : `${record.call.id}/${record.call.attempt}`)

const commitmentOf = ({ record }: Accepted, name: string) => record.commit?.find(({ n }) => n === name)?.c
