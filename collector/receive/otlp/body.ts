// Reads a request body, gunzipped where it says so, without ever holding more than the limits allow: not of one body, before or
// after decompression, and not of all bodies that are being read or waited for.
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip } from 'node:zlib'

/** Bytes of one body that never count: what an exporter usually sends is taken even while others fill all the room there is. */
const FREE_BYTES = 256 * 1024

/** Bytes that all requests together may hold, beside the first FREE_BYTES of each. */
export class ByteBudget {
  private held = 0
  private readonly limit: number
  private readonly free: number

  constructor(limit: number, free = FREE_BYTES) {
    this.limit = limit
    this.free = free
  }

  /** Makes room for a body to grow. False when there is none; nothing is taken then. */
  grow(from: number, to: number): boolean {
    const more = this.counted(to) - this.counted(from)
    if (this.held + more > this.limit) return false
    this.held += more
    return true
  }

  /** Gives back the room of a body of this length. */
  give(bytes: number): void {
    this.held -= this.counted(bytes)
  }

  private counted(bytes: number): number {
    return Math.max(0, bytes - this.free)
  }
}

/** Bytes. Blocks a body is copied into grow up to this; what is unused of the last one is not counted by the budget. */
const LARGEST_BLOCK = 1024 * 1024
const SMALLEST_BLOCK = 4096
/** Bytes. A body is received into one block where it says a length up to this: what is in one piece need not be put together. */
const LARGEST_EXPECTED = 128 * 1024

/** A body in blocks that nothing else shares, so that they can be handed to another thread. */
export interface Blocks {
  blocks: Uint8Array<ArrayBuffer>[]
  /** Bytes; the last block may be longer than what is used of it. */
  length: number
}

/** All bytes of a body, in a buffer of their own. */
export function joined({ blocks, length }: Blocks): Uint8Array<ArrayBuffer> {
  const [only] = blocks
  if (blocks.length === 1 && only?.length === length) return only
  const out = new Uint8Array(length)
  let at = 0
  for (const block of blocks) {
    out.set(block.subarray(0, length - at), at)
    at += block.length
  }
  return out
}

/**
 * Bytes copied together as they come. Keeping the chunks would cost a hundred times their size where a sender makes them one
 * byte long.
 */
class Collected implements Blocks {
  length = 0
  readonly blocks: Uint8Array<ArrayBuffer>[] = []
  private block: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  private used = 0
  private readonly expected: number

  /** `expected`: bytes, as the sender says; 0 where it does not. */
  constructor(expected: number) {
    this.expected = expected <= LARGEST_EXPECTED ? expected : 0
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.used === this.block.length) this.grow(chunk.length - at)
      const part = chunk.subarray(at, at + this.block.length - this.used)
      this.block.set(part, this.used)
      this.used += part.length
      at += part.length
    }
    this.length += chunk.length
  }

  private grow(needed: number): void {
    this.block = new Uint8Array(Math.min(LARGEST_BLOCK, this.blockFor(needed)))
    this.blocks.push(this.block)
    this.used = 0
  }

  private blockFor(needed: number): number {
    if (this.length === 0 && needed <= this.expected) return this.expected
    return Math.max(needed, this.length, SMALLEST_BLOCK)
  }
}

export type BodyResult =
  /** The caller gives the body's length back to the budget when it is done with the body. */
  { ok: true; body: Blocks } | { ok: false; reason: 'too_large' | 'busy' | 'not_gzip' | 'bad_gzip' | 'cut_off' }

class Stopped extends Error {
  readonly reason: 'too_large' | 'busy'
  constructor(reason: 'too_large' | 'busy') {
    super(reason)
    this.reason = reason
  }
}

/**
 * Where a body comes from: Node's own stream where there is one, since a web stream around it costs more than the rest; or chunks,
 * asked for again where the reading went on from.
 */
export type BodySource = IncomingMessage | ReadableStream<Uint8Array> | Chunks | null

/**
 * Reads up to `limit` bytes, counted before and after decompression. Nothing over it is kept: it is read and thrown away, so that
 * the sender gets the answer and can use the connection again, and after another `limit` bytes not even that. Never throws on a
 * bad body.
 */
export async function readBody(
  source: BodySource,
  gzip: boolean,
  limit: number,
  budget: ByteBudget,
  /** Bytes, as `content-length` says; 0 where it does not. */
  expected = 0,
): Promise<BodyResult> {
  const stream = chunksOf(source)
  const held = new Collected(gzip ? 0 : expected)
  const keep = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) {
      const length = held.length + chunk.length
      if (length > limit) throw new Stopped('too_large')
      if (!budget.grow(held.length, length)) throw new Stopped('busy')
      held.add(chunk)
    }
  }
  try {
    if (gzip) await pipeline(() => received(stream, limit), createGunzip(), keep)
    else await keep(received(stream, limit))
    return { ok: true, body: held }
  } catch (error) {
    budget.give(held.length)
    const reason = error instanceof Stopped ? error.reason : gzipProblem(error)
    if (reason !== 'cut_off') await discard(stream, limit)
    return { ok: false, reason }
  }
}

/**
 * Reads a body and throws it away, so that its sender hears the answer: one that is still sending when the connection ends does not.
 * After `limit` bytes and some it is not waited for any more.
 */
export function discardBody(source: BodySource, limit: number): Promise<void> {
  return discard(chunksOf(source), 2 * limit)
}

/** Reads on from where the last one stopped; the source itself is left as it is. */
export type Chunks = () => AsyncIterable<Uint8Array>

function chunksOf(source: BodySource): Chunks {
  if (source instanceof Readable) {
    return () => ({ [Symbol.asyncIterator]: () => source.iterator({ destroyOnReturn: false }) })
  }
  if (typeof source === 'function') return source
  const reader = source?.getReader()
  return async function* () {
    for (;;) {
      const read = await reader?.read()
      if (read?.value === undefined) return
      yield read.value
    }
  }
}

async function* received(stream: Chunks, limit: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of stream()) {
    bytes += chunk.length
    if (bytes > limit) throw new Stopped('too_large')
    yield chunk
  }
}

async function discard(stream: Chunks, limit: number): Promise<void> {
  let left = limit
  try {
    for await (const chunk of stream()) {
      left -= chunk.length
      if (left <= 0) return
    }
  } catch {
    // The sender has gone; there was nothing left to read.
  }
}

function gzipProblem(error: unknown): 'not_gzip' | 'bad_gzip' | 'cut_off' {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return 'cut_off'
  if (!Object.hasOwn(constants, error.code)) return 'cut_off'
  return error.message === 'incorrect header check' ? 'not_gzip' : 'bad_gzip'
}
