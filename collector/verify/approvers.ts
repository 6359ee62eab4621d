// Who might answer, record by record: approvers that the log adds and removes, each vouched for by one before it or by the trust file.
import {
  type Approver,
  type ApproverChange,
  type ApproverSignature,
  changeMessage,
  signedBytes,
} from '../../conventions/approval.ts'
import { fromBase64, toHex } from '../../conventions/bytes.ts'
import type { Body } from '../../conventions/record.ts'
import type { Accepted } from './chain.ts'
import { sha256, sha512 } from './crypto.ts'
import { type Ed25519Key, ed25519KeyOfSpki, verifyEd25519 } from './ed25519.ts'
import type { Findings } from './findings.ts'
import { bodyOf } from './read-record.ts'
import type { Trust } from './trust.ts'

/** Approvers of one log that are followed. Others are taken for unknown: a made-up log could hold any number. */
const MAX_APPROVERS = 10_000

/** An approver as a report shows it. */
export interface ListedApprover {
  name: string
  kind: Approver['kind']
  kid: string
  /** Record that added it, and the one that removed it. */
  added: number
  removed: number | null
  /** Who vouched for it: the trust file, an approver before it, or nobody. */
  vouched: 'pinned' | 'approver' | 'nobody'
  /** Answers it signed. */
  answers: number
}

type Signer = Pick<Body<'approver.removed'>, 'authentication' | keyof ApproverSignature>

interface Known {
  approver: Approver
  key: Ed25519Key
  listed: ListedApprover
}

export class Approvers {
  private readonly known: Known[] = []
  private readonly pinned: ReadonlySet<string>
  private readonly findings: Findings
  /** What the next change must name. */
  private after: string

  /** `genesis`: leaf of the log's first record. */
  constructor(findings: Findings, trust: Trust, genesis: string) {
    this.findings = findings
    this.pinned = new Set(trust.approvers.map(({ spki }) => kidOf(spki)))
    this.after = genesis
  }

  list(): ListedApprover[] {
    return this.known.map(({ listed }) => listed)
  }

  /** Takes a change; anything else is passed over. */
  take(accepted: Accepted): void {
    const { record, leaf64, seq } = accepted
    const added = bodyOf(record, 'approver.added')
    const removed = bodyOf(record, 'approver.removed')
    const body = added ?? removed
    if (body === null) return
    if (body.after !== this.after)
      this.findings.add('approval.unbound', 'a change of approvers that does not follow the last one', seq)
    this.after = leaf64
    if (removed !== null) {
      this.authenticate(removed, changeMessage({ action: 'remove', after: removed.after, kid: removed.kid }), seq)
      const standing = this.standing(removed.kid)
      if (standing !== undefined) standing.listed.removed = seq
    }
    if (added !== null) this.add(added, seq)
  }

  /** Judges how an answer or a change is signed. */
  authenticate(body: Signer, message: Uint8Array, seq: number): Known | null {
    const { authentication, approver = '' } = body
    if (authentication === 'break_glass') this.findings.add('approval.break_glass', 'unsigned, for a reason', seq)
    if (authentication === 'unauthenticated' && this.known.some(({ listed }) => listed.removed === null))
      this.findings.add('approval.approver_signature', 'not signed, though there were approvers', seq)
    if (authentication !== 'signed') return null
    const signer = this.standing(approver)
    if (signer === undefined || !isSignedBy(signer, message, body)) {
      this.findings.add('approval.approver_signature', signer === undefined ? 'by no approver' : 'not over this', seq)
      return null
    }
    return signer
  }

  /** Counts an answer. Where approvers are pinned, only one that they vouch for counts. */
  answered(signer: Known, seq: number): void {
    signer.listed.answers++
    if (this.pinned.size > 0 && signer.listed.vouched === 'nobody')
      this.findings.add('approval.approver_signature', `no pinned approver vouches for ${signer.approver.name}`, seq)
  }

  private add(body: Body<'approver.added'>, seq: number): void {
    const { after, kid, name, kind, spki, application } = body
    const change: ApproverChange = { action: 'add', after, kid, name, kind, spki, application }
    const signer = this.authenticate(body, changeMessage(change), seq)
    const der = fromBase64(spki)
    const key = der === null ? null : ed25519KeyOfSpki(der)
    if (der === null || key === null || kidOf(der) !== kid || this.known.length >= MAX_APPROVERS) return
    const pinned = this.pinned.has(kid)
    const vouched = pinned ? 'pinned' : signer !== null && signer.listed.vouched !== 'nobody' ? 'approver' : 'nobody'
    const listed: ListedApprover = { name, kind, kid, added: seq, removed: null, vouched, answers: 0 }
    if (!pinned) this.findings.add('approval.approver_not_pinned', `${name} (${kind})`, seq)
    this.known.push({ approver: { kid, name, kind, spki, application }, key, listed })
  }

  private standing(kid: string): Known | undefined {
    return this.known.find(({ listed }) => listed.kid === kid && listed.removed === null)
  }
}

function isSignedBy({ approver, key }: Known, message: Uint8Array, { signature, flags, counter }: Signer): boolean {
  const raw = fromBase64(signature ?? '')
  const bytes = signedBytes(approver, message, { flags, counter }, { sha256, sha512 })
  return raw !== null && bytes !== null && verifyEd25519(key, bytes, raw)
}

const kidOf = (spki: Uint8Array) => `sha256:${toHex(sha256(spki))}`
