// How far one destination has been served: a small file, replaced as a whole, so that it is always an old or a new one.
import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as z from 'zod'
import type { Position } from '../../conventions/log.ts'

const count = z.int().min(0)

const cursorSchema = z.strictObject({
  v: z.literal(1),
  /** Log that the cursor points into; null before the first delivery. */
  log_id: z.string().nullable(),
  /** Everything before this place has been delivered or counted below, and starts at record `next_seq`. */
  position: z.strictObject({ segment: count, offset: count }),
  next_seq: count,
  /** Items of that record that have been delivered or counted, too; absent: none. */
  items_of_next: count.optional(),
  /** Spans the destination took. */
  sent: count,
  /** Spans it turned down in a partial success. */
  rejected: count,
  /** Spans it refused with an error, one by one; their records stay in the log. */
  quarantined: count,
  /** Requests that had to be repeated. */
  retries: count,
  /** Spans of others that were not passed on: see LeftOut. */
  withheld: count.default(0),
  unreadable: count.default(0),
  /**
   * Turn roots of records before `end_seq` may have gone out with this checkpoint (none: without one). They get the same again,
   * so that a span id has one body.
   */
  in_flight: z.strictObject({ end_seq: count, checkpoint: z.string().optional() }).optional(),
})

export type Cursor = z.infer<typeof cursorSchema>

/** A destination that has been sent nothing. */
export function freshCursor(start: Position): Cursor {
  const counters = { sent: 0, rejected: 0, quarantined: 0, retries: 0, withheld: 0, unreadable: 0 }
  return { v: 1, log_id: null, position: start, next_seq: 0, ...counters }
}

type CursorRead = { ok: true; cursor: Cursor | null } | { ok: false; message: string }

/** Reads the file; a cursor of null when there is none. Never starts over because of a file it can't read: that would send all again. */
export async function readCursor(file: string): Promise<CursorRead> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOENT' ? { ok: true, cursor: null } : { ok: false, message: `the cursor can't be read: ${code}` }
  }
  const parsed = cursorSchema.safeParse(parseJson(text))
  if (parsed.success) return { ok: true, cursor: parsed.data }
  return { ok: false, message: 'the cursor file is not one of ours; remove it to send the whole log again' }
}

/** Replaces the file, durably. Throws the system's error. */
export async function writeCursor(file: string, cursor: Cursor): Promise<void> {
  const temporary = `${file}.new`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(cursor)}\n`)
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
  const folder = await open(dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The system's code of an error, such as ENOSPC, or its name. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Refused by the schema, like any other text that is no cursor.
    return undefined
  }
}
