// Opens the log and vault of a home after whatever happened last: replays what is whole, cuts what is left of the group of records
// that was being written, and refuses to go on when more than that is damaged, or something outside remembers more records.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { decodeVaultPayload, type VaultEntry } from '../../conventions/frame.ts'
import type { HomePaths } from '../../conventions/home.ts'
import { LOG_START, type LogEntry, type Position } from '../../conventions/log.ts'
import { isTornGroup, wholeFrames } from '../../conventions/torn.ts'
import { CheckpointFile } from './checkpoint-file.ts'
import { makeFolder, syncPath } from './files.ts'
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
  /** Bytes behind the last whole record that were cut: left of records nobody was told about. */
  cut: number
}

/**
 * Replays every record, with the content kept for it, to `onEntry`, oldest first, then calls `onEnd`; each may throw to refuse the log.
 * Then cuts what an interrupted write left, and makes durable what is left: the last collector may have died before it did. Throws
 * RecoveryError, and then leaves everything as it lies.
 */
export function recover(
  home: HomePaths,
  onEntry: (entry: LogEntry, contents: VaultEntry[]) => void,
  onEnd: () => void,
): Recovered {
  for (const dir of [home.log, home.vault]) makeFolder(dir)
  let records = 0
  const contents = new VaultCursor(home.vault)
  const logEnd = replayLog(home.log, (frame) => {
    const entry = entryOf(frame)
    if (entry.record.log.seq !== records) {
      throw new RecoveryError(
        `${segmentPath(home.log, frame.at.segment)} holds record ${entry.record.log.seq} where record ${records} belongs. Run: spanseal verify`,
      )
    }
    onEntry(entry, contents.take(records))
    records++
  })
  onEnd()
  refuseDamage(home.log, logEnd, records)
  refuseShorterLog(home, records)
  const cut = cutAfter(home.log, logEnd)
  // Behind the last content of a durable record all belongs to records that never were: both are written in one order.
  const vaultEnd = contents.taken
  cutAfter(home.vault, vaultEnd)
  // Content first, as the writer does: a record that is durable never misses its content.
  makeDurable(home.vault, vaultEnd)
  makeDurable(home.log, logEnd)
  // The names of the folders themselves, and of the keys' folder.
  syncPath(home.root)
  return { logEnd, vaultEnd, records, cut }
}

/** Calls `onFrame` for each whole frame that follows the one before; returns where they end. */
function replayLog(dir: string, onFrame: (frame: Frame) => void): Position {
  let end: Position = LOG_START
  for (;;) {
    const frames = readFrames(dir, end, REPLAY_CHUNK_BYTES)
    for (const frame of frames) {
      // A power cut can leave zeros where a frame should be; eight of them read as an empty frame.
      if (frame.payload.length === 0) return end
      onFrame(frame)
      end = frame.next
    }
    if (frames.length === 0) return end
  }
}

/** What follows the last whole record must be left of the one group that was being written; a group lies in one segment. */
function refuseDamage(dir: string, end: Position, records: number): void {
  const [first, ...more] = restsAfter(dir, end)
  if (first === undefined) return
  if (more.length > 0 || !isTornGroup(readFileSync(first.path).subarray(first.from), records, crc32)) {
    throw new RecoveryError(
      `${first.path} is damaged at byte ${first.from}, in records that were on disk. Run: spanseal verify`,
    )
  }
}

/** Bytes behind a position: in its own segment and in later ones. */
function restsAfter(dir: string, end: Position): { segment: number; path: string; from: number; size: number }[] {
  return listSegments(dir)
    .filter((segment) => segment >= end.segment)
    .map((segment) => {
      const path = segmentPath(dir, segment)
      return { segment, path, from: segment === end.segment ? end.offset : 0, size: statSync(path).size }
    })
    .filter(({ from, size }) => size > from)
}

/** Cuts everything behind a position; returns how many bytes that were. */
function cutAfter(dir: string, end: Position): number {
  let cut = 0
  for (const { segment, from, size } of restsAfter(dir, end)) {
    cutSegment(dir, { segment, offset: from })
    cut += size - from
  }
  return cut
}

/** The segment that writing goes on in, and its name. Those before it were synced before it was begun. */
function makeDurable(dir: string, end: Position): void {
  const path = segmentPath(dir, end.segment)
  if (existsSync(path)) syncPath(path)
  syncPath(dir)
}

/** Hands out vault entries in step with the log. */
class VaultCursor {
  private readonly dir: string
  private waiting: Frame[] = []
  private reading: Position = LOG_START
  /** Nothing whole is left: the search for it reads a whole segment, and is done once, not for each record without content. */
  private over = false
  /** Behind the last entry that was handed out or passed over. */
  taken: Position = LOG_START

  constructor(dir: string) {
    this.dir = dir
  }

  /** Entries of record `seq`; those of records before it are passed over. */
  take(seq: number): VaultEntry[] {
    const out: VaultEntry[] = []
    for (;;) {
      const next = this.next()
      if (next === null || next.entry.head.seq > seq) return out
      if (next.entry.head.seq === seq) out.push(next.entry)
      this.waiting.shift()
      this.reading = next.frame.next
      this.taken = this.reading
    }
  }

  /** The next readable entry. A damaged frame that others follow is passed over: its content is lost, theirs is not. */
  private next(): { frame: Frame; entry: VaultEntry } | null {
    while (!this.over) {
      if (this.waiting.length === 0) this.waiting = readFrames(this.dir, this.reading, REPLAY_CHUNK_BYTES)
      const frame = this.waiting[0]
      if (frame === undefined) {
        const after = frameAfterDamage(this.dir, this.reading)
        this.over = after === null
        this.reading = after ?? this.reading
        continue
      }
      const entry = decodeVaultPayload(frame.payload)
      if (entry !== null) return { frame, entry }
      this.waiting.shift()
      this.reading = frame.next
    }
    return null
  }
}

/** Where the next whole frame after a damaged one starts, or the next segment; null when nothing follows. */
function frameAfterDamage(dir: string, at: Position): Position | null {
  const path = segmentPath(dir, at.segment)
  if (!existsSync(path)) return null
  const [found] = wholeFrames(readFileSync(path).subarray(at.offset), 'vault', crc32)
  if (found !== undefined) return { segment: at.segment, offset: at.offset + found.at }
  const later = listSegments(dir).find((segment) => segment > at.segment)
  return later === undefined ? null : { segment: later, offset: 0 }
}

/** A checkpoint or a forwarding cursor beyond the log means records are missing: never continue over them. */
function refuseShorterLog(home: HomePaths, records: number): void {
  const outside: [string, number][] = []
  const file = new CheckpointFile(home)
  outside.push([home.checkpoint, sizeOf(file.newest())], [home.checkpoints, sizeOf(file.last())])
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

/** Records that a checkpoint is over; 0 without one. */
function sizeOf(note: string | undefined): number {
  return Number(note?.split('\n')[1] ?? 0)
}

function nextSeqOf(path: string): number {
  try {
    const { next_seq, in_flight } = JSON.parse(readFileSync(path, 'utf8'))
    return Math.max(Number(next_seq ?? 0), Number(in_flight?.end_seq ?? 0))
  } catch {
    throw new RecoveryError(`${path} is no forwarding state. Remove it to send everything to that destination again.`)
  }
}
