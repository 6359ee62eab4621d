// Reads the frames of a segment folder (log or vault) as they lie on disk, one after the other, in bounded memory. What can't be
// read is told, never thrown, and reading goes on at the next segment.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { FRAME_HEAD, readFrame, segmentName } from '../../conventions/frame.ts'

/** Bytes read at a time. */
const CHUNK_BYTES = 1024 * 1024
/** Bytes at the torn end of a folder that are searched for whole frames: a false length must not hide what follows it. */
const SEARCH_BYTES = 256 * 1024

export interface Place {
  segment: number
  /** Byte offset of the frame in its file. */
  offset: number
}

/**
 * `torn`: the last write was cut short, nothing follows; no one was told that it happened. `problem`: something on disk is no
 * frame that a collector leaves behind.
 */
export type SegmentItem =
  | ({ kind: 'payload'; payload: Uint8Array } & Place)
  | ({ kind: 'problem'; note: string } & Place)
  | ({ kind: 'torn' } & Place)

interface Segment {
  n: number
  path: string
  size: number
}

/** The segment files of a folder and their sizes at one moment, so that a collector may go on writing. */
export interface Snapshot {
  segments: Segment[]
  /** Why the folder, or a file in it, could not be looked at. */
  problems: string[]
}

/** Looks at a segment folder now. A folder that does not exist has no segments. */
export function snapshot(dir: string): Snapshot {
  const out: Snapshot = { segments: [], problems: [] }
  let names: string[] = []
  try {
    names = readdirSync(dir)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') out.problems.push(`the folder can't be read (${codeOf(error)})`)
  }
  for (const name of names.filter((file) => /^\d{8}\.seg$/.test(file)).sort()) {
    try {
      const stats = statSync(`${dir}/${name}`)
      if (!stats.isFile()) throw Object.assign(new Error('not a file'), { code: 'not a file' })
      out.segments.push({ n: Number(name.slice(0, 8)), path: `${dir}/${name}`, size: stats.size })
    } catch (error) {
      out.problems.push(`${name} can't be read (${codeOf(error)})`)
    }
  }
  return out
}

/** Every frame of the snapshot, in order. `maxPayload`: bytes; a longer frame is a problem, so that garbage can't fill memory. */
export function* readSegments({ segments }: Snapshot, maxPayload: number): Generator<SegmentItem> {
  let expected = 0
  for (const segment of segments) {
    if (segment.n > expected) {
      const missing = segment.n - expected === 1 ? 'is' : `to ${segmentName(segment.n - 1)} are`
      yield { kind: 'problem', segment: expected, offset: 0, note: `${segmentName(expected)} ${missing} missing` }
    }
    expected = segment.n + 1
    yield* readSegment(segment, segment === segments.at(-1), maxPayload)
  }
}

function* readSegment(segment: Segment, last: boolean, maxPayload: number): Generator<SegmentItem> {
  let file: number
  try {
    file = openSync(segment.path, 'r')
  } catch (error) {
    yield { kind: 'problem', segment: segment.n, offset: 0, note: `can't be opened (${codeOf(error)})` }
    return
  }
  try {
    yield* readFrames(file, segment, last, maxPayload)
  } finally {
    closeSync(file)
  }
}

function* readFrames(file: number, { n, size }: Segment, last: boolean, maxPayload: number): Generator<SegmentItem> {
  let window: Uint8Array = new Uint8Array(0)
  let at = 0
  let base = 0
  for (;;) {
    const read = readFrame(window, at, crc32)
    const place = { segment: n, offset: base + at }
    if (read.kind === 'frame' && read.payload.length > 0) {
      yield { kind: 'payload', payload: read.payload, ...place }
      at = read.next
      continue
    }
    if (read.kind === 'frame') {
      // A power cut can leave zeros where a frame should be; eight of them read as an empty frame.
      if (last && onlyZeros(file, place.offset, size)) yield { kind: 'torn', ...place }
      else yield { kind: 'problem', ...place, note: 'an empty frame' }
      return
    }
    if (read.kind === 'corrupt') {
      yield { kind: 'problem', ...place, note: 'a frame whose checksum is another' }
      return
    }
    const left = size - place.offset
    if (left === 0) return
    const length = frameLength(window, at)
    if (length !== null && length > FRAME_HEAD + maxPayload) {
      yield { kind: 'problem', ...place, note: 'no frame, or one that is too long' }
      return
    }
    if (window.length - at >= left) {
      if (last && !holdsFrame(window.subarray(at), maxPayload)) yield { kind: 'torn', ...place }
      else yield { kind: 'problem', ...place, note: 'a frame that is cut short' }
      return
    }
    window = readAt(file, place.offset, Math.min(left, Math.max(CHUNK_BYTES, length ?? 0)))
    base = place.offset
    at = 0
    if (window.length === 0) {
      yield { kind: 'problem', ...place, note: 'the file became shorter while it was read' }
      return
    }
  }
}

/** Length of the frame at `at` as its head says it, or null when the head is not there. */
function frameLength(bytes: Uint8Array, at: number): number | null {
  if (bytes.length - at < FRAME_HEAD) return null
  return FRAME_HEAD + new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true)
}

/** True when a whole frame lies somewhere behind the first byte. */
function holdsFrame(bytes: Uint8Array, maxPayload: number): boolean {
  const end = Math.min(bytes.length - FRAME_HEAD, SEARCH_BYTES)
  for (let at = 1; at <= end; at++) {
    const length = frameLength(bytes, at) ?? 0
    if (length <= FRAME_HEAD + 1 || length > FRAME_HEAD + maxPayload || at + length > bytes.length) continue
    if (readFrame(bytes, at, crc32).kind === 'frame') return true
  }
  return false
}

function onlyZeros(file: number, from: number, size: number): boolean {
  for (let offset = from; offset < size; offset += CHUNK_BYTES) {
    if (readAt(file, offset, Math.min(CHUNK_BYTES, size - offset)).some((byte) => byte !== 0)) return false
  }
  return true
}

/** Up to `length` bytes; fewer where the file ends or an error ends it. */
function readAt(file: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let got = 0
  try {
    while (got < length) {
      const n = readSync(file, bytes, got, length - got, offset + got)
      if (n === 0) break
      got += n
    }
  } catch {
    // A read error shows as a file that ends here, which the caller tells.
  }
  return bytes.subarray(0, got)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
