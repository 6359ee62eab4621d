// Reads the log in order, folds it to items (spans, log records), and cuts them into batches. Holds one batch, one read, and the rest of one entry.
import { setImmediate } from 'node:timers/promises'
import { LOG_START, type LogEntry, type LogSource, type Position } from '../../conventions/log.ts'
import type { Encoded, Fold, Signal } from './signal.ts'

/** Items in one request. The default of OpenTelemetry's batch processors, which every backend copes with. */
export const MAX_BATCH_ITEMS = 512
/** Bytes of their JSON in one request before compression. Small gateways limit a body to 1 MiB or more. */
export const MAX_BATCH_BYTES = 1024 * 1024
/** Bytes of log per read. Small enough that decoding them holds up no hook. */
const READ_BYTES = 128 * 1024

export interface Batch<Item extends Encoded> {
  items: Item[]
  /** Place and number of the first record of which something is still unsent once the batch is delivered. */
  position: Position
  nextSeq: number
  logId: string | null
  /** Record after the last one folded: beyond `nextSeq` when items of that one go into the next batch. */
  endSeq: number
  /** A turn's root may be in it. */
  hasRoot: boolean
  /** What roots in it carry. */
  checkpoint: string | undefined
}

export class BatchReader<Item extends Encoded> {
  readonly #source: LogSource
  readonly #fold: Fold<Item>
  /** Entries read and not yet folded. */
  #entries: LogEntry[] = []
  #readFrom = LOG_START
  #position = LOG_START
  #nextSeq = 0
  #logId: string | null = null
  /** Items of the last entry that had no room, and what is needed to go on with them. */
  #rest: { items: Item[]; entry: LogEntry; checkpoint: string | undefined } | null = null

  constructor(source: LogSource, signal: Signal<Item>) {
    this.#source = source
    this.#fold = signal.fold()
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
   * item is waiting, so that nothing is lost and the call can be repeated.
   */
  async next(newestCheckpoint: string | undefined, endSeq = Number.POSITIVE_INFINITY): Promise<Batch<Item>> {
    const checkpoint = this.#rest === null ? newestCheckpoint : this.#rest.checkpoint
    const items: Item[] = []
    let bytes = 0
    let hasRoot = false
    for (;;) {
      if (this.#rest !== null) {
        const { entry } = this.#rest
        hasRoot ||= entry.record.type === 'turn.closed'
        bytes = this.#take(this.#rest.items, items, bytes)
        if (this.#rest.items.length > 0) return this.#batch(items, entry.record.log.seq + 1, hasRoot, checkpoint)
        this.#rest = null
        this.#passed(entry)
      }
      if (items.length >= MAX_BATCH_ITEMS) break
      const entry = await this.#peekUnless(items.length > 0)
      if (entry === undefined && items.length === 0) items.push(...(this.#fold.end?.() ?? []))
      if (entry === undefined || entry.record.log.seq >= endSeq) break
      this.#entries.shift()
      this.#rest = { items: this.#fold.apply(entry, checkpoint), entry, checkpoint }
    }
    return this.#batch(items, this.#nextSeq, hasRoot, checkpoint)
  }

  /** Moves items that still fit, at least one into an empty batch; gives the batch's new size in bytes. */
  #take(from: Item[], to: Item[], bytes: number): number {
    let size = bytes
    let taken = 0
    for (const item of from) {
      if (to.length > 0 && (to.length >= MAX_BATCH_ITEMS || size + item.size > MAX_BATCH_BYTES)) break
      to.push(item)
      size += item.size
      taken++
    }
    from.splice(0, taken)
    return size
  }

  #batch(items: Item[], endSeq: number, hasRoot: boolean, checkpoint: string | undefined): Batch<Item> {
    const at = { position: this.#position, nextSeq: this.#nextSeq, logId: this.#logId }
    return { items, ...at, endSeq, hasRoot, checkpoint }
  }

  #passed(entry: LogEntry): void {
    this.#position = entry.next
    this.#logId = entry.record.log.id
    this.#nextSeq = entry.record.log.seq + 1
  }

  async #peekUnless(itemsWait: boolean): Promise<LogEntry | undefined> {
    try {
      return await this.#peek()
    } catch (error) {
      // The same read fails again, and is reported, once the items that wait have gone.
      if (itemsWait) return undefined
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
