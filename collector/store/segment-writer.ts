// Appends frames to the newest segment of a folder (log or vault). One writer a folder; only erase.ts rewrites, and only sealed segments.
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { encodeFrameHead, frameWord } from '../../conventions/frame.ts'
import type { Position } from '../../conventions/log.ts'
import { syncPath } from './files.ts'
import { segmentPath } from './segments.ts'

/** Bytes. A segment is closed past this size: large enough to be few, small enough to copy, purge and re-read at once. */
const MAX_SEGMENT_BYTES = 64 * 1024 * 1024

/** Bytes. Larger pieces are written from where they lie: copying them costs more than another buffer in the call. */
const COPIED_BYTES = 16 * 1024
/** Bytes whose checksum is made without a pause: a large body must not keep the thread from answering hooks. */
const CHECKSUM_BYTES = 1024 * 1024

/** Buffers in one call: the system's own limit. */
const MAX_PIECES = 1024

/** A frame's payload, in pieces that lie one after the other on disk. */
export type Payload = readonly Uint8Array[]

export class SegmentWriter {
  private readonly dir: string
  private readonly grouped: boolean
  private file: FileHandle | undefined
  private position: Position
  private readonly onSync: ((ms: number) => void) | undefined
  /** What writes now: one at a time. */
  private busy: Promise<unknown> = Promise.resolve()
  /** After a failed write or sync the segment is never touched again: what the disk holds is unknown. */
  private failed: Error | undefined

  /**
   * `end`: where the last whole frame ends. `grouped`: frames carry their place among those appended with them; the log's do.
   * `onSync`: hears how many milliseconds each write with its sync took.
   */
  constructor(dir: string, end: Position, grouped: boolean, onSync?: (ms: number) => void) {
    this.dir = dir
    this.onSync = onSync
    this.position = end
    this.grouped = grouped
  }

  /** Where the next frame goes; everything before it is durable. */
  end(): Position {
    return this.position
  }

  /** Appends the payloads as frames and syncs. Rejects with the system's error; after that every call rejects. */
  append(payloads: readonly Payload[]): Promise<Position> {
    return this.alone(() => this.write(payloads))
  }

  /** Begins a new segment. Resolves to its number: those before it are never written to again. */
  seal(): Promise<number> {
    return this.alone(async () => {
      if (this.position.offset > 0) {
        await this.close()
        this.position = { segment: this.position.segment + 1, offset: 0 }
      }
      return this.position.segment
    })
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.busy.then(work, work)
    this.busy = done.catch(() => {})
    return done
  }

  private async write(payloads: readonly Payload[]): Promise<Position> {
    if (this.failed !== undefined) throw this.failed
    if (payloads.length === 0) return this.position
    try {
      await this.roll()
      const file = this.file ?? (await this.openFile())
      const { segment, offset } = this.position
      const pieces = merged(await frames(payloads, this.grouped))
      const began = performance.now()
      const end = await writeAll(file, pieces, offset)
      await file.datasync()
      this.onSync?.(performance.now() - began)
      this.position = { segment, offset: end }
      return this.position
    } catch (error) {
      this.failed = error instanceof Error ? error : new Error(String(error))
      throw this.failed
    }
  }

  async close(): Promise<void> {
    const file = this.file
    this.file = undefined
    await file?.close()
  }

  private async roll(): Promise<void> {
    if (this.position.offset < MAX_SEGMENT_BYTES) return
    await this.close()
    this.position = { segment: this.position.segment + 1, offset: 0 }
  }

  private async openFile(): Promise<FileHandle> {
    this.file = await open(segmentPath(this.dir, this.position.segment), this.position.offset === 0 ? 'w' : 'r+', 0o600)
    if (this.position.offset === 0) syncPath(this.dir)
    return this.file
  }
}

/** The frames of all payloads as pieces, in order. */
async function frames(payloads: readonly Payload[], grouped: boolean): Promise<Uint8Array[]> {
  const out: Uint8Array[] = []
  for (const [i, payload] of payloads.entries()) {
    const length = payload.reduce((bytes, piece) => bytes + piece.length, 0)
    const { word, seed } = frameWord(length, grouped ? i : 0)
    let crc = seed
    for (const piece of payload) {
      for (let at = 0; at < piece.length; at += CHECKSUM_BYTES) {
        if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve))
        crc = crc32(piece.subarray(at, at + CHECKSUM_BYTES), crc)
      }
    }
    out.push(encodeFrameHead(word, crc), ...payload)
  }
  return out
}

/** The same bytes in few pieces: short neighbours are copied together. */
function merged(pieces: readonly Uint8Array[]): Uint8Array[] {
  const out: Uint8Array[] = []
  let short: Uint8Array[] = []
  const close = () => {
    if (short.length > 0) out.push(Buffer.concat(short))
    short = []
  }
  for (const piece of pieces) {
    if (piece.length <= COPIED_BYTES) {
      short.push(piece)
      continue
    }
    close()
    out.push(piece)
  }
  close()
  return out
}

/** Writes all pieces from `offset` on; where they end. */
async function writeAll(file: FileHandle, pieces: Uint8Array[], offset: number): Promise<number> {
  let at = offset
  for (let from = 0; from < pieces.length; ) {
    const batch = pieces.slice(from, from + MAX_PIECES)
    let { bytesWritten } = await file.writev(batch, at)
    if (bytesWritten === 0) throw new Error('the disk takes no more bytes')
    at += bytesWritten
    // A short write, as on a disk that fills up, goes on in the middle of a piece.
    for (const piece of batch) {
      if (bytesWritten < piece.length) {
        pieces[from] = piece.subarray(bytesWritten)
        break
      }
      bytesWritten -= piece.length
      from++
    }
  }
  return at
}
