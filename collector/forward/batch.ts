// Reads the log in order, folds it to spans, and cuts them into batches. Holds one batch, one read, and the rest of one entry.
import { setImmediate } from 'node:timers/promises'
import { LOG_START, type LogEntry, type LogSource, type Position } from '../../conventions/log.ts'
import { type EncodedSpan, encodeSpan } from './request.ts'
import { SpanFold } from './spans.ts'

/** Spans in one request. The default of OpenTelemetry's batch processors, which every backend copes with. */
export const MAX_BATCH_SPANS = 512
/** Bytes of span JSON in one request before compression. Small gateways limit a body to 1 MiB or more. */
export const MAX_BATCH_BYTES = 1024 * 1024
/** Bytes of log per read. Small enough that decoding them holds up no hook. */
const READ_BYTES = 128 * 1024

export interface Batch {
  spans: EncodedSpan[]
  /** Place and number of the first record of which something is still unsent once the batch is delivered. */
  position: Position
  nextSeq: number
  logId: string | null
  /** Record after the last one folded: beyond `nextSeq` when spans of that one go into the next batch. */
  endSeq: number
  /** A turn's root may be in it. */
  hasRoot: boolean
  /** What roots in it carry. */
  checkpoint: string | undefined
}

export class BatchReader {
  readonly #source: LogSource
  readonly #fold = new SpanFold()
  /** Entries read and not yet folded. */
  #entries: LogEntry[] = []
  #readFrom = LOG_START
  #position = LOG_START
  #nextSeq = 0
  #logId: string | null = null
  /** Spans of the last entry that had no room, and what is needed to go on with them. */
  #rest: { spans: EncodedSpan[]; entry: LogEntry; checkpoint: string | undefined } | null = null

  constructor(source: LogSource) {
    this.#source = source
  }

  /** The log's id, or null when it is empty. Throws what the source throws. */
  async logId(): Promise<string | null> {
    return (await this.#peek())?.record.log.id ?? null
  }

  /** Folds, without sending, what was sent before. False when the log ends before record `nextSeq`. Throws what the source throws. */
  async skipTo(nextSeq: number): Promise<boolean> {
    while (this.#nextSeq < nextSeq) {
      const entry = await this.#peek()
      if (entry === undefined) return false
      this.#entries.shift()
      this.#fold.skip(entry)
      this.#passed(entry)
    }
    return true
  }

  /**
   * The next batch, at most up to record `endSeq`; empty at the end of the log. Throws what the source throws, but only when no
   * span is waiting, so that nothing is lost and the call can be repeated.
   */
  async next(newestCheckpoint: string | undefined, endSeq = Number.POSITIVE_INFINITY): Promise<Batch> {
    const checkpoint = this.#rest === null ? newestCheckpoint : this.#rest.checkpoint
    const spans: EncodedSpan[] = []
    let bytes = 0
    let hasRoot = false
    for (;;) {
      if (this.#rest !== null) {
        const { entry } = this.#rest
        hasRoot ||= entry.record.type === 'turn.closed'
        bytes = this.#take(this.#rest.spans, spans, bytes)
        if (this.#rest.spans.length > 0) return this.#batch(spans, entry.record.log.seq + 1, hasRoot, checkpoint)
        this.#rest = null
        this.#passed(entry)
      }
      if (spans.length >= MAX_BATCH_SPANS) break
      const entry = await this.#peekUnless(spans.length > 0)
      if (entry === undefined || entry.record.log.seq >= endSeq) break
      this.#entries.shift()
      this.#rest = { spans: this.#fold.apply(entry, checkpoint).map(encodeSpan), entry, checkpoint }
    }
    return this.#batch(spans, this.#nextSeq, hasRoot, checkpoint)
  }

  /** Moves spans that still fit, at least one into an empty batch; gives the batch's new size in bytes. */
  #take(from: EncodedSpan[], to: EncodedSpan[], bytes: number): number {
    let size = bytes
    let taken = 0
    for (const span of from) {
      if (to.length > 0 && (to.length >= MAX_BATCH_SPANS || size + span.size > MAX_BATCH_BYTES)) break
      to.push(span)
      size += span.size
      taken++
    }
    from.splice(0, taken)
    return size
  }

  #batch(spans: EncodedSpan[], endSeq: number, hasRoot: boolean, checkpoint: string | undefined): Batch {
    const at = { position: this.#position, nextSeq: this.#nextSeq, logId: this.#logId }
    return { spans, ...at, endSeq, hasRoot, checkpoint }
  }

  #passed(entry: LogEntry): void {
    this.#position = entry.next
    this.#logId = entry.record.log.id
    this.#nextSeq = entry.record.log.seq + 1
  }

  async #peekUnless(spansWait: boolean): Promise<LogEntry | undefined> {
    try {
      return await this.#peek()
    } catch (error) {
      // The same read fails again, and is reported, once the spans that wait have gone.
      if (spansWait) return undefined
      throw error
    }
  }

  async #peek(): Promise<LogEntry | undefined> {
    if (this.#entries.length === 0) {
      // Reading and folding a long log must not hold up the hooks of this process.
      await setImmediate()
      this.#entries = this.#source.read(this.#readFrom, READ_BYTES)
      this.#readFrom = this.#entries.at(-1)?.next ?? this.#readFrom
    }
    return this.#entries[0]
  }
}
