// Reads the bytes of a record: the one canonical text, the envelope, and the body of a type this version knows.
import { canonicalBytes } from '../../conventions/jcs.ts'
import { MAX_ENTRY_BYTES } from '../../conventions/limits.ts'
import { BODIES, type Body, ENVELOPE, type Envelope, isKnownType, type RecordType } from '../../conventions/record.ts'
import { parseStrict } from '../../conventions/strict-json.ts'
import { hashText, sameBytes } from './crypto.ts'
import type { Code } from './findings.ts'
import { leafHash } from './merkle.ts'

export interface ReadRecord {
  bytes: Uint8Array
  leaf: Uint8Array
  leaf64: string
  /** Null when the bytes are no record. */
  envelope: Envelope | null
  /** Newer versions may know more types; such a record is checked by its envelope alone. */
  known: boolean
  problem: { code: Code; note: string } | null
}

/** Reads one record. Never throws on bad bytes. */
export function readRecord(bytes: Uint8Array): ReadRecord {
  const leaf = leafHash(bytes)
  const leaf64 = hashText(leaf)
  const refuse = (code: Code, note: string): ReadRecord => {
    return { bytes, leaf, leaf64, envelope: null, known: false, problem: { code, note } }
  }
  if (bytes.length > MAX_ENTRY_BYTES) return refuse('limit.record', `${bytes.length} bytes`)
  const parsed = parseStrict(bytes)
  if (!parsed.ok) return refuse('record.syntax', parsed.error.message)
  if (!sameBytes(canonicalBytes(parsed.value), bytes)) return refuse('record.syntax', 'not the canonical text')
  const envelope = ENVELOPE.safeParse(parsed.value)
  if (!envelope.success) return refuse('record.schema', explain(envelope.error))
  const { type, body } = envelope.data
  const known = isKnownType(type)
  if (known) {
    const result = BODIES[type].safeParse(body)
    if (!result.success) return refuse('record.schema', `${type}: ${explain(result.error)}`)
  }
  return { bytes, leaf, leaf64, envelope: envelope.data, known, problem: null }
}

/** The body of a record that passed `readRecord`, when it is of that type. */
export function bodyOf<T extends RecordType>(record: Envelope, type: T): Body<T> | null {
  return record.type === type ? (record.body as Body<T>) : null
}

/** First complaint of a schema, without the value it was about. */
function explain(error: { issues: readonly { path: PropertyKey[]; code: string }[] }): string {
  const [issue] = error.issues
  return issue === undefined
    ? 'not the shape of its type'
    : `${issue.path.map(String).join('.') || 'record'}: ${issue.code}`
}
