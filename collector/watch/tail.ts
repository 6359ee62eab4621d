// Reads what a transcript gained: whole lines, a bounded piece at a time, never waiting for a pipe and never through a link.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Bytes of one piece, and so of the longest line that is read: parsing a piece must not hold up a hook that waits for its answer. */
export const PIECE_BYTES = 256 * 1024
/** Pieces of one file at one look; the rest follows at the next. */
const MAX_PIECES = 8

/** Where reading stands in a file. */
export interface Place {
  offset: number
  /** Inside a line that is too long to be read: it is dropped up to its end. */
  inLongLine: boolean
}

export interface Tail {
  place: Place
  /** Lines that were too long. */
  long: number
  /** There is more to read at once. */
  more: boolean
}

/**
 * Hands each whole line after `place` to `take`, and says where reading stands then; a half-written last line waits. Null when there is
 * no regular file at the path, or it is shorter than the place. Throws what the file system throws.
 */
export async function readTail(path: string, place: Place, take: (line: string) => void): Promise<Tail | null> {
  // Without O_NONBLOCK a named pipe would hold up a thread for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const stat = await file.stat()
    if (!stat.isFile() || stat.size < place.offset) return null
    let { offset, inLongLine } = place
    let long = 0
    let waits = false
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, stat.size - offset))
    for (let i = 0; i < MAX_PIECES && offset < stat.size && !waits; i++) {
      const { bytesRead } = await file.read(piece, 0, piece.length, offset)
      const bytes = piece.subarray(0, bytesRead)
      let from = 0
      for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, from)) {
        if (!inLongLine) take(bytes.toString('utf8', from, end))
        inLongLine = false
        from = end + 1
      }
      waits = from === 0 && bytesRead < PIECE_BYTES
      if (from === 0 && !waits) {
        if (!inLongLine) long++
        inLongLine = true
        from = bytesRead
      }
      offset += from
    }
    return { place: { offset, inLongLine }, long, more: offset < stat.size && !waits }
  } finally {
    await file.close()
  }
}
