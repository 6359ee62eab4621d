// Held calls: what is recorded of an approval and who waits for it, in one place. Every hold ends with a record, exactly once, and
// nobody hears an answer before that record is on disk.
import type { HookAnswer } from '../conventions/wire.ts'
import { Holds } from './holds.ts'
import {
  answerApproval,
  consumeApproval,
  type ExpiryReason,
  expireApproval,
  HOLD_MS,
  requestApproval,
} from './record/approvals.ts'
import type { Context } from './record/context.ts'
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

const PASS: HookAnswer = { kind: 'pass' }

export class Approvals {
  private readonly holds = new Holds((id, reason) => this.lapse(id, reason))
  private readonly options: ApprovalsOptions

  constructor(options: ApprovalsOptions) {
    this.options = options
  }

  /** Calls that wait for a person now. */
  get pending(): number {
    return this.holds.pending().length
  }

  /** Asks a person about a call that was just decided; the asking hook is told to wait. */
  hold(run: Run, call: Call, policyHash: string): void {
    const { context, now } = this.options
    this.holds.open(requestApproval(context, run, call, policyHash, now()).id, HOLD_MS)
  }

  /** True while a hook may still come for the answer of this hold: only then is a repeat of the call the same question. */
  isOpen(id: string): boolean {
    return this.holds.has(id)
  }

  /** Waits for the answer to a hold. Null when nothing is held by that id (any more): the call may not run. */
  async wait(id: string, gone: AbortSignal): Promise<HookAnswer | null> {
    if (!this.holds.has(id)) return null
    const waiting = this.holds.wait(id, gone)
    if (this.options.context.state.approvals.get(id)?.state === 'approved') await this.letThrough(id)
    return waiting
  }

  /** A person's answer. False when nothing by that id waits. */
  async answer(id: string, answer: 'approve' | 'reject'): Promise<boolean> {
    const { context, write, now } = this.options
    if (!(await write(() => answerApproval(context, id, answer, now())))) return false
    if (answer === 'approve' && this.holds.isWaited(id)) await this.letThrough(id)
    if (answer === 'reject') {
      this.end(
        id,
        `A person rejected this call (approval ${id}). Do not try it again in another way; ask what to do instead.`,
      )
    }
    return true
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
