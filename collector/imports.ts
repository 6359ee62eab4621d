// Takes batches of third-party telemetry into the pipeline, a few at a time and with a pause between: a gate answer waits for what is
// being written before it, so that must be little, and seldom.
import type { Pipeline } from './pipeline.ts'
import type { AcceptResult, OtlpBatch } from './receive/otlp/take.ts'

/** Seconds a sender is asked to wait when its request can't be made durable. */
const RETRY_SECONDS = 5
/** Seconds until a nearly full disk is looked at again by a sender. */
const LOW_DISK_RETRY_SECONDS = 60
/** Bytes of bodies being written at once: a few milliseconds of an ordinary disk. One larger body is written alone. */
const MAX_WRITING_BYTES = 4 * 1024 * 1024
/** Milliseconds between the beginnings of two writes. Batches that come meanwhile are written, and synced, together. */
const PAUSE_MS = 20

export interface ImportsOptions {
  pipeline: Pick<Pipeline, 'importItems' | 'counts'>
  isDiskLow: () => boolean
}

export class Imports {
  private readonly options: ImportsOptions
  private writing = 0
  private readonly waiting: { bytes: number; go: () => void }[] = []
  private began = Number.NEGATIVE_INFINITY
  private timer: NodeJS.Timeout | undefined

  constructor(options: ImportsOptions) {
    this.options = options
  }

  /** Resolves when the batch is durable, or can't be for now. */
  async accept({ invalid, ...batch }: OtlpBatch): Promise<AcceptResult> {
    const { pipeline, isDiskLow } = this.options
    if (isDiskLow()) return { ok: false, retryAfterSeconds: LOW_DISK_RETRY_SECONDS, message: 'the disk is nearly full' }
    pipeline.counts.loops += batch.loops
    // Nothing but what this collector sent out itself: its own word is in the log already.
    if (batch.loops > 0 && batch.loops === batch.count + invalid.total) return { ok: true }
    await this.room(batch.bytes)
    try {
      await pipeline.importItems({ ...batch, rejected: invalid.total })
      return { ok: true }
    } catch {
      // Said in the collector's log by whoever failed; the sender only needs to know that it must come again.
      return { ok: false, retryAfterSeconds: RETRY_SECONDS, message: 'the log can not be written right now' }
    } finally {
      this.writing -= batch.bytes
      this.admit()
    }
  }

  /** Waits, in turn, until this much can be written. */
  private room(bytes: number): Promise<void> {
    return new Promise((go) => {
      this.waiting.push({ bytes, go })
      this.admit()
    })
  }

  /** Lets those in that fit, unless others were let in just now: then when the pause is over. */
  private admit(): void {
    if (this.timer !== undefined || this.waiting.length === 0) return
    const pause = this.began + PAUSE_MS - performance.now()
    if (pause > 0) {
      this.timer = setTimeout(() => {
        this.timer = undefined
        this.admit()
      }, pause)
      return
    }
    for (;;) {
      const [next] = this.waiting
      if (next === undefined || (this.writing > 0 && this.writing + next.bytes > MAX_WRITING_BYTES)) return
      this.began = performance.now()
      this.waiting.shift()
      this.writing += next.bytes
      next.go()
    }
  }
}
