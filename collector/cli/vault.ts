// Reads pieces of content out of the vault's segments, at places that the index names.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { decodeVaultPayload, FRAME_HEAD, readFrame, segmentName } from '../../conventions/frame.ts'

export interface ContentPlace {
  /** Record and name that the content belongs to. */
  seq: number
  name: string
  segment: number
  offset: number
  dropped: boolean
}

/** `gone`: the vault no longer has it (purged or damaged). `dropped`: it held secrets, only its salt was kept. */
export type ContentRead = { kind: 'text'; text: string } | { kind: 'dropped' } | { kind: 'gone' }

/** Bytes. Longer pieces (bodies of imported requests) are not for a terminal. */
const MAX_CONTENT_BYTES = 16 * 1024 * 1024

/** The content at a place. Never throws on what is on the disk. */
export function readContent(vaultDir: string, place: ContentPlace): ContentRead {
  if (place.dropped) return { kind: 'dropped' }
  const frame = readFrameAt(`${vaultDir}/${segmentName(place.segment)}`, place.offset)
  const entry = frame === null ? null : decodeVaultPayload(frame)
  // The place comes from an index that anyone of this user can change; the frame says itself what it is.
  if (
    entry === null ||
    entry.head.erased !== undefined ||
    entry.head.seq !== place.seq ||
    entry.head.name !== place.name
  )
    return { kind: 'gone' }
  return { kind: 'text', text: Buffer.from(entry.content).toString('utf8') }
}

function readFrameAt(path: string, offset: number): Uint8Array | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return null
  }
  try {
    const head = Buffer.alloc(FRAME_HEAD)
    if (readSync(fd, head, 0, FRAME_HEAD, offset) < FRAME_HEAD) return null
    const length = head.readUInt32LE(0)
    if (length > MAX_CONTENT_BYTES || offset + FRAME_HEAD + length > fstatSync(fd).size) return null
    const frame = Buffer.alloc(FRAME_HEAD + length)
    if (readSync(fd, frame, 0, frame.length, offset) < frame.length) return null
    const read = readFrame(frame, 0, crc32)
    return read.kind === 'frame' ? read.payload : null
  } finally {
    closeSync(fd)
  }
}
