// Opens the log and vault of a home after whatever happened last: cuts an incomplete last frame nobody was told about, replays
// the rest, and refuses to go on when something outside remembers more than the log still holds.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
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
      if (isPadding(frame)) return cutTail(dir, end, 'log')
      onFrame(frame)
      end = frame.next
    }
    if (frames.length === 0) return cutTail(dir, end, 'log')
  }
}

/** A power cut can leave zeros where a frame should be; eight of them read as an empty frame. */
function isPadding(frame: Frame): boolean {
  return frame.payload.length === 0
}

/** Cuts what follows the last whole frame, if it can only be one frame that was being written. */
function cutTail(dir: string, end: Position, kind: keyof typeof BEGINS): Position {
  const segments = listSegments(dir)
  const last = segments.at(-1)
  if (last === undefined) return end
  const path = segmentPath(dir, end.segment)
  const tail = existsSync(path) ? readFileSync(path).subarray(end.offset) : Buffer.alloc(0)
  const later = segments.filter((n) => n > end.segment)
  if (tail.length === 0) return cutNewSegment(dir, end, later, kind)
  if (later.length > 0 || findFrame(tail, 1, kind) !== -1) {
    throw new RecoveryError(`${path} is damaged at byte ${end.offset} and more records follow. Run: spanseal verify`)
  }
  cutSegment(dir, end)
  return end
}

/** A segment that was just begun and holds no whole frame yet is one torn write. */
function cutNewSegment(dir: string, end: Position, later: readonly number[], kind: keyof typeof BEGINS): Position {
  const [next, ...more] = later
  if (next === undefined) return end
  const path = segmentPath(dir, next)
  if (next !== end.segment + 1 || more.length > 0 || findFrame(readFileSync(path), 0, kind) !== -1) {
    throw new RecoveryError(`${path} is damaged at its start and more records follow. Run: spanseal verify`)
  }
  cutSegment(dir, { segment: next, offset: 0 })
  return end
}

/** What the first bytes of a payload look like, so that a search need not checksum at every byte. */
const BEGINS = {
  log: (payload: Buffer) => payload[LOG_RECORD_AT] === OPEN_BRACE,
  vault: (payload: Buffer) => payload[2] === OPEN_BRACE,
} as const
const OPEN_BRACE = 0x7b
/** Bytes before the record in a log payload: key id and signature. */
const LOG_RECORD_AT = 96

/** Offset of the first whole frame at `from` or later, whatever lies before it; -1 when there is none. */
function findFrame(bytes: Buffer, from: number, kind: keyof typeof BEGINS): number {
  for (let at = from; at + FRAME_HEAD < bytes.length; at++) {
    const length = bytes.readUInt32LE(at)
    if (length === 0 || at + FRAME_HEAD + length > bytes.length) continue
    const payload = bytes.subarray(at + FRAME_HEAD, at + FRAME_HEAD + length)
    if (BEGINS[kind](payload) && crc32(payload) === bytes.readUInt32LE(at + 4)) return at
  }
  return -1
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
      const next = this.next()
      if (next === null || next.entry.head.seq > seq) return out
      if (next.entry.head.seq === seq) out.push(next.entry)
      this.waiting.shift()
      this.end = next.frame.next
    }
  }

  /** Content beyond the last record is cut; so is a torn end. Nothing else ever is. */
  cutAfterLast(): Position {
    const left = this.next()
    const segments = listSegments(this.dir)
    if (left === null) return cutTail(this.dir, this.end, 'vault')
    // Every frame from here on belongs to a record that was never durable: records and content are written in one order.
    if (segments.includes(this.end.segment)) cutSegment(this.dir, this.end)
    for (const later of segments.filter((n) => n > this.end.segment))
      cutSegment(this.dir, { segment: later, offset: 0 })
    return this.end
  }

  /** The next readable entry. A damaged frame that others follow is passed over: its content is lost, theirs is not. */
  private next(): { frame: Frame; entry: VaultEntry } | null {
    for (;;) {
      if (this.waiting.length === 0) this.waiting = readFrames(this.dir, this.end, REPLAY_CHUNK_BYTES)
      const frame = this.waiting[0]
      if (frame === undefined) {
        const after = frameAfterDamage(this.dir, this.end)
        if (after === null) return null
        this.end = after
        continue
      }
      const entry = decodeVaultPayload(frame.payload)
      if (entry !== null) return { frame, entry }
      this.waiting.shift()
      this.end = frame.next
    }
  }
}

/** Where the next whole frame after a damaged one starts; null when none follows in its segment. */
function frameAfterDamage(dir: string, at: Position): Position | null {
  const path = segmentPath(dir, at.segment)
  if (!existsSync(path)) return null
  const found = findFrame(readFileSync(path).subarray(at.offset), 1, 'vault')
  return found === -1 ? null : { segment: at.segment, offset: at.offset + found }
}

/** A checkpoint or a forwarding cursor beyond the log means records are missing: never continue over them. */
function refuseShorterLog(home: HomePaths, records: number): void {
  const outside: [string, number][] = []
  if (existsSync(home.checkpoint))
    outside.push([home.checkpoint, Number(readFileSync(home.checkpoint, 'utf8').split('\n')[1])])
  if (existsSync(home.forward)) {
    for (const name of readdirSync(home.forward).filter((file) => file.endsWith('.json'))) {
      const path = `${home.forward}/${name}`
      outside.push([path, nextSeqOf(path)])
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

function nextSeqOf(path: string): number {
  try {
    return Number(JSON.parse(readFileSync(path, 'utf8')).next_seq ?? 0)
  } catch {
    throw new RecoveryError(`${path} is no forwarding state. Remove it to send everything to that destination again.`)
  }
}
