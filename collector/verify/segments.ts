// Reads the frames of a segment folder (log or vault) as they lie on disk, one after the other, in bounded memory. What can't be
// read is told, never thrown, and reading goes on at the next segment.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { FRAME_HEAD, type FrameRead, payloadLength, readFrame, segmentName } from '../../conventions/frame.ts'
import { MAX_GROUP_BYTES } from '../../conventions/torn.ts'

/** Bytes read at a time. */
const CHUNK_BYTES = 1024 * 1024
/** Bytes that are kept of a rest: more than any group of records has. */
const REST_BYTES = MAX_GROUP_BYTES + 1

/** What is wrong with something that is no frame with a payload, by what reading it said. */
const NOTES = {
  // A power cut can leave zeros where a frame should be; eight of them read as an empty frame.
  frame: 'an empty frame',
  corrupt: 'a frame whose checksum is another',
  torn: 'a frame that is cut short',
  end: 'a frame that is not there',
} as const satisfies Record<FrameRead['kind'], string>

export interface Place {
  segment: number
  /** Byte offset of the frame in its file. */
  offset: number
}

/**
 * `problem`: something on disk is no frame that a collector leaves behind. `rest`: what follows the last whole frame of the last
 * segment, if anything; its `tail` may be left of a write that a power cut interrupted, the reader knows, or may be damage.
 */
export type SegmentItem =
  | ({ kind: 'payload'; payload: Uint8Array } & Place)
  | ({ kind: 'problem'; note: string } & Place)
  | ({ kind: 'rest'; note: string; tail: Uint8Array } & Place)

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
    const left = size - place.offset
    if (left === 0) return
    const length = frameLength(window, at)
    if (length !== null && length > FRAME_HEAD + maxPayload) {
      yield { kind: 'problem', ...place, note: 'no frame, or one that is too long' }
      return
    }
    const partial = read.kind === 'torn' || read.kind === 'end'
    if (!partial || window.length - at >= left) {
      const note = NOTES[read.kind]
      if (!last) yield { kind: 'problem', ...place, note }
      else yield { kind: 'rest', ...place, note, tail: readAt(file, place.offset, Math.min(left, REST_BYTES)) }
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
  return FRAME_HEAD + payloadLength(bytes, at)
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
