// The log as its readers see it: entries between two positions of the log segments.
import { hash } from 'node:crypto'
import { decodeLogPayload } from '../../conventions/frame.ts'
import type { LogEntry, LogSource, Position } from '../../conventions/log.ts'
import type { AnyRecord } from '../../conventions/record.ts'
import { leafInput } from '../../conventions/signing.ts'
import { type Frame, readFrames, SegmentError } from './segments.ts'

/** A log entry of a frame. Throws SegmentError when the frame is no entry: the caller reads its own writing. */
export function entryOf(frame: Frame): LogEntry {
  const signed = decodeLogPayload(frame.payload)
  if (signed === null) throw new SegmentError('a frame too short to be a record', frame.at)
  let record: AnyRecord
  try {
    record = JSON.parse(view(signed.record).toString('utf8'))
  } catch {
    throw new SegmentError('a frame that holds no record', frame.at)
  }
  return {
    record,
    bytes: signed.record,
    leaf: hash('sha256', leafInput(signed.record), 'base64'),
    kid: `sha256:${view(signed.kid).toString('hex')}`,
    signature: view(signed.signature).toString('base64'),
    next: frame.next,
  }
}

/** The same bytes, not copied: each record passes here at every start. */
function view({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Reads durable entries: never past what `durableEnd` says at the time of the call. */
export class LogReader implements LogSource {
  private readonly dir: string
  private readonly durableEnd: () => Position

  constructor(dir: string, durableEnd: () => Position) {
    this.dir = dir
    this.durableEnd = durableEnd
  }

  read(from: Position, maxBytes: number): LogEntry[] {
    return readFrames(this.dir, from, maxBytes, this.durableEnd()).map(entryOf)
  }
}
