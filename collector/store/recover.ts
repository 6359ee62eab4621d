// Opens the log and vault of a home after whatever happened last: cuts an incomplete last frame nobody was told about, replays
// the rest, and refuses to go on when something outside remembers more than the log still holds.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { decodeVaultPayload, FRAME_HEAD, type VaultEntry } from '../../conventions/frame.ts'
import type { HomePaths } from '../../conventions/home.ts'
import { LOG_START, type LogEntry, type Position } from '../../conventions/log.ts'
import { entryOf } from './log-files.ts'
import { cutSegment, type Frame, listSegments, readFrames, segmentPath } from './segments.ts'

/** Bytes read at a time while replaying. */
const REPLAY_CHUNK_BYTES = 1024 * 1024

/** The home's log can't be continued. The message names the file and says what a person can do. */
export class RecoveryError extends Error {
  override name = 'RecoveryError'
}

export interface Recovered {
  logEnd: Position
  vaultEnd: Position
  records: number
}

/**
 * Replays every record, with the content kept for it, to `onEntry`, oldest first; it may throw to refuse an entry.
 * Returns where writing goes on. Throws RecoveryError.
 */
export function recover(home: HomePaths, onEntry: (entry: LogEntry, contents: VaultEntry[]) => void): Recovered {
  for (const dir of [home.log, home.vault]) mkdirSync(dir, { recursive: true, mode: 0o700 })
  let records = 0
  const contents = new VaultCursor(home.vault)
  const logEnd = replayFolder(home.log, (frame) => {
    const entry = entryOf(frame)
    if (entry.record.log.seq !== records) {
      throw new RecoveryError(
        `${segmentPath(home.log, frame.at.segment)} holds record ${entry.record.log.seq} where record ${records} belongs. Run: spanseal verify`,
      )
    }
    onEntry(entry, contents.take(records))
    records++
  })
  refuseShorterLog(home, records)
  return { logEnd, vaultEnd: contents.cutAfterLast(), records }
}

/** Calls `onFrame` for each whole frame; cuts a torn end; returns the end. */
function replayFolder(dir: string, onFrame: (frame: Frame) => void): Position {
  let end: Position = LOG_START
  for (;;) {
    const frames = readFrames(dir, end, REPLAY_CHUNK_BYTES)
    for (const frame of frames) {
      if (isPadding(frame)) return cutTail(dir, end)
      onFrame(frame)
      end = frame.next
    }
    if (frames.length === 0) return cutTail(dir, end)
  }
}

/** A power cut can leave zeros where a frame should be; eight of them read as an empty frame. */
function isPadding(frame: Frame): boolean {
  return frame.payload.length === 0
}

/** Cuts what follows the last whole frame, if it can only be one frame that was being written. */
function cutTail(dir: string, end: Position): Position {
  const segments = listSegments(dir)
  const last = segments.at(-1)
  if (last === undefined) return end
  const later = segments.filter((n) => n > end.segment)
  if (later.length > 0) {
    throw new RecoveryError(
      `${segmentPath(dir, end.segment)} is damaged at byte ${end.offset} and later segments follow. Run: spanseal verify`,
    )
  }
  const bytes = readFileSync(segmentPath(dir, end.segment)).subarray(end.offset)
  if (bytes.length === 0) return end
  if (followedByFrame(bytes)) {
    throw new RecoveryError(
      `${segmentPath(dir, end.segment)} is damaged at byte ${end.offset} and more records follow. Run: spanseal verify`,
    )
  }
  cutSegment(dir, end)
  return end
}

/** True when a whole, valid frame lies after a damaged first one: then it was not the last write. */
function followedByFrame(bytes: Buffer): boolean {
  if (bytes.length < FRAME_HEAD) return false
  const next = FRAME_HEAD + bytes.readUInt32LE(0)
  return next > FRAME_HEAD && next + FRAME_HEAD < bytes.length && bytes.readUInt32LE(next) > 0
}

/** Hands out vault entries in step with the log, and cuts those of records that never became durable. */
class VaultCursor {
  private readonly dir: string
  private waiting: Frame[] = []
  private end: Position = LOG_START

  constructor(dir: string) {
    this.dir = dir
  }

  take(seq: number): VaultEntry[] {
    const out: VaultEntry[] = []
    for (;;) {
      if (this.waiting.length === 0) this.waiting = readFrames(this.dir, this.end, REPLAY_CHUNK_BYTES)
      const frame = this.waiting[0]
      if (frame === undefined) return out
      const entry = decodeVaultPayload(frame.payload)
      if (entry === null || entry.head.seq > seq) return out
      if (entry.head.seq === seq) out.push(entry)
      this.waiting.shift()
      this.end = frame.next
    }
  }

  cutAfterLast(): Position {
    const segments = listSegments(this.dir)
    if (segments.includes(this.end.segment)) cutSegment(this.dir, this.end)
    for (const later of segments.filter((n) => n > this.end.segment))
      cutSegment(this.dir, { segment: later, offset: 0 })
    return this.end
  }
}

/** A checkpoint or a forwarding cursor beyond the log means records are missing: never continue over them. */
function refuseShorterLog(home: HomePaths, records: number): void {
  const outside: [string, number][] = []
  if (existsSync(home.checkpoint))
    outside.push([home.checkpoint, Number(readFileSync(home.checkpoint, 'utf8').split('\n')[1])])
  if (existsSync(home.forward)) {
    for (const name of readdirSync(home.forward).filter((file) => file.endsWith('.json'))) {
      const path = `${home.forward}/${name}`
      outside.push([path, Number(JSON.parse(readFileSync(path, 'utf8')).next_seq ?? 0)])
    }
  }
  for (const [path, seen] of outside) {
    if (seen > records) {
      throw new RecoveryError(
        `${path} knows ${seen} records, the log holds ${records}: its end is missing. Restore the log, or move ${home.root} away to begin a new one. Run: spanseal verify`,
      )
    }
  }
}
