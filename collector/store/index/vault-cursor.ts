// Reads the vault beside the log: frames lie in the order of their records, so one forward cursor serves both.
import { existsSync } from 'node:fs'
import { decodeVaultPayload, type VaultEntry } from '../../../conventions/frame.ts'
import type { Position } from '../../../conventions/log.ts'
import { type Frame, readFrames, segmentPath } from '../segments.ts'

/** Bytes read at once; one frame may be larger and is then read alone. */
const READ_BYTES = 4 * 1024 * 1024

export interface VaultFrame extends VaultEntry {
  at: Position
}

export class VaultCursor {
  /** Behind the last frame that was taken: recovery may cut and rewrite anything after it. */
  position: Position
  /** Unreadable stretches between taken frames. */
  skipped = 0
  private readonly dir: string
  /** How far was read; ahead of `position` by frames that may not be content. */
  private reading: Position
  private frames: Frame[] = []
  private index = 0
  private ahead: { frame: Frame; entry: VaultEntry } | undefined
  private passed = 0

  constructor(dir: string, position: Position) {
    this.dir = dir
    this.position = position
    this.reading = position
  }

  /** Frames of records up to `seq`, which are durable together with their record. */
  *take(seq: number): Generator<VaultFrame> {
    for (;;) {
      this.ahead ??= this.next()
      if (this.ahead === undefined || this.ahead.entry.head.seq > seq) return
      const { frame, entry } = this.ahead
      this.ahead = undefined
      this.position = frame.next
      this.skipped += this.passed
      this.passed = 0
      yield { ...entry, at: frame.at }
    }
  }

  private next(): { frame: Frame; entry: VaultEntry } | undefined {
    for (;;) {
      const frame = this.frames[this.index] ?? this.refill()
      if (frame === undefined) return undefined
      this.index++
      const entry = decodeVaultPayload(frame.payload)
      if (entry !== null) return { frame, entry }
      this.passed++
    }
  }

  /** Reads on; returns the first frame read. */
  private refill(): Frame | undefined {
    this.index = 0
    for (;;) {
      this.frames = readFrames(this.dir, this.reading, READ_BYTES)
      const last = this.frames.at(-1)
      if (last !== undefined) {
        this.reading = last.next
        return this.frames[0]
      }
      const next = { segment: this.reading.segment + 1, offset: 0 }
      if (!existsSync(segmentPath(this.dir, next.segment))) return undefined
      // The rest of this segment can't be read; what a later one holds still can.
      this.reading = next
      this.passed++
    }
  }
}
