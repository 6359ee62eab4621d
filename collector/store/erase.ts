// Takes content and salts out of sealed vault segments. Frames keep their place and length, so that whoever reads by position goes on
// reading; zeros stand where the content was, and as holes they take no space. A segment is written anew and put in the place of
// the old one at once: a crash leaves one or the other.
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import {
  decodeVaultPayload,
  encodeErasedHead,
  encodeFrameHead,
  FRAME_HEAD,
  type VaultHead,
} from '../../conventions/frame.ts'
import type { Position } from '../../conventions/log.ts'
import { syncPath } from './files.ts'
import { type Frame, listSegments, readFrames, segmentPath } from './segments.ts'

/** Bytes handled without a pause: hooks are answered by the same thread. */
const SLICE_BYTES = 1024 * 1024

const ZEROS = Buffer.alloc(SLICE_BYTES)

export interface Erased {
  values: number
  bytes: number
  /** Segments with a part that can't be read: what lies behind it was not looked at. */
  damaged: number[]
}

export interface EraseOptions {
  /** The vault folder. */
  dir: string
  /** Number of the first segment that may still be written to. */
  end: number
  /** Numbers of the first record that may be covered, and of the first behind them: segments without any are not read. */
  from: number
  to: number
  /** Whether the content of a frame is to go. */
  covers: (head: VaultHead) => boolean
  /** Number of the record that says so. */
  record: number
}

/** Erases what is covered in all segments before `end`. What was erased before, or can't be read, stays as it is. */
export async function eraseContent({ dir, end, from, to, covers, record }: EraseOptions): Promise<Erased> {
  const erased: Erased = { values: 0, bytes: 0, damaged: [] }
  const sealed = listSegments(dir).filter((n) => n < end)
  for (const [i, segment] of sealed.entries()) {
    // Content lies in the order of its records. Where the first of a segment can't be read, nothing is known of it.
    const next = sealed[i + 1]
    if ((firstRecord(dir, segment) ?? 0) >= to) break
    if (next !== undefined && (firstRecord(dir, next) ?? to) <= from) continue
    const { goes, whole } = await framesToErase(dir, segment, covers)
    if (!whole) erased.damaged.push(segment)
    if (goes.length === 0) continue
    await rewrite(dir, segment, goes, record)
    erased.values += goes.length
    for (const { content } of goes) erased.bytes += content
  }
  return erased
}

function firstRecord(dir: string, segment: number): number | undefined {
  const [frame] = readFrames(dir, { segment, offset: 0 }, 1)
  return frame === undefined || frame.at.segment !== segment ? undefined : decodeVaultPayload(frame.payload)?.head.seq
}

interface Going {
  seq: number
  name: string
  /** Where the frame lies in its file, and how long its payload is. */
  offset: number
  length: number
  /** Bytes of content. */
  content: number
}

async function framesToErase(dir: string, segment: number, covers: EraseOptions['covers']) {
  const goes: Going[] = []
  let at: Position = { segment, offset: 0 }
  for (;;) {
    const frames = readFrames(dir, at, SLICE_BYTES).filter((frame) => frame.at.segment === segment)
    for (const frame of frames) {
      const going = goingOf(frame, covers)
      if (going !== null) goes.push(going)
    }
    const last = frames.at(-1)
    if (last === undefined) return { goes, whole: at.offset === statSync(segmentPath(dir, segment)).size }
    at = last.next
    await pause()
  }
}

function goingOf({ payload, at }: Frame, covers: EraseOptions['covers']): Going | null {
  const entry = decodeVaultPayload(payload)
  if (entry === null || entry.head.erased !== undefined || !covers(entry.head)) return null
  const { seq, name } = entry.head
  return { seq, name, offset: at.offset, length: payload.length, content: entry.content.length }
}

async function rewrite(dir: string, segment: number, goes: readonly Going[], record: number): Promise<void> {
  const path = segmentPath(dir, segment)
  const fresh = `${path}.new`
  rmSync(fresh, { force: true })
  const from = openSync(path, 'r')
  const to = openSync(fresh, 'wx', 0o600)
  try {
    const size = statSync(path).size
    ftruncateSync(to, size)
    let at = 0
    for (const going of goes) {
      await copy(from, to, at, going.offset)
      writeAt(to, await erasedFrame(going, record), going.offset)
      at = going.offset + FRAME_HEAD + going.length
    }
    await copy(from, to, at, size)
    fsyncSync(to)
  } finally {
    closeSync(from)
    closeSync(to)
  }
  renameSync(fresh, path)
  syncPath(dir)
}

/** Head of the frame and of its payload; the zeros behind them are already there. */
async function erasedFrame({ seq, name, length }: Going, record: number): Promise<Uint8Array> {
  const head = encodeErasedHead(seq, name, record)
  if (head.length > length) throw new RangeError(`${head.length} bytes do not fit a frame of ${length}`)
  let crc = crc32(head)
  for (let left = length - head.length; left > 0; left -= SLICE_BYTES) {
    crc = crc32(ZEROS.subarray(0, Math.min(left, SLICE_BYTES)), crc)
    if (left > SLICE_BYTES) await pause()
  }
  return Buffer.concat([encodeFrameHead(length, crc), head])
}

async function copy(from: number, to: number, start: number, end: number): Promise<void> {
  const buffer = Buffer.alloc(Math.min(SLICE_BYTES, Math.max(0, end - start)))
  for (let at = start; at < end; ) {
    const got = readSync(from, buffer, 0, Math.min(buffer.length, end - at), at)
    if (got === 0) throw new Error('a vault segment became shorter while it was read')
    writeAt(to, buffer.subarray(0, got), at)
    at += got
    await pause()
  }
}

function writeAt(file: number, bytes: Uint8Array, offset: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(file, bytes, written, bytes.length - written, offset + written)
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))
