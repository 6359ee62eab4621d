// One stream to one destination: follows the log, sends what it finds, remembers how far it came. The log is the queue: a dead destination costs
// one batch of memory, delays nobody, and gets everything once it is back, in order and at least once.
import { setTimeout as delay } from 'node:timers/promises'
import { LOG_START, type LogSource } from '../../conventions/log.ts'
import { type Batch, BatchReader } from './batch.ts'
import { type Cursor, errorCode, freshCursor, readCursor, writeCursor } from './cursor.ts'
import { type Clock, type Counters, Delivery } from './delivery.ts'
import type { Destination } from './destination.ts'
import { isOnLoopback, signalUrl } from './endpoint.ts'
import type { ResourceAttributes } from './request.ts'
import { Sender } from './sender.ts'
import type { Encoded, Signal } from './signal.ts'

/** Milliseconds between news and reading, so that what happens together travels together: each batch costs a request and a sync. */
const LINGER_MS = 200

/**
 * starting: folding what was sent before. idle: all sent. sending. retrying: the destination can't take it now. blocked: it won't
 * until someone changes something; tried again once a minute. halted: nothing will be sent until someone looks. stopped.
 */
export type ForwardState = 'starting' | 'idle' | 'sending' | 'retrying' | 'blocked' | 'halted' | 'stopped'

export interface ForwardStatus extends Counters {
  name: string
  /** Where to, without path and query: they may hold a key. */
  origin: string
  state: ForwardState
  /** Why it is retrying, blocked or halted. */
  reason?: string
  /** First record of which something is unsent. */
  next_seq: number
}

export interface ForwarderSettings<Item extends Encoded> {
  name: string
  destination: Destination
  signal: Signal<Item>
  source: LogSource
  /** Cursor file; its folder exists. */
  stateFile: string
  /** The newest checkpoint, a C2SP signed note. */
  checkpoint: () => string | undefined
  resourceAttributes: ResourceAttributes
  /** Version of Spanseal, for the instrumentation scope. */
  version: string
  clock?: Clock
  /** Takes one line for people, without the name: when the state changes and when spans are turned down. */
  log: (line: string) => void
}

const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, { signal, ref: false })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  },
}

export class Forwarder<Item extends Encoded = Encoded> {
  readonly #settings: ForwarderSettings<Item>
  readonly #origin: string
  readonly #reader: BatchReader<Item>
  readonly #delivery: Delivery<Item>
  readonly #clock: Clock
  readonly #abort = new AbortController()
  readonly #counters: Counters = { sent: 0, rejected: 0, quarantined: 0, retries: 0, withheld: 0, unreadable: 0 }
  #cursor: Cursor = freshCursor(LOG_START)
  #state: ForwardState = 'starting'
  #reason: string | undefined
  #stopping = false
  #news = false
  #wake: () => void = () => {}
  #running: Promise<void> | null = null

  /** Throws TypeError when the address or a header can't be used; the message holds neither. */
  constructor(settings: ForwarderSettings<Item>) {
    const endpoint = signalUrl(settings.destination.url, settings.signal.path)
    if (!endpoint.ok) throw new TypeError(endpoint.message)
    this.#settings = settings
    this.#origin = endpoint.url.origin
    this.#clock = settings.clock ?? systemClock
    this.#reader = new BatchReader(settings.source, settings.signal)
    this.#delivery = new Delivery({
      sender: new Sender({ ...settings.destination, url: endpoint.url, compress: !isOnLoopback(endpoint.url) }),
      clock: this.#clock,
      signal: settings.signal,
      abort: this.#abort.signal,
      resourceAttributes: settings.resourceAttributes,
      version: settings.version,
      counters: this.#counters,
      onState: (state, reason) => this.#enter(state, reason),
      log: settings.log,
    })
  }

  /** Begins in the background. Throws when called twice. */
  start(): void {
    if (this.#running !== null) throw new Error('a forwarder starts once')
    this.#running = this.#run().catch((error) => this.#enter('halted', `internal error: ${errorCode(error)}`))
  }

  /** Says that the log has grown. */
  notify(): void {
    this.#news = true
    this.#wake()
  }

  status(): ForwardStatus {
    const reason = this.#reason === undefined ? {} : { reason: this.#reason }
    const { name } = this.#settings
    const { next_seq } = this.#cursor
    return { name, origin: this.#origin, state: this.#state, ...reason, next_seq, ...this.#counters }
  }

  /** Sends what the log still holds for at most `drainMs` milliseconds, then ends. What is unsent goes out after the next start. */
  async stop({ drainMs }: { drainMs: number }): Promise<void> {
    this.#stopping = true
    this.#wake()
    if (this.#state === 'blocked') this.#abort.abort()
    const timer = setTimeout(() => this.#abort.abort(), drainMs)
    await this.#running
    clearTimeout(timer)
    if (this.#state !== 'halted') this.#enter('stopped')
  }

  async #run(): Promise<void> {
    if (!(await this.#resume())) return
    while (!this.#abort.signal.aborted) {
      this.#news = false
      const batch = await this.#read()
      if (batch === null) continue
      if (batch.items.length === 0) {
        const progress = batch.nextSeq > this.#cursor.next_seq
        this.#advance(batch)
        if (progress) continue
        if (this.#stopping) break
        await this.#waitForNews()
        continue
      }
      if (!(await this.#holdCheckpoint(batch))) break
      if (this.#state !== 'retrying' && this.#state !== 'blocked') this.#enter('sending')
      if (!(await this.#delivery.deliver(batch.items))) break
      this.#advance(batch)
      await this.#save()
    }
    await this.#saveOnce()
  }

  /** Brings the fold to where the cursor stands. False: the cursor and the log don't belong together, or stopped. */
  async #resume(): Promise<boolean> {
    const saved = await readCursor(this.#settings.stateFile)
    if (!saved.ok) return this.#halt(saved.message)
    if (saved.cursor === null) return true
    const { sent, rejected, quarantined, retries, withheld, unreadable } = saved.cursor
    const { log_id, next_seq, items_of_next } = saved.cursor
    Object.assign(this.#counters, { sent, rejected, quarantined, retries, withheld, unreadable })
    const logId = await this.#untilRead(() => this.#reader.logId())
    if (logId !== null && logId !== log_id && log_id !== null) {
      // A restored or copied store opens a new log; nothing of that one was sent.
      this.#settings.log('the log is another than before; sending it from its start')
      return true
    }
    this.#cursor = saved.cursor
    const reached = await this.#untilRead(() => this.#reader.skipTo(next_seq, items_of_next))
    if (reached !== false) return reached === true
    return this.#halt(`the log ends before record ${next_seq}, which was already sent: it was cut or rolled back`)
  }

  /** Repeats a read of the log that fails; null when stopped. */
  async #untilRead<T>(read: () => Promise<T>): Promise<T | null> {
    while (!this.#abort.signal.aborted) {
      try {
        return await read()
      } catch (error) {
        if (this.#abort.signal.aborted) break
        await this.#block(`the log can't be read: ${errorCode(error)}`)
      }
    }
    return null
  }

  async #read(): Promise<Batch<Item> | null> {
    const { in_flight } = this.#cursor
    return this.#untilRead(() =>
      in_flight === undefined
        ? this.#reader.next(this.#settings.checkpoint())
        : this.#reader.next(in_flight.checkpoint, in_flight.end_seq),
    )
  }

  /** Writes down which checkpoint the batch's roots carry before anyone can see them. False when stopped. */
  async #holdCheckpoint({ hasRoot, endSeq, checkpoint, logId }: Batch<Item>): Promise<boolean> {
    if (!hasRoot || this.#cursor.in_flight !== undefined) return true
    const in_flight = { end_seq: endSeq, ...(checkpoint === undefined ? {} : { checkpoint }) }
    this.#cursor = { ...this.#cursor, log_id: logId, in_flight }
    return this.#save()
  }

  #advance({ position, nextSeq, itemsOfNext, leftOut, logId }: Batch<Item>): void {
    const { in_flight, items_of_next: _before, ...cursor } = this.#cursor
    this.#counters.withheld += leftOut.withheld
    this.#counters.unreadable += leftOut.unreadable
    if (leftOut.unreadable > 0)
      this.#settings.log(
        `${leftOut.unreadable} spans of others can't be read any more: left out; their record is in the log`,
      )
    const held = in_flight !== undefined && in_flight.end_seq > nextSeq ? { in_flight } : {}
    const part = itemsOfNext === 0 ? {} : { items_of_next: itemsOfNext }
    this.#cursor = { ...cursor, ...held, ...part, position, next_seq: nextSeq, log_id: logId }
  }

  async #waitForNews(): Promise<void> {
    this.#enter('idle')
    if (!this.#news) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (!this.#stopping) await this.#clock.sleep(LINGER_MS, this.#abort.signal)
  }

  /** Writes the cursor, however long it takes: without it a restart could send a root with another body. False when stopped. */
  async #save(): Promise<boolean> {
    while (!this.#abort.signal.aborted) {
      const problem = await this.#write()
      if (problem === null) return true
      await this.#block(problem)
    }
    return false
  }

  async #saveOnce(): Promise<void> {
    const problem = await this.#write()
    if (problem !== null) this.#settings.log(problem)
  }

  async #write(): Promise<string | null> {
    try {
      await writeCursor(this.#settings.stateFile, { ...this.#cursor, ...this.#counters })
      return null
    } catch (error) {
      return `the cursor can't be written: ${errorCode(error)}`
    }
  }

  async #block(reason: string): Promise<void> {
    await this.#delivery.block(reason)
  }

  #halt(reason: string): false {
    this.#enter('halted', reason)
    return false
  }

  #enter(state: ForwardState, reason?: string): void {
    // Stopping doesn't wait for a person.
    if (state === 'blocked' && this.#stopping) this.#abort.abort()
    if (state === this.#state && reason === this.#reason) return
    const recovered = this.#reason !== undefined && reason === undefined && state !== 'stopped'
    this.#state = state
    this.#reason = reason
    if (reason !== undefined) this.#settings.log(`${state}: ${reason}`)
    else if (recovered) this.#settings.log(`${state} again`)
  }
}
