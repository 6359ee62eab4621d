// Reads and repairs append-only segment folders (log and vault). Writing is in segment-writer.ts.
import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readdirSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { FRAME_HEAD, payloadLength, readFrame, segmentName } from '../../conventions/frame.ts'
import type { Position } from '../../conventions/log.ts'

export interface Frame {
  payload: Uint8Array
  at: Position
  next: Position
}

/** The disk holds something that this reader can't accept as its own writing. */
export class SegmentError extends Error {
  override name = 'SegmentError'
  readonly at: Position
  constructor(message: string, at: Position) {
    super(message)
    this.at = at
  }
}

/** Numbers of the segment files in `dir`, ascending. */
export function listSegments(dir: string): number[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir)
    .filter((name) => /^\d{8}\.seg$/.test(name))
    .map((name) => Number(name.slice(0, 8)))
    .sort((a, b) => a - b)
}

/** The file of segment `n`. */
export function segmentPath(dir: string, n: number): string {
  return `${dir}/${segmentName(n)}`
}

/**
 * Whole frames from `from` on, of about `maxBytes` bytes in all (at least one when there is one), never past `end`.
 * A frame that is torn or corrupt ends the read when `end` is not given and throws SegmentError when it lies before `end`.
 */
export function readFrames(dir: string, from: Position, maxBytes: number, end?: Position): Frame[] {
  const frames: Frame[] = []
  let position = from
  let budget = maxBytes
  while (budget > 0) {
    const limit = end === undefined || position.segment < end.segment ? Number.POSITIVE_INFINITY : end.offset
    if (position.offset >= limit) break
    const chunk = readChunk(segmentPath(dir, position.segment), position.offset, budget, limit)
    if (chunk === null) break
    if (chunk.length === 0) {
      const next = { segment: position.segment + 1, offset: 0 }
      if (!existsSync(segmentPath(dir, next.segment))) break
      position = next
      continue
    }
    let at = 0
    for (;;) {
      const read = readFrame(chunk, at, crc32)
      if (read.kind !== 'frame') {
        const inside = end !== undefined && at < chunk.length
        if (read.kind === 'corrupt' || (inside && at === 0)) {
          if (end === undefined) return frames
          throw new SegmentError(`a ${read.kind} frame`, { segment: position.segment, offset: position.offset + at })
        }
        break
      }
      const base = position.offset
      frames.push({
        payload: read.payload,
        at: { segment: position.segment, offset: base + at },
        next: { segment: position.segment, offset: base + read.next },
      })
      budget -= read.next - at
      at = read.next
    }
    if (at === 0) break
    position = { segment: position.segment, offset: position.offset + at }
  }
  return frames
}

/** At least one whole frame's bytes where the file has them; null when the file is missing. */
function readChunk(path: string, offset: number, want: number, limit: number): Uint8Array | null {
  if (!existsSync(path)) return null
  const fd = openSync(path, 'r')
  try {
    const size = Math.min(fstatSync(fd).size, limit)
    const available = size - offset
    if (available <= 0) return new Uint8Array(0)
    const head = Buffer.alloc(4)
    let first = FRAME_HEAD
    if (available >= 4 && readSync(fd, head, 0, 4, offset) === 4) first += payloadLength(head, 0)
    const chunk = Buffer.alloc(Math.min(available, Math.max(first, Math.min(want, 4 * 1024 * 1024))))
    let got = 0
    while (got < chunk.length) {
      const n = readSync(fd, chunk, got, chunk.length - got, offset + got)
      if (n === 0) break
      got += n
    }
    return chunk.subarray(0, got)
  } finally {
    closeSync(fd)
  }
}

/** Cuts segment `at.segment` at `at.offset`, durably: what was cut must not come back behind what is written next. */
export function cutSegment(dir: string, at: Position): void {
  const fd = openSync(segmentPath(dir, at.segment), 'r+')
  try {
    ftruncateSync(fd, at.offset)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
