// Reads the log in order, folds it to items (spans, log records), and cuts them into batches. Holds one batch, one read, and the rest of one entry.
import { setImmediate } from 'node:timers/promises'
import { LOG_START, type LogEntry, type LogSource, type Position } from '../../conventions/log.ts'
import type { Encoded, Fold, LeftOut, Signal } from './signal.ts'

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
  /** Items of record `nextSeq` that are sent once the batch is delivered. */
  itemsOfNext: number
  /** Since the last batch, in the records before `nextSeq`. */
  leftOut: LeftOut
  logId: string | null
  /** Record after the last one folded: beyond `nextSeq` when items of that one go into the next batch. */
  endSeq: number
  /** A turn's root may be in it. */
  hasRoot: boolean
  /** What roots in it carry. */
  checkpoint: string | undefined
}

interface Rest<Item> extends LeftOut {
  items: Item[]
  sent: number
  entry: LogEntry
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
  /** Items of the last entry that had no room, how many went before them, and what is needed to go on with them. */
  #rest: Rest<Item> | null = null
  /** Items of the next entry that were sent before a restart. */
  #sentOfNext = 0
  #leftOut: LeftOut = { withheld: 0, unreadable: 0 }

  constructor(source: LogSource, signal: Signal<Item>) {
    this.#source = source
    this.#fold = signal.fold()
  }

  /** The log's id, or null when it is empty. Throws what the source throws. */
  async logId(): Promise<string | null> {
    return (await this.#peek())?.record.log.id ?? null
  }

  /**
   * Folds, without sending, what was sent before: all of the records before `nextSeq`, and the first items of that one. False when
   * the log ends before it. Throws what the source throws.
   */
  async skipTo(nextSeq: number, itemsOfNext = 0): Promise<boolean> {
    this.#sentOfNext = itemsOfNext
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
        bytes = this.#take(this.#rest, items, bytes)
        if (this.#rest.items.length > 0) return this.#batch(items, entry.record.log.seq + 1, hasRoot, checkpoint)
        const more = this.#fold.more === undefined ? 'none' : await this.#more(this.#rest, items.length > 0)
        if (more === 'later') return this.#batch(items, entry.record.log.seq + 1, hasRoot, checkpoint)
        if (more === 'some') continue
        this.#leftOut.withheld += this.#rest.withheld
        this.#leftOut.unreadable += this.#rest.unreadable
        this.#rest = null
        // What was sent of it was more than there is now: the settings have changed.
        this.#sentOfNext = 0
        this.#passed(entry)
      }
      if (items.length >= MAX_BATCH_ITEMS) break
      const entry = await this.#peekUnless(items.length > 0)
      if (entry === undefined && items.length === 0) items.push(...(this.#fold.end?.() ?? []))
      if (entry === undefined || entry.record.log.seq >= endSeq) break
      this.#entries.shift()
      const applied = this.#fold.apply(entry, checkpoint)
      this.#rest = { items: applied, sent: 0, entry, checkpoint, withheld: 0, unreadable: 0 }
    }
    return this.#batch(items, this.#nextSeq, hasRoot, checkpoint)
  }

  /** Asks the fold for more of the entry. `later`: it can't now, and items wait that can be sent meanwhile. */
  async #more(rest: Rest<Item>, itemsWait: boolean): Promise<'some' | 'none' | 'later'> {
    try {
      const more = (await this.#fold.more?.()) ?? null
      if (more === null) return 'none'
      rest.items = more.items
      rest.withheld += more.withheld
      rest.unreadable += more.unreadable
      return 'some'
    } catch (error) {
      if (itemsWait) return 'later'
      throw error
    }
  }

  /** Moves items that still fit, at least one into an empty batch; gives the batch's new size in bytes. */
  #take(rest: Rest<Item>, to: Item[], bytes: number): number {
    const before = rest.items.splice(0, this.#sentOfNext).length
    this.#sentOfNext -= before
    let size = bytes
    let taken = 0
    for (const item of rest.items) {
      if (to.length > 0 && (to.length >= MAX_BATCH_ITEMS || size + item.size > MAX_BATCH_BYTES)) break
      to.push(item)
      size += item.size
      taken++
    }
    rest.items.splice(0, taken)
    rest.sent += before + taken
    return size
  }

  #batch(items: Item[], endSeq: number, hasRoot: boolean, checkpoint: string | undefined): Batch<Item> {
    const at = { position: this.#position, nextSeq: this.#nextSeq, logId: this.#logId }
    const itemsOfNext = this.#rest?.sent ?? 0
    const leftOut = this.#leftOut
    this.#leftOut = { withheld: 0, unreadable: 0 }
    return { items, ...at, itemsOfNext, leftOut, endSeq, hasRoot, checkpoint }
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
