// Frames of the log and vault segments: how a record, and a piece of content, lie on disk.
//
//   frame  = u32le payload length | u32le CRC-32 of the payload | payload
//   log    : payload = kid (32 bytes) | Ed25519 signature (64 bytes) | record bytes
//   vault  : payload = u16le head length | head (canonical JSON) | content bytes, or zeros where they were erased
//
// Log frames that were written and synced together are a group. All but its first have the top bit of the length set, the frame's
// place in the group in the seven bits below it, and the length in the 24 bits left; their CRC goes on from that top byte, not from 0.
// So every whole frame says where its group began, and what a power cut left of a group can be told from damage (torn.ts).
//
// The CRC finds torn writes; it proves nothing. A segment file is frames and nothing else.
import { canonicalBytes } from './jcs.ts'
import { parseStrict } from './strict-json.ts'

/** Bytes before the payload. */
export const FRAME_HEAD = 8
const NOTHING = new Uint8Array(0)
/** Bytes before the record in a log frame's payload. */
const LOG_HEAD = 96

/** Frames a group may have: what seven bits can count. Also bounds how long the first record of a group waits for its sync. */
export const MAX_GROUP_FRAMES = 128
/** Top bit of the length: a place follows. */
const HAS_PLACE = 0x8000_0000
const PLACE_SHIFT = 24
const LENGTH_BITS = 0xff_ffff
/** Bytes. More than any log payload has; a longer one with a place is no head of ours. */
const MAX_PLACED_PAYLOAD = 0x1_ffff

/** CRC-32 (IEEE 802.3) of the bytes as an unsigned number, going on from `value`. Node: `zlib.crc32`. */
export type Crc32 = (bytes: Uint8Array, value?: number) => number

export interface SignedRecord {
  /** SHA-256 of the signing key's SPKI, 32 bytes. */
  kid: Uint8Array
  /** Ed25519 signature over the DSSE PAE of the record bytes, 64 bytes. */
  signature: Uint8Array
  /** Canonical record bytes. */
  record: Uint8Array
}

/**
 * Head of a vault frame. `dropped`: the content was not kept (redaction), only its salt. Salt is 64 hex characters. `erased`: number of
 * the record that took content and salt away; the salt is then empty, and zeros stand where the content was.
 */
export interface VaultHead {
  seq: number
  name: string
  salt: string
  dropped?: true
  erased?: number
}

export interface VaultEntry {
  head: VaultHead
  content: Uint8Array
}

/** Outcome of reading the frame at `offset`: the payload and where the next frame starts, the end, or why it can't be read. */
export type FrameRead =
  | { kind: 'frame'; payload: Uint8Array; place: number; next: number }
  | { kind: 'end' }
  | { kind: 'torn' }
  | { kind: 'corrupt' }

/** First word of a frame, and what its CRC goes on from. `place`: frames before it in its group. Throws RangeError when either can't be written. */
export function frameWord(length: number, place: number): { word: number; seed: number } {
  if (place >= MAX_GROUP_FRAMES || (place > 0 && length > MAX_PLACED_PAYLOAD)) {
    throw new RangeError(`a frame of ${length} bytes can't have place ${place}`)
  }
  if (place === 0) return { word: length, seed: 0 }
  return { word: HAS_PLACE + place * 2 ** PLACE_SHIFT + length, seed: HAS_PLACE / 2 ** PLACE_SHIFT + place }
}

/** Head of a frame, for a payload that is written in pieces. */
export function encodeFrameHead(word: number, crc: number): Uint8Array {
  const out = new Uint8Array(FRAME_HEAD)
  const view = new DataView(out.buffer)
  view.setUint32(0, word, true)
  view.setUint32(4, crc, true)
  return out
}

/** One frame around the payload. As `frameWord`. */
export function encodeFrame(payload: Uint8Array, crc32: Crc32, place = 0): Uint8Array {
  const { word, seed } = frameWord(payload.length, place)
  const out = new Uint8Array(FRAME_HEAD + payload.length)
  out.set(encodeFrameHead(word, crc32(payload, seed)))
  out.set(payload, FRAME_HEAD)
  return out
}

/** Bytes of the payload of the frame at `offset`, as its first four bytes say. */
export function payloadLength(bytes: Uint8Array, offset: number): number {
  const word = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(offset, true)
  return word < HAS_PLACE || (word & LENGTH_BITS) > MAX_PLACED_PAYLOAD ? word : word & LENGTH_BITS
}

/** Reads the frame at `offset`. `torn`: the bytes end inside it; `corrupt`: it is whole but its checksum is another. */
export function readFrame(bytes: Uint8Array, offset: number, crc32: Crc32): FrameRead {
  if (offset === bytes.length) return { kind: 'end' }
  if (offset + FRAME_HEAD > bytes.length) return { kind: 'torn' }
  const next = offset + FRAME_HEAD + payloadLength(bytes, offset)
  if (next > bytes.length) return { kind: 'torn' }
  const payload = bytes.subarray(offset + FRAME_HEAD, next)
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, FRAME_HEAD)
  const top = view.getUint8(3) < 0x80 ? 0 : view.getUint8(3)
  if (crc32(payload, top) !== view.getUint32(4, true)) return { kind: 'corrupt' }
  return { kind: 'frame', payload, place: top & 0x7f, next }
}

/** Payload of a log frame. */
export function encodeLogPayload({ kid, signature, record }: SignedRecord): Uint8Array {
  const out = new Uint8Array(LOG_HEAD + record.length)
  out.set(kid, 0)
  out.set(signature, 32)
  out.set(record, LOG_HEAD)
  return out
}

/** Parts of a log frame's payload, or null when it is too short. */
export function decodeLogPayload(payload: Uint8Array): SignedRecord | null {
  if (payload.length < LOG_HEAD) return null
  return {
    kid: payload.subarray(0, 32),
    signature: payload.subarray(32, LOG_HEAD),
    record: payload.subarray(LOG_HEAD),
  }
}

/** Payload of a vault frame up to the content, which follows it. */
export function encodeVaultHead(head: VaultHead): Uint8Array {
  return withLength(canonicalBytes({ ...head }))
}

function withLength(json: Uint8Array): Uint8Array {
  const out = new Uint8Array(2 + json.length)
  new DataView(out.buffer).setUint16(0, json.length, true)
  out.set(json, 2)
  return out
}

/** Payload of a vault frame up to the zeros that stand for what was erased. Shorter than that of any frame it can take the place of. */
export function encodeErasedHead(seq: number, name: string, erased: number): Uint8Array {
  return withLength(canonicalBytes({ erased, name, seq }))
}

/** Payload of a vault frame. */
export function encodeVaultPayload({ head, content }: VaultEntry): Uint8Array {
  const start = encodeVaultHead(head)
  const out = new Uint8Array(start.length + content.length)
  out.set(start, 0)
  out.set(content, start.length)
  return out
}

/** Parts of a vault frame's payload, or null when it is not one. */
export function decodeVaultPayload(payload: Uint8Array): VaultEntry | null {
  if (payload.length < 2) return null
  const length = new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint16(0, true)
  const parsed = parseStrict(payload.subarray(2, 2 + length))
  if (!parsed.ok || parsed.value === null || typeof parsed.value !== 'object' || Array.isArray(parsed.value))
    return null
  const { seq, name, salt, dropped, erased } = parsed.value
  if (typeof seq !== 'number' || typeof name !== 'string') return null
  if (typeof erased === 'number') return { head: { seq, name, salt: '', erased }, content: NOTHING }
  if (typeof salt !== 'string') return null
  const head: VaultHead = dropped === true ? { seq, name, salt, dropped } : { seq, name, salt }
  return { head, content: payload.subarray(2 + length) }
}

/** File name of segment `n` of a log or vault folder. */
export function segmentName(n: number): string {
  return `${String(n).padStart(8, '0')}.seg`
}
