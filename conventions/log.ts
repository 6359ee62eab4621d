// How steps read the log without knowing its files: a position, an entry, a source.
import type { Receipt } from './record.ts'

/** A place in the segments: file number and byte offset of a frame. */
export interface Position {
  segment: number
  offset: number
}

export const LOG_START: Position = { segment: 0, offset: 0 }

export interface LogEntry extends Receipt {
  /** Where the next entry starts. */
  next: Position
}

/** Entries of the log that are durable. */
export interface LogSource {
  /** Entries from `from` on, oldest first, of at most about `maxBytes` bytes (at least one when there is one). Empty at the end. */
  read(from: Position, maxBytes: number): LogEntry[]
}
