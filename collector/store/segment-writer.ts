// Appends frames to the newest segment of a folder (log or vault). One writer a folder; nothing is ever rewritten.
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { encodeFrame } from '../../conventions/frame.ts'
import type { Position } from '../../conventions/log.ts'
import { syncPath } from './files.ts'
import { segmentPath } from './segments.ts'

/** Bytes. A segment is closed past this size: large enough to be few, small enough to copy, purge and re-read at once. */
const MAX_SEGMENT_BYTES = 64 * 1024 * 1024

export class SegmentWriter {
  private readonly dir: string
  private readonly grouped: boolean
  private file: FileHandle | undefined
  private position: Position
  private readonly onSync: ((ms: number) => void) | undefined
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
  async append(payloads: readonly Uint8Array[]): Promise<Position> {
    if (this.failed !== undefined) throw this.failed
    if (payloads.length === 0) return this.position
    try {
      await this.roll()
      const file = this.file ?? (await this.openFile())
      const bytes = Buffer.concat(payloads.map((payload, i) => encodeFrame(payload, crc32, this.grouped ? i : 0)))
      const began = performance.now()
      let written = 0
      while (written < bytes.length) {
        const result = await file.write(bytes, written, bytes.length - written, this.position.offset + written)
        written += result.bytesWritten
      }
      await file.datasync()
      this.onSync?.(performance.now() - began)
      this.position = { segment: this.position.segment, offset: this.position.offset + bytes.length }
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
