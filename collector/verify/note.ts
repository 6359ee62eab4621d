// Signed notes, verifier keys and checkpoints as C2SP specifies them (c2sp.org/signed-note, c2sp.org/tlog-checkpoint), read strictly:
// one spelling of each value, and a known key that signs twice is refused.
import { fromBase64, toHex } from '../../conventions/bytes.ts'
import { concat } from '../../conventions/signing.ts'
import { sha256 } from './crypto.ts'
import { type Ed25519Key, ed25519Key, verifyEd25519 } from './ed25519.ts'

/** Bytes. A checkpoint with a hundred cosignatures stays below. */
export const MAX_NOTE_BYTES = 64 * 1024
/** Lines. The specification asks for at least 16. */
const MAX_SIGNATURES = 128
const KEY_ID_BYTES = 4
/** Signature types: plain Ed25519, and a witness's timestamped Ed25519 cosignature. */
const ED25519 = 0x01
const COSIGNATURE = 0x04
/** Bytes of a cosignature's big-endian time, before the signature. */
const TIME_BYTES = 8

const UTF8 = new TextEncoder()
const KEY_NAME = /^[^\s+\p{Cc}]+$/u
const UINT64 = /^(?:0|[1-9][0-9]{0,19})$/
const MAX_UINT64 = (1n << 64n) - 1n

/** A verifier key: who (name), which (key id), of what type, and the key. Types this version can't check have no key. */
export interface VerifierKey {
  text: string
  name: string
  id: string
  type: number
  key: Ed25519Key | null
}

export interface NoteSignature {
  name: string
  id: string
  /** What follows the four bytes of the key id. */
  signature: Uint8Array
}

export interface Note {
  /** Everything that is signed, with its final line feed. */
  text: string
  signatures: NoteSignature[]
}

export interface Checkpoint {
  origin: string
  size: bigint
  root: Uint8Array
  extensions: string[]
}

/** Key id of a signed-note key: SHA-256(name, LF, type, key), first four bytes. */
export function keyId(name: string, type: number, publicKey: Uint8Array): string {
  return toHex(sha256(concat(UTF8.encode(`${name}\n`), Uint8Array.of(type), publicKey)).subarray(0, KEY_ID_BYTES))
}

/** Reads `<name>+<hex id>+<base64 type and key>`; null when it is malformed or its id is not the one of its key. */
export function parseVerifierKey(text: string): VerifierKey | null {
  const match = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text)
  const [, name = '', id = '', encoded = ''] = match ?? []
  const bytes = fromBase64(encoded)
  const type = bytes?.[0]
  if (!KEY_NAME.test(name) || bytes === null || type === undefined) return null
  const publicKey = bytes.subarray(1)
  if (keyId(name, type, publicKey) !== id) return null
  if (type !== ED25519 && type !== COSIGNATURE) return { text, name, id, type, key: null }
  if (publicKey.length !== 32) return null
  return { text, name, id, type, key: ed25519Key(publicKey) }
}

/** Splits a note into its text and signature lines; null when it is malformed. */
export function parseNote(note: string): Note | null {
  if (note.length > MAX_NOTE_BYTES || !note.isWellFormed() || /[^\P{Cc}\n]/u.test(note)) return null
  const split = note.lastIndexOf('\n\n')
  if (split < 0 || !note.endsWith('\n')) return null
  const lines = note.slice(split + 2, -1).split('\n')
  if (lines.length > MAX_SIGNATURES) return null
  const signatures: NoteSignature[] = []
  for (const line of lines) {
    const match = /^— ([^ ]+) ([^ ]+)$/.exec(line)
    const [, name = '', encoded = ''] = match ?? []
    const bytes = fromBase64(encoded)
    if (!KEY_NAME.test(name) || bytes === null || bytes.length <= KEY_ID_BYTES) return null
    signatures.push({ name, id: toHex(bytes.subarray(0, KEY_ID_BYTES)), signature: bytes.subarray(KEY_ID_BYTES) })
  }
  return { text: note.slice(0, split + 1), signatures }
}

export type NoteCheck = { ok: true; signers: { key: VerifierKey; time?: bigint }[] } | { ok: false; reason: string }

/** Checks every signature by a known key; lines of other keys are passed over. Fails when there is none, or one is wrong. */
export function verifyNote(note: Note, known: readonly VerifierKey[]): NoteCheck {
  const signers: { key: VerifierKey; time?: bigint }[] = []
  for (const line of note.signatures) {
    const key = known.find((candidate) => candidate.name === line.name && candidate.id === line.id)
    if (key === undefined) continue
    if (signers.some((signer) => signer.key === key)) return { ok: false, reason: `${key.name} signed it twice` }
    const time = checkLine(note.text, line, key)
    if (time === null) return { ok: false, reason: `the signature of ${key.name} is wrong` }
    signers.push(time === undefined ? { key } : { key, time })
  }
  return signers.length > 0 ? { ok: true, signers } : { ok: false, reason: 'no known key signed it' }
}

/** The time of a valid cosignature, undefined for a valid plain signature, null when it is not valid. */
function checkLine(text: string, line: NoteSignature, known: VerifierKey): bigint | undefined | null {
  if (known.key === null) return null
  if (known.type === ED25519) return verifyEd25519(known.key, UTF8.encode(text), line.signature) ? undefined : null
  if (line.signature.length <= TIME_BYTES) return null
  const view = new DataView(line.signature.buffer, line.signature.byteOffset, TIME_BYTES)
  const time = view.getBigUint64(0)
  const message = UTF8.encode(`cosignature/v1\ntime ${time}\n${text}`)
  return verifyEd25519(known.key, message, line.signature.subarray(TIME_BYTES)) ? time : null
}

/** Reads a note's text as a checkpoint: origin, decimal size, base64 root of 32 bytes, then any non-empty lines. */
export function parseCheckpoint(text: string): Checkpoint | null {
  if (!text.endsWith('\n')) return null
  const [origin = '', size = '', encoded = '', ...extensions] = text.slice(0, -1).split('\n')
  const root = fromBase64(encoded)
  if (origin === '' || !UINT64.test(size) || root?.length !== 32 || extensions.includes('')) return null
  const number = BigInt(size)
  return number > MAX_UINT64 ? null : { origin, size: number, root, extensions }
}
