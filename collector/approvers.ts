// Who may answer asks, and whether what somebody gave is an answer by one of them. Signatures are checked under the verifier's strict
// profile, so that nothing is let through here that a verification calls wrong later.

import {
  type Approver,
  type ApproverChange,
  type ApproverSignature,
  changeMessage,
  signedBytes,
} from '../conventions/approval.ts'
import { fromBase64, toHex } from '../conventions/bytes.ts'
import type { Refusal } from '../conventions/decision.ts'
import type { Write } from './approvals.ts'
import type { Proof } from './record/approvals.ts'
import { approverChanged } from './record/approvers.ts'
import type { Context } from './record/context.ts'
import { sha256, sha512 } from './verify/crypto.ts'
import { ed25519KeyOfSpki, verifyEd25519 } from './verify/ed25519.ts'

/** More approvers than a team has; each is shown in every report. */
const MAX_APPROVERS = 100

/** What came with an answer or a change: a signature, a reason to do without, or nothing. */
export interface Given {
  signature?: ApproverSignature | undefined
  break_glass?: string | undefined
}

/** What came of it. `status`: of HTTP. */
export type Outcome = { ok: true } | { ok: false; status: 403 | 404 | 409; error: string }

export const refused = (status: 403 | 404 | 409, error: string): Outcome => ({ ok: false, status, error })

export class Approvers {
  private readonly context: Context
  private readonly write: Write

  constructor(context: Context, write: Write) {
    this.context = context
    this.write = write
  }

  /** Those that may answer, and the leaf that the next change must name. */
  list(): { approvers: Approver[]; after: string } {
    const { approvers, approversLeaf } = this.context.state
    return { approvers: [...approvers.values()], after: approversLeaf }
  }

  /** What `given` proves about `message`, or why it proves too little: unsigned although there are approvers, or by none of them. */
  prove(message: Uint8Array, { signature, break_glass }: Given): Proof | (Refusal & ('unsigned' | 'signature')) {
    const { approvers } = this.context.state
    if (signature !== undefined) {
      const approver = approvers.get(signature.approver)
      const valid = approver !== undefined && isSignedBy(approver, message, signature)
      return valid ? { authentication: 'signed', signature } : 'signature'
    }
    if (approvers.size === 0) return { authentication: 'unauthenticated' }
    return break_glass === undefined ? 'unsigned' : { authentication: 'break_glass', reason: break_glass }
  }

  /** Adds or removes one. The first may come unsigned; every report says so. */
  async change(change: ApproverChange, given: Given): Promise<Outcome> {
    const problem = this.problemOf(change)
    if (problem !== null) return problem
    const proof = this.prove(changeMessage(change), given)
    if (proof === 'unsigned')
      return refused(
        403,
        'there are approvers, so one of them must sign this; without any key left: --break-glass REASON',
      )
    if (proof === 'signature') return refused(403, 'the signature is by no approver, or over something else')
    await this.write(() => approverChanged(this.context, change, proof))
    return { ok: true }
  }

  private problemOf(change: ApproverChange): Outcome | null {
    const { approvers, approversLeaf } = this.context.state
    if (change.after !== approversLeaf) return refused(409, 'the approvers were changed meanwhile; try again')
    if (change.action === 'remove')
      return approvers.has(change.kid) ? null : refused(404, `${change.kid} is no approver`)
    const der = fromBase64(change.spki)
    if (der === null || ed25519KeyOfSpki(der) === null || change.kid !== `sha256:${toHex(sha256(der))}`)
      return refused(409, 'spki is not the Ed25519 key that kid names')
    if ((change.kind === 'passphrase') !== (change.application === undefined))
      return refused(409, 'application is what a security key signs for; others have none')
    if (approvers.has(change.kid) || [...approvers.values()].some(({ name }) => name === change.name))
      return refused(409, 'there is an approver of that key or name')
    return approvers.size < MAX_APPROVERS ? null : refused(409, `there are ${MAX_APPROVERS} approvers already`)
  }
}

function isSignedBy(approver: Approver, message: Uint8Array, signature: ApproverSignature): boolean {
  const der = fromBase64(approver.spki)
  const key = der === null ? null : ed25519KeyOfSpki(der)
  const bytes = signedBytes(approver, message, signature, { sha256, sha512 })
  const raw = fromBase64(signature.signature)
  return key !== null && bytes !== null && raw !== null && verifyEd25519(key, bytes, raw)
}
