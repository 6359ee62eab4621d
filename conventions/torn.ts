// What a power cut can leave behind the last record that was made durable: of the group that was being written, any part may be
// there, half there, or zeros. Such a rest is told from damage to what was durable by where the groups of its whole frames began.
import { crcOfStretches } from './crc-range.ts'
import { type Crc32, decodeLogPayload, FRAME_HEAD, payloadLength, readFrame } from './frame.ts'

/** Bytes. No group of records is longer: 128 frames, of which one may be the largest entry there is. */
export const MAX_GROUP_BYTES = 640 * 1024

export interface WholeFrame {
  /** Offset in the bytes that were searched. */
  at: number
  payload: Uint8Array
  place: number
}

/** What the payload's first bytes look like, so that a search need not checksum at every byte. */
const OPEN_BRACE = 0x7b
const BRACE_AT = { log: 96, vault: 2 } as const

/** Whole frames of one kind in the bytes, whatever lies between them. */
export function* wholeFrames(bytes: Uint8Array, kind: keyof typeof BRACE_AT, crc32: Crc32): Generator<WholeFrame> {
  const brace = FRAME_HEAD + BRACE_AT[kind]
  let quick: Crc32 | undefined
  for (let at = 0; at + brace < bytes.length; ) {
    const length = payloadLength(bytes, at)
    const possible =
      length > BRACE_AT[kind] && at + FRAME_HEAD + length <= bytes.length && bytes[at + brace] === OPEN_BRACE
    if (possible) quick ??= crcOfStretches(bytes, crc32)
    const read = possible && quick !== undefined ? readFrame(bytes, at, quick) : null
    if (read?.kind === 'frame') {
      yield { at, payload: read.payload, place: read.place }
      at = read.next
    } else at++
  }
}

/**
 * Whether `tail`, which lies where record `records` should, can be left of the one group of records that was being written: every
 * whole frame in it is of a group that began with that record or before. If not, records that were durable are damaged.
 */
export function isTornGroup(tail: Uint8Array, records: number, crc32: Crc32): boolean {
  if (tail.length > MAX_GROUP_BYTES) return false
  for (const { payload, place } of wholeFrames(tail, 'log', crc32)) {
    const seq = seqOf(payload)
    if (seq === null || seq < records || seq - place > records) return false
  }
  return true
}

function seqOf(payload: Uint8Array): number | null {
  const record = decodeLogPayload(payload)?.record
  try {
    const seq: unknown = JSON.parse(new TextDecoder().decode(record))?.log?.seq
    return Number.isSafeInteger(seq) ? (seq as number) : null
  } catch {
    // Whole, and no record: nothing a collector writes.
    return null
  }
}
