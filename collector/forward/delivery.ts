// Gets one batch across: repeats what the destination can't take now, waits where only a person can help, and cuts a refused batch
// down to the one item (span or log record) the destination will not have.
import type { Outcome, Sender } from './sender.ts'
import type { Encoded, LeftOut, RequestSettings, Signal } from './signal.ts'

/** Milliseconds before the first repetition; doubles up to the longest. */
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
/** Share of a wait that is left to chance, so that many machines don't return to a backend in step. */
const JITTER = 0.2
/** Milliseconds between attempts while only a person can help. */
const BLOCKED_RETRY_MS = 60_000

/** Time, replaceable in tests. `sleep` ends early, without an error, when the signal fires. */
export interface Clock {
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** What became of the items so far; counted up in place. */
export interface Counters extends LeftOut {
  sent: number
  rejected: number
  quarantined: number
  retries: number
}

interface DeliverySettings<Item extends Encoded> extends RequestSettings {
  signal: Signal<Item>
  sender: Sender
  clock: Clock
  /** Ends waits and requests. */
  abort: AbortSignal
  counters: Counters
  /** Hears how it goes, with a reason for everything but `sending`. */
  onState: (state: 'sending' | 'retrying' | 'blocked', reason?: string) => void
  /** Hears of items that were turned down. */
  log: (line: string) => void
}

export class Delivery<Item extends Encoded> {
  readonly #settings: DeliverySettings<Item>
  #failures = 0

  constructor(settings: DeliverySettings<Item>) {
    this.#settings = settings
  }

  /** Sends the items, in order. True when each was taken or counted as turned down; false when the signal ended it before. */
  async deliver(items: Item[]): Promise<boolean> {
    const parts = [items]
    let accepted = false
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const outcome = await this.#request(part)
      if (outcome.kind === 'aborted') return false
      if (outcome.kind === 'delivered') {
        accepted = true
        this.#count(part.length, outcome.rejected)
      } else if (part.length > 1) {
        const middle = Math.ceil(part.length / 2)
        parts.unshift(part.slice(0, middle), part.slice(middle))
      } else if (accepted || (await this.#request([])).kind === 'delivered') {
        this.#quarantine(part, outcome.reason)
      } else {
        // It refuses an empty request as well: not the item is wrong but the address.
        if (!(await this.block(`${outcome.reason} to every request`))) return false
        parts.unshift(part)
      }
    }
    return true
  }

  /** Says why, and waits a minute. False when the signal ended the wait. */
  async block(reason: string): Promise<boolean> {
    this.#settings.onState('blocked', reason)
    return this.#pause(BLOCKED_RETRY_MS)
  }

  /** One request, repeated until the destination says yes or no to its content. */
  async #request(items: Item[]): Promise<Exclude<Outcome, { kind: 'retry' | 'blocked' }>> {
    const { sender, signal, abort, clock, counters, onState } = this.#settings
    const request = signal.request(items, this.#settings)
    for (;;) {
      const outcome = await sender.send(request, abort, clock.now())
      let again: boolean
      if (outcome.kind === 'retry') {
        onState('retrying', outcome.reason)
        again = await this.#pause(outcome.afterMs ?? this.#backoff())
      } else if (outcome.kind === 'blocked') {
        again = await this.block(outcome.reason)
      } else {
        this.#failures = 0
        if (outcome.kind === 'delivered') onState('sending')
        return outcome
      }
      if (!again) return { kind: 'aborted' }
      counters.retries++
    }
  }

  #count(items: number, rejected: number): void {
    const { counters, log, signal } = this.#settings
    const turnedDown = Math.min(rejected, items)
    counters.sent += items - turnedDown
    counters.rejected += turnedDown
    if (turnedDown > 0)
      log(`turned down ${turnedDown} of ${items} ${signal.noun} (OTLP partial success); their records are in the log`)
  }

  #quarantine(part: Item[], reason: string): void {
    const { counters, log, signal } = this.#settings
    counters.quarantined += part.length
    for (const item of part) log(`${reason} to ${signal.describe(item)}: left out; its record is in the log`)
  }

  #backoff(): number {
    const full = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS)
    this.#failures++
    return full * (1 - JITTER * Math.random())
  }

  async #pause(ms: number): Promise<boolean> {
    const { clock, abort } = this.#settings
    await clock.sleep(ms, abort)
    return !abort.aborted
  }
}
