// Once a day, for a destination whose query API is configured: are the spans that it took still there? What is missing becomes a
// signed gap. Asks for each trace by its id, so that neither search limits nor clocks matter.
import { setImmediate } from 'node:timers/promises'
import type { LogSource } from '../../conventions/log.ts'
import { BatchReader } from '../forward/batch.ts'
import { traces } from '../forward/traces.ts'
import type { Found } from '../readback/copies.ts'
import { ReadBackError } from '../readback/copies.ts'
import { type AuditState, readAuditState, writeAuditState } from './audit-state.ts'

/** Milliseconds between looks at whether something is due. */
export const LOOK_MS = 30_000
/** Looks that a span is given to be found after it was taken: backends and Collectors hold traces back for some seconds. */
const SETTLE_LOOKS = 2
/** Milliseconds between two audits; sooner when one had to stop at its limit, or could not ask. */
const EVERY_MS = 24 * 3_600_000
const SOONER_MS = 3_600_000
/** Traces asked for in one audit. */
const MAX_TRACES = 2_000

export interface AuditStatus {
  name: string
  /** When it last ended, ISO 8601. */
  last?: string
  /** Spans that were looked for then, and those that were not there. */
  looked_for: number
  missing: number
  /** Why the last one could not be done. */
  problem?: string
}

export interface SelfAuditSettings {
  name: string
  source: LogSource
  /** First record of which the destination may not have everything, and the log it counts in. */
  delivered: () => number
  logId: string
  /** The copies of one trace. Rejects with ReadBackError when the backend can't be asked. */
  trace: (traceId: string) => Promise<Found>
  stateFile: string
  /** Milliseconds since 1970. */
  now: () => number
  /** Records the gap; resolves when it is durable. */
  onMissing: (count: number) => Promise<void>
  /** Takes one line for people. */
  log: (line: string) => void
}

export class SelfAudit {
  readonly #settings: SelfAuditSettings
  readonly #delivered: number[] = []
  #state: AuditState | undefined
  #dueAt: number | undefined
  #problem: string | undefined
  #running = false

  constructor(settings: SelfAuditSettings) {
    this.#settings = settings
  }

  status(): AuditStatus {
    const { looked_for = 0, missing = 0, at } = this.#state ?? {}
    return {
      name: this.#settings.name,
      ...(at === undefined ? {} : { last: new Date(at).toISOString() }),
      looked_for,
      missing,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
    }
  }

  /** Call every LOOK_MS. Audits when one is due and something has settled. Never rejects. */
  async look(): Promise<void> {
    const { now, delivered, log } = this.#settings
    this.#delivered.push(delivered())
    if (this.#delivered.length > SETTLE_LOOKS + 1) this.#delivered.shift()
    const settled = this.#delivered.length > SETTLE_LOOKS ? this.#delivered[0] : undefined
    if (settled === undefined || this.#running) return
    this.#running = true
    try {
      this.#state ??= await readAuditState(this.#settings.stateFile, this.#settings.logId)
      this.#dueAt ??= this.#state.at === undefined ? 0 : this.#state.at + EVERY_MS
      if (now() >= this.#dueAt && settled > this.#state.next_seq) await this.#audit(this.#state, settled)
    } catch (error) {
      this.#problem = error instanceof ReadBackError ? error.message : `internal error: ${String(error)}`
      this.#dueAt = now() + SOONER_MS
      log(`could not be audited: ${this.#problem}`)
    } finally {
      this.#running = false
    }
  }

  async #audit(before: AuditState, settled: number): Promise<void> {
    const { now, log, onMissing, stateFile, logId } = this.#settings
    const { expected, nextSeq } = await this.#expected(before.next_seq, settled)
    let lookedFor = 0
    let missing = 0
    for (const [traceId, spanIds] of expected) {
      const { copies } = await this.#settings.trace(traceId)
      const there = new Set(copies.map(({ spanId }) => spanId))
      lookedFor += spanIds.size
      for (const spanId of spanIds) if (!there.has(spanId)) missing++
    }
    // First the gap: audited again after a crash in between, it would be written twice rather than never.
    if (missing > 0) {
      await onMissing(missing)
      log(`${missing} of ${lookedFor} spans that were taken are not there (any more); their records are in the log`)
    }
    const at = now()
    this.#state = { v: 1, log_id: logId, next_seq: nextSeq, at, looked_for: lookedFor, missing }
    this.#problem = undefined
    this.#dueAt = at + (nextSeq < settled ? SOONER_MS : EVERY_MS)
    await writeAuditState(stateFile, this.#state)
  }

  /** Spans of records from `from` to before `to`, by trace; fewer records when they are too many traces. */
  async #expected(from: number, to: number): Promise<{ expected: Map<string, Set<string>>; nextSeq: number }> {
    const reader = new BatchReader(this.#settings.source, traces({ evidence: false }))
    const expected = new Map<string, Set<string>>()
    let nextSeq = from
    await reader.skipTo(from)
    while (expected.size < MAX_TRACES) {
      await setImmediate()
      const batch = await reader.next(undefined, to)
      for (const { traceId, spanId } of batch.items) {
        const spanIds = expected.get(traceId)
        if (spanIds === undefined) expected.set(traceId, new Set([spanId]))
        else spanIds.add(spanId)
      }
      if (batch.items.length === 0 && batch.nextSeq === nextSeq) return { expected, nextSeq: to }
      nextSeq = batch.nextSeq
    }
    return { expected, nextSeq }
  }
}
