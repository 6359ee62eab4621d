// Held calls: what is recorded of an approval and who waits for it, in one place. Every hold ends with a record, exactly once, and
// nobody hears an answer before that record is on disk.
import { type Answer, answerMessage } from '../conventions/approval.ts'
import type { Claim } from '../conventions/claim.ts'
import type { Refusal } from '../conventions/decision.ts'
import type { HookAnswer } from '../conventions/wire.ts'
import { Approvers, type Given, type Outcome, refused } from './approvers.ts'
import { Holds } from './holds.ts'
import {
  answerApproval,
  bindingOf,
  consumeApproval,
  type ExpiryReason,
  expireApproval,
  HOLD_MS,
  presentedProblem,
  refuseAnswer,
  refusePresented,
  requestApproval,
} from './record/approvals.ts'
import type { Context, Reporter } from './record/context.ts'
import type { Call, Run } from './record/state.ts'

/** Runs a recording function and resolves with its result once all it recorded is on disk. */
export type Write = <T>(make: () => T) => Promise<T>

export interface ApprovalsOptions {
  context: Context
  write: Write
  /** Milliseconds since 1970. */
  now: () => number
  /** A hold's end could not be recorded; the call was blocked. */
  onFault: (error: unknown) => void
}

/** Who asks about a call, as the door it came by knows it. */
export type Asker = Pick<Reporter, 'kind' | 'adapter'>

const PASS: HookAnswer = { kind: 'pass' }

export class Approvals {
  private readonly holds = new Holds((id, reason) => this.lapse(id, reason))
  readonly approvers: Approvers
  private readonly options: ApprovalsOptions

  constructor(options: ApprovalsOptions) {
    this.options = options
    this.approvers = new Approvers(options.context, options.write)
  }

  /** Calls that wait for a person now. */
  get pending(): number {
    return this.holds.pending().length
  }

  /** Asks a person about a call that was just decided; who asked about it is told to wait. */
  hold(run: Run, call: Call, policyHash: string, asker: Asker): void {
    const { context, now } = this.options
    this.holds.open(requestApproval(context, run, call, policyHash, now()).id, nameOf(asker), HOLD_MS)
  }

  /** True while a hook may still come for the answer of this hold: only then is a repeat of the call the same question. */
  isOpen(id: string): boolean {
    return this.holds.has(id)
  }

  /** Waits for the answer to a hold. Null when nothing is held by that id (any more) for this asker: the call may not run. */
  async wait(id: string, asker: Asker, gone: AbortSignal): Promise<HookAnswer | null> {
    if (!this.holds.isOf(id, nameOf(asker))) return null
    const waiting = this.holds.wait(id, gone)
    if (this.options.context.state.approvals.get(id)?.state === 'approved') await this.letThrough(id)
    return waiting
  }

  /** A person's answer. What does not count is refused, and recorded at the call that waits. */
  async answer(id: string, answer: Answer, given: Given = {}): Promise<Outcome> {
    const { context, write, now } = this.options
    const binding = bindingOf(context.state, id)
    if (binding === null || context.state.approvals.get(id)?.state !== 'pending') return refused(404, gone(id))
    const proof = this.approvers.prove(answerMessage(answer, binding), given)
    if (proof === 'unsigned' || proof === 'signature') {
      await write(() => refuseAnswer(context, id, proof))
      return refused(403, UNPROVEN[proof])
    }
    if (!(await write(() => answerApproval(context, id, answer, proof, now())))) return refused(404, gone(id))
    if (answer === 'approve' && this.holds.isWaited(id)) await this.letThrough(id)
    if (answer === 'reject') {
      this.end(
        id,
        `A person rejected this call (approval ${id}). Do not try it again in another way; ask what to do instead.`,
      )
    }
    return { ok: true }
  }

  /** A call that comes with an approval: let through if it is for exactly this and was not used. Records; its caller makes it durable. */
  present(run: Run, claim: Claim, id: string, same: Call | undefined): HookAnswer {
    const { context, now } = this.options
    const used = presentedProblem(context, run, claim, id, same)
    if (used === null && consumeApproval(context, id, now())) return PASS
    const kind = used ?? 'expired'
    refusePresented(context, run, claim, id, kind)
    return { kind: 'block', text: `The approval ${id} is not for this call now (${REFUSED[kind]}), so it may not run.` }
  }

  /** Ends every hold and every approval that was never used: no late answer lets anything through. */
  async endAll(): Promise<void> {
    const { context, write } = this.options
    await write(() => {
      for (const id of [...context.state.approvals.keys()]) expireApproval(context, id, 'restart')
    })
    for (const id of this.holds.pending()) {
      this.end(id, 'The collector stopped while this call waited for a person, so it may not run. Try it again.')
    }
  }

  /** Tells whoever waits for an approval that ended in the records for another reason (its turn is over, another attempt came). */
  settle(): void {
    for (const id of this.holds.pending()) {
      if (this.options.context.state.approvals.has(id)) continue
      this.end(id, `This call is not waited for any more (approval ${id}), so it may not run.`)
    }
  }

  /** Uses an approval up and lets the held call go, once that is on disk. */
  private async letThrough(id: string): Promise<void> {
    const { context, write, now } = this.options
    if (await write(() => consumeApproval(context, id, now()))) this.holds.end(id, PASS)
  }

  private lapse(id: string, reason: ExpiryReason & ('timeout' | 'abandoned')): void {
    const { context, write, onFault } = this.options
    write(() => expireApproval(context, id, reason))
      .catch(onFault)
      .finally(() =>
        this.end(
          id,
          `Nobody approved this call in time (approval ${id}, ${reason}), so it did not run. Ask the person, then try again.`,
        ),
      )
  }

  private end(id: string, text: string): void {
    this.holds.end(id, { kind: 'block', text })
  }
}

/** Hooks of all agents share a socket, and a call may come by two of them; each program that has a credential of its own is another. */
const nameOf = ({ kind, adapter }: Asker) => (kind === 'hook' ? kind : `${kind} ${adapter}`)

const gone = (id: string) => `no call waits for ${id} (any more)`

const UNPROVEN = {
  unsigned: 'there are approvers, so one of them must sign the answer (--key), or --break-glass REASON says why not',
  signature: 'the signature is by no approver, or over another answer, call or arguments',
} as const

const REFUSED: Readonly<Record<Refusal, string>> = {
  unknown: 'nobody was asked for it',
  replayed: 'it was used before',
  not_approved: 'nobody has approved it',
  rejected: 'it was rejected',
  expired: 'its time is over',
  wrong_run: 'it is of another run',
  wrong_call: 'it is of another call',
  args_mismatch: 'it is for other arguments, or another policy',
  unsigned: 'no approver signed',
  signature: 'no approver signed',
}
