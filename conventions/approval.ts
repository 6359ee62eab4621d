// What an approver signs, as bytes. Hashing and signing are left to the caller, so that a browser can use the same contract.
// Two forms: Ed25519 over the message itself (a key behind a passphrase), and SSHSIG by a FIDO security key
// (OpenSSH PROTOCOL.sshsig and PROTOCOL.u2f), whose device adds its application, flags and counter.
import { canonicalBytes } from './jcs.ts'
import { concat, preAuthEncoding } from './signing.ts'

/** DSSE payload types: an answer to an ask, and a change of who may answer. Neither passes for the other, or for a record. */
const APPROVAL_TYPE = 'application/vnd.spanseal.approval.v1+json'
const APPROVER_TYPE = 'application/vnd.spanseal.approver.v1+json'

/** SSHSIG namespace of both. */
export const SSH_NAMESPACE = 'spanseal-approval'

/** The one hash of SSHSIG that is taken: what ssh-keygen uses unless told otherwise. */
const SSH_HASH = 'sha512'

/** Bit of a security key's flags: somebody touched it. */
const USER_PRESENT = 0x01

/** passphrase: a file, so a person who types and a program that watches are told apart by nothing. sk-ssh-ed25519: a device that was touched. */
export const APPROVER_KINDS = ['passphrase', 'sk-ssh-ed25519'] as const
export type ApproverKind = (typeof APPROVER_KINDS)[number]

export interface Approver {
  /** `sha256:` and hex SHA-256 of the SPKI. */
  kid: string
  /** Base64 SPKI of the Ed25519 key. */
  spki: string
  name: string
  kind: ApproverKind
  /** Of a security key: what it signs for, `ssh:` unless chosen otherwise. */
  application?: string | undefined
}

export type Answer = 'approve' | 'reject'

/** What an answer is for, exactly. */
export interface Binding {
  /** Run id, 32 hex. */
  run: string
  call: string
  attempt: number
  tool: string
  /** The decision's commitment to the arguments, base64; null where it has none. */
  args: string | null
  /** Leaf of the decision, base64: it stands for the whole history before it, too. */
  decision: string
  policy_hash: string
  nonce: string
  /** ISO, UTC, milliseconds. */
  expires: string
}

/** A change of who may answer. `after`: leaf of the last such change, or of the log's first record: it can't be said twice. */
export type ApproverChange =
  | ({ action: 'add'; after: string } & Approver)
  | { action: 'remove'; after: string; kid: string }

/** A signature as records hold it. `flags` and `counter` come from a security key. */
export interface ApproverSignature {
  approver: string
  /** Base64 Ed25519 signature. */
  signature: string
  flags?: number | undefined
  counter?: number | undefined
}

/** The message of an answer: reject and approve differ in it, so neither can be replayed as the other. */
export function answerMessage(answer: Answer, binding: Binding): Uint8Array {
  const { run, call, attempt, tool, args, decision, policy_hash, nonce, expires } = binding
  const exact = { run, call, attempt, tool, args, decision, policy_hash, nonce, expires }
  return preAuthEncoding(APPROVAL_TYPE, canonicalBytes({ answer, binding: exact }))
}

/** The message of a change. */
export function changeMessage(change: ApproverChange): Uint8Array {
  const { action, after, kid } = change
  if (action === 'remove') return preAuthEncoding(APPROVER_TYPE, canonicalBytes({ action, after, kid }))
  const { name, kind, spki, application } = change
  const added = { action, after, kid, name, kind, spki, ...(application === undefined ? {} : { application }) }
  return preAuthEncoding(APPROVER_TYPE, canonicalBytes(added))
}

export interface Hashes {
  sha256: (bytes: Uint8Array) => Uint8Array
  sha512: (bytes: Uint8Array) => Uint8Array
}

/** What the Ed25519 signature of `approver` covers when it signs `message`; null when its flags say that nobody was there, or are not of its kind. */
export function signedBytes(
  { kind, application }: Pick<Approver, 'kind' | 'application'>,
  message: Uint8Array,
  { flags, counter }: Pick<ApproverSignature, 'flags' | 'counter'>,
  hashes: Hashes,
): Uint8Array | null {
  if (kind === 'passphrase') return flags === undefined && counter === undefined ? message : null
  if (application === undefined || flags === undefined || counter === undefined) return null
  if ((flags & USER_PRESENT) === 0) return null
  return securityKeyBytes(application, flags, counter, sshSignedData(message, hashes), hashes)
}

/** SSHSIG: what a key signs for a message under our namespace. */
export function sshSignedData(message: Uint8Array, { sha512 }: Pick<Hashes, 'sha512'>): Uint8Array {
  return concat(text('SSHSIG'), ...[text(SSH_NAMESPACE), text(''), text(SSH_HASH), sha512(message)].map(sshString))
}

/** What a FIDO device signs for OpenSSH. */
function securityKeyBytes(
  application: string,
  flags: number,
  counter: number,
  data: Uint8Array,
  { sha256 }: Pick<Hashes, 'sha256'>,
): Uint8Array {
  return concat(sha256(text(application)), Uint8Array.of(flags), uint32(counter), sha256(data))
}

/** A length as four bytes, then the bytes. */
export function sshString(bytes: Uint8Array): Uint8Array {
  return concat(uint32(bytes.length), bytes)
}

function uint32(value: number): Uint8Array {
  const out = new Uint8Array(4)
  new DataView(out.buffer).setUint32(0, value)
  return out
}

const UTF8 = new TextEncoder()
const text = (value: string) => UTF8.encode(value)
