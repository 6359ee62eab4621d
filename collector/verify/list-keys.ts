// The keys that a home's log names, as it stands there: for people, and for those who pin them. Nothing of it is verified.
import { type Body, type Envelope, KEY_RECORDS } from '../../conventions/record.ts'
import { signedRecords } from './log-stream.ts'
import { bodyOf, readRecord } from './read-record.ts'
import { snapshot } from './segments.ts'

export interface ListedKey {
  kid: string
  spki: string
  tiers: string[]
  /** First record that it may sign, and the last once it was replaced. */
  from: number
  last_seq?: number
  revoked?: Pick<Body<'key.revoked'>, 'from_seq' | 'reason'>
}

/** Bytes that every record about keys holds: parsing each record of a long log would take most of the time. */
const MARKS = [...KEY_RECORDS].map((type) => Buffer.from(`"type":"${type}"`))

/** Keys of the log in a home's log folder, oldest first; null where a part of it can't be read. */
export function listKeys(logDir: string): ListedKey[] | null {
  const keys: ListedKey[] = []
  for (const signed of signedRecords(snapshot(logDir))) {
    if (signed === null) return null
    const bytes = Buffer.from(signed.record.buffer, signed.record.byteOffset, signed.record.byteLength)
    if (!MARKS.some((mark) => bytes.includes(mark))) continue
    const { envelope } = readRecord(signed.record)
    if (envelope !== null) take(keys, envelope)
  }
  return keys
}

function take(keys: ListedKey[], record: Envelope): void {
  for (const key of bodyOf(record, 'log.opened')?.keys ?? []) keys.push({ ...key, from: record.log.seq })
  const added = bodyOf(record, 'key.added')
  if (added !== null) keys.push({ ...added, from: record.log.seq + 1 })
  const retired = bodyOf(record, 'key.retired')
  const revoked = bodyOf(record, 'key.revoked')
  const key = keys.find(({ kid }) => kid === (retired ?? revoked)?.kid)
  if (key !== undefined && retired !== null) key.last_seq = retired.last_seq
  if (key !== undefined && revoked !== null) key.revoked = { from_seq: revoked.from_seq, reason: revoked.reason }
}
