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

/** Reads up to `limit` bytes, counted before and after decompression. Stops at the first byte over; never throws on a bad body. */
export async function readBody(
  stream: ReadableStream<Uint8Array> | null,
  gzip: boolean,
  limit: number,
  budget: ByteBudget,
): Promise<BodyResult> {
  const chunks: Uint8Array[] = []
  let held = 0
  const keep = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      if (held + chunk.length > limit) throw new Stopped('too_large')
      if (!budget.take(chunk.length)) throw new Stopped('busy')
      held += chunk.length
      chunks.push(chunk)
    }
  }
  try {
    if (stream === null) return { ok: true, body: new Uint8Array(0) }
    if (gzip) await pipeline(() => limited(stream, limit), createGunzip(), keep)
    else await keep(limited(stream, limit))
  } catch (error) {
    budget.give(held)
    if (error instanceof Stopped) return { ok: false, reason: error.reason }
    return { ok: false, reason: isZlibError(error) ? 'bad_gzip' : 'cut_off' }
  }
  return { ok: true, body: Buffer.concat(chunks) }
}

async function* limited(stream: ReadableStream<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let received = 0
  // Not cancelled when we stop early: that would close the connection before the answer is out. The server drains the rest.
  for await (const chunk of stream.values({ preventCancel: true })) {
    received += chunk.length
    if (received > limit) throw new Stopped('too_large')
    yield chunk
  }
}

function isZlibError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && Object.hasOwn(constants, error.code)
  )
}
