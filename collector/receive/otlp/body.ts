// Reads a request body, gunzipped where it says so, without ever holding more than the limits allow: not of one body, before or
// after decompression, and not of all bodies that are being read or waited for.
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip } from 'node:zlib'

/** Bytes that all requests together may hold. */
export class ByteBudget {
  private held = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** False when there is no room; nothing is taken then. */
  take(bytes: number): boolean {
    if (this.held + bytes > this.limit) return false
    this.held += bytes
    return true
  }

  give(bytes: number): void {
    this.held -= bytes
  }
}

/** Bytes. Blocks a body is copied into grow up to this; what is unused of the last one is not counted by the budget. */
const LARGEST_BLOCK = 1024 * 1024
const SMALLEST_BLOCK = 4096

/**
 * Bytes copied together as they come. Keeping the chunks would cost a hundred times their size where a sender makes them one
 * byte long.
 */
class Collected {
  length = 0
  private readonly blocks: Uint8Array[] = []
  private block = new Uint8Array(0)
  private used = 0

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

  /** All bytes, in a buffer of their own. */
  bytes(): Uint8Array {
    const out = new Uint8Array(this.length)
    let at = 0
    for (const block of this.blocks) {
      out.set(block.subarray(0, this.length - at), at)
      at += block.length
    }
    return out
  }

  private grow(needed: number): void {
    this.block = new Uint8Array(Math.min(LARGEST_BLOCK, Math.max(needed, this.length, SMALLEST_BLOCK)))
    this.blocks.push(this.block)
    this.used = 0
  }
}

export type BodyResult =
  /** The caller gives the body's length back to the budget when it is done with the body. */
  { ok: true; body: Uint8Array } | { ok: false; reason: 'too_large' | 'busy' | 'bad_gzip' | 'cut_off' }

class Stopped extends Error {
  readonly reason: 'too_large' | 'busy'
  constructor(reason: 'too_large' | 'busy') {
    super(reason)
    this.reason = reason
  }
}

/**
 * Reads up to `limit` bytes, counted before and after decompression. Nothing over it is kept: it is read and thrown away, so that
 * the sender gets the answer and can use the connection again, and after another `limit` bytes not even that. Never throws on a
 * bad body.
 */
export async function readBody(
  stream: ReadableStream<Uint8Array> | null,
  gzip: boolean,
  limit: number,
  budget: ByteBudget,
): Promise<BodyResult> {
  if (stream === null) return { ok: true, body: new Uint8Array(0) }
  const reader = stream.getReader()
  const held = new Collected()
  const keep = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      if (held.length + chunk.length > limit) throw new Stopped('too_large')
      if (!budget.take(chunk.length)) throw new Stopped('busy')
      held.add(chunk)
    }
  }
  try {
    if (gzip) await pipeline(() => received(reader, limit), createGunzip(), keep)
    else await keep(received(reader, limit))
    return { ok: true, body: held.bytes() }
  } catch (error) {
    budget.give(held.length)
    const reason = error instanceof Stopped ? error.reason : isZlibError(error) ? 'bad_gzip' : 'cut_off'
    if (reason !== 'cut_off') await discard(reader, limit)
    return { ok: false, reason }
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function* received(reader: Reader, limit: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    bytes += value.length
    if (bytes > limit) throw new Stopped('too_large')
    yield value
  }
}

async function discard(reader: Reader, limit: number): Promise<void> {
  let left = limit
  try {
    while (left > 0) {
      const { done, value } = await reader.read()
      if (done) return
      left -= value.length
    }
  } catch {
    // The sender has gone; there was nothing left to read.
  }
}

function isZlibError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && Object.hasOwn(constants, error.code)
  )
}
