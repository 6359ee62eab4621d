// The vault read alongside the log: content by record, in rising order. Holds one read, and only places of what it gave.
import { decodeVaultPayload, type VaultEntry } from '../../conventions/frame.ts'
import type { Position } from '../../conventions/log.ts'
import { LOG_START } from '../../conventions/log.ts'
import { readFrames } from './segments.ts'

/** Bytes of vault per read. */
const READ_BYTES = 256 * 1024

export interface VaultPlace {
  name: string
  /** The content; null when it is no longer there. */
  read: () => string | null
  /** The same as bytes, with its salt. */
  open: () => VaultEntry | null
}

export class VaultCursor {
  private readonly dir: string
  private next: Position = LOG_START
  private frames: { seq: number; name: string; dropped: boolean; at: Position }[] = []

  constructor(dir: string) {
    this.dir = dir
  }

  /** Content of record `seq` that was kept. Ask for rising numbers; content is durable before its record. */
  of(seq: number): VaultPlace[] {
    while ((this.frames.at(-1)?.seq ?? -1) <= seq && this.readOn(seq)) {}
    const found = this.frames.filter((frame) => frame.seq === seq && !frame.dropped)
    this.frames = this.frames.filter((frame) => frame.seq > seq)
    return found.map(({ name, at }) => {
      const open = () => this.open(seq, name, at)
      return { name, open, read: () => textOf(open()) }
    })
  }

  /** Reads the next frames; false at the end. */
  private readOn(seq: number): boolean {
    const frames = readFrames(this.dir, this.next, READ_BYTES)
    for (const { payload, at, next } of frames) {
      const head = decodeVaultPayload(payload)?.head
      if (head !== undefined && head.seq >= seq)
        this.frames.push({
          seq: head.seq,
          name: head.name,
          dropped: head.dropped === true || head.erased !== undefined,
          at,
        })
      this.next = next
    }
    return frames.length > 0
  }

  private open(seq: number, name: string, at: Position): VaultEntry | null {
    const [frame] = readFrames(this.dir, at, 1)
    const entry = frame === undefined ? null : decodeVaultPayload(frame.payload)
    if (entry === null || entry.head.seq !== seq || entry.head.name !== name) return null
    if (entry.head.dropped || entry.head.erased !== undefined) return null
    return entry
  }
}

function textOf(entry: VaultEntry | null): string | null {
  return entry === null ? null : Buffer.from(entry.content).toString('utf8')
}
