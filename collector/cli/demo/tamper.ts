// Changes one byte of one recorded record, as somebody would who knows the file format: the frame's checksum is made to fit again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { decodeLogPayload, encodeFrame, FRAME_HEAD, readFrame, segmentName } from '../../../conventions/frame.ts'

export interface Tampered {
  seq: number
  type: string
}

/**
 * In the log of `logDir`, finds the first record whose text holds every one of `marks` and puts `to` in the place of `from`, which
 * must differ in one byte. Returns which record that was, null when there is none.
 */
export function changeRecord(logDir: string, marks: readonly string[], from: string, to: string): Tampered | null {
  for (let n = 0; existsSync(`${logDir}/${segmentName(n)}`); n++) {
    const path = `${logDir}/${segmentName(n)}`
    const bytes = readFileSync(path)
    for (let at = 0; at < bytes.length; ) {
      const frame = readFrame(bytes, at, crc32)
      if (frame.kind !== 'frame') break
      const record = Buffer.from(decodeLogPayload(frame.payload)?.record ?? [])
      const text = record.toString('latin1')
      if ([...marks, from].every((mark) => text.includes(mark))) {
        const place = at + FRAME_HEAD + (frame.payload.length - record.length) + text.indexOf(from)
        bytes.write(to, place, 'latin1')
        bytes.set(encodeFrame(frame.payload, crc32, frame.place), at)
        writeFileSync(path, bytes)
        const { type, log } = JSON.parse(record.toString('utf8')) as { type: string; log: { seq: number } }
        return { seq: log.seq, type }
      }
      at = frame.next
    }
  }
  return null
}
