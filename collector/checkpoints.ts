// When a checkpoint is signed: every 256 records, every 10 s while the log grows, when a run closes, before an export.
import type { Position } from '../conventions/log.ts'

/** Records after which a checkpoint is due at once. */
const EVERY_RECORDS = 256
/** Milliseconds after which a grown log gets its checkpoint. */
const EVERY_MS = 10_000

export interface CheckpointFile {
  /** Keeps a checkpoint durably: the newest one, and all there ever were. */
  save(note: string): void
}

export class Checkpoints {
  private readonly sign: (size: number, root: Uint8Array) => string
  private readonly file: CheckpointFile
  private readonly timer: NodeJS.Timeout
  private signedSize: number
  private head: { size: number; root: Uint8Array } | undefined
  /** Text of the newest checkpoint. */
  newest: string | undefined

  constructor(options: {
    sign: (size: number, root: Uint8Array) => string
    file: CheckpointFile
    newest: string | undefined
  }) {
    this.sign = options.sign
    this.file = options.file
    this.newest = options.newest
    this.signedSize = options.newest === undefined ? 0 : Number(options.newest.split('\n')[1])
    this.timer = setInterval(() => this.now(), EVERY_MS)
    this.timer.unref()
  }

  /** A sync happened: `head` is what is durable now. `due`: one of the records asks for a checkpoint. */
  onDurable(_position: Position, head: { size: number; root: Uint8Array }, due: boolean): void {
    this.head = head
    if (due || head.size - this.signedSize >= EVERY_RECORDS) this.now()
  }

  /** Signs the durable head, unless that was done. Never signs two heads of one size. */
  now(): void {
    if (this.head === undefined || this.head.size <= this.signedSize) return
    const note = this.sign(this.head.size, this.head.root)
    this.file.save(note)
    this.newest = note
    this.signedSize = this.head.size
  }

  stop(): void {
    clearInterval(this.timer)
    this.now()
  }
}
