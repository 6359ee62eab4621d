// When a checkpoint is signed: every 256 records, every 10 s while the log grows, when a run closes, before an export.
/** Records after which a checkpoint is due at once. */
const EVERY_RECORDS = 256
/** Milliseconds after which a grown log gets its checkpoint. */
const EVERY_MS = 10_000

export interface CheckpointFile {
  /** Keeps a checkpoint durably: the newest one, and all there ever were. */
  save(note: string): void
}

export interface CheckpointsOptions {
  sign: (size: number, root: Uint8Array) => string
  file: CheckpointFile
  newest: string | undefined
  /** Makes what standard clients read beside a checkpoint of that size. Evidence does not depend on it. */
  publish: (size: number) => void
  /** A checkpoint, or what lies beside it, could not be kept; the next occasion tries again. */
  onFault: (error: unknown) => void
}

export class Checkpoints {
  private readonly options: CheckpointsOptions
  private readonly timer: NodeJS.Timeout
  private signedSize: number
  private head: { size: number; root: Uint8Array } | undefined
  /** Text of the newest checkpoint. */
  newest: string | undefined

  constructor(options: CheckpointsOptions) {
    this.options = options
    this.newest = options.newest
    this.signedSize = options.newest === undefined ? 0 : Number(options.newest.split('\n')[1])
    this.timer = setInterval(() => this.now(), EVERY_MS)
    this.timer.unref()
  }

  /** A sync happened: `head` is what is durable now. `due`: one of the records asks for a checkpoint. */
  onDurable(head: { size: number; root: Uint8Array }, due: boolean): void {
    this.head = head
    if (due || head.size - this.signedSize >= EVERY_RECORDS) this.now()
  }

  /** Signs the durable head, unless that was done. Never signs two heads of one size. */
  now(): void {
    if (this.head === undefined || this.head.size <= this.signedSize) return
    try {
      this.options.publish(this.head.size)
    } catch (error) {
      this.options.onFault(error)
    }
    try {
      const note = this.options.sign(this.head.size, this.head.root)
      this.options.file.save(note)
      this.newest = note
      this.signedSize = this.head.size
    } catch (error) {
      this.options.onFault(error)
    }
  }

  stop(): void {
    clearInterval(this.timer)
    this.now()
  }
}
