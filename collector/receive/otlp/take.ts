// What both doors of OTLP do with a whole body, whatever protocol brought it: look through it, make it durable, say what became of it.
import type { Signal } from '../../../conventions/import.ts'
import { MAX_OTLP_BYTES } from '../../../conventions/limits.ts'
import type { Content } from '../../../conventions/record.ts'
import type { Blocks } from './body.ts'
import type { Encoding } from './decode.ts'
import type { Facts } from './inspect.ts'
import type { Inspect } from './pool.ts'

/** Bytes of bodies held at once, over all requests: two of the largest. Beyond it a client is asked to come back. */
export const MAX_IN_FLIGHT_BYTES = 2 * MAX_OTLP_BYTES

/** Seconds. A body is read and recorded faster than this; clients start with the same wait. */
export const BUSY_RETRY_SECONDS = 1

/** One request, whole. */
export interface OtlpBatch extends Facts {
  signal: Signal
  encoding: Encoding
  /** Of the body after decompression. */
  bytes: number
  /** What a record commits to: the body as received, after decompression, and what is kept of it. */
  contents: Content[]
}

export type AcceptResult = { ok: true } | { ok: false; retryAfterSeconds: number; message: string }

/** Makes a batch durable. Refuses when it can't for now; the sender keeps its copy and is asked to come again. */
export type Accept = (batch: OtlpBatch) => Promise<AcceptResult>

export type Taken =
  | { ok: true; invalid?: Facts['invalid'] }
  | { ok: false; why: 'malformed' | 'too_large'; message: string }
  | { ok: false; why: 'later'; message: string; retryAfterSeconds: number }

/** Rejects only when `accept` or `inspect` does, which they should not. */
export async function takeBody(
  { accept, inspect }: { accept: Accept; inspect: Inspect },
  body: Blocks,
  encoding: Encoding,
  signal: Signal,
): Promise<Taken> {
  const bytes = body.length
  const { inspected, contents } = await inspect(body, encoding, signal)
  if (!inspected.ok)
    return { ok: false, why: inspected.tooLarge ? 'too_large' : 'malformed', message: inspected.message }
  const { ok: _, ...facts } = inspected
  if (facts.count + facts.invalid.total === 0) return { ok: true }
  const taken = await accept({ ...facts, signal, encoding, bytes, contents })
  return taken.ok ? { ok: true, invalid: facts.invalid } : { ...taken, why: 'later' }
}

/** One request of a connection at a time, so that a client that sends many without waiting takes no more than its turn. */
export class Turns<Connection extends object> {
  private readonly last = new WeakMap<Connection, Promise<unknown>>()

  async take<T>(connection: Connection | undefined, work: () => Promise<T>): Promise<T> {
    if (connection === undefined) return work()
    const before = this.last.get(connection)
    const turn = before === undefined ? work() : before.then(work, work)
    this.last.set(connection, turn)
    try {
      return await turn
    } finally {
      if (this.last.get(connection) === turn) this.last.delete(connection)
    }
  }
}
