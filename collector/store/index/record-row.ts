// A log frame as a row of `records`. Whatever a frame holds, it becomes a row: judging it is the verifier's business.
import { hash } from 'node:crypto'
import type { DuckDBAppender } from '@duckdb/node-api'
import { DuckDBTimestampValue } from '@duckdb/node-api'
import { decodeLogPayload, type SignedRecord } from '../../../conventions/frame.ts'
import { leafInput } from '../../../conventions/signing.ts'

type Fields = Record<string, unknown>

export interface RecordRow extends SignedRecord {
  seq: number
  leaf: Uint8Array
  type: string
  body: Fields
  fields: Fields
}

/** Type of the row of a frame that holds no readable record. */
export const UNREADABLE = '(unreadable)'

/** Parts of a log frame's payload; `expected` is the seq of a frame that does not say its own. */
export function recordRow(payload: Uint8Array, expected: number): RecordRow {
  const empty = new Uint8Array(0)
  const signed = decodeLogPayload(payload) ?? { kid: empty, signature: empty, record: payload }
  const fields = parse(signed.record)
  const leaf = Buffer.from(hash('sha256', leafInput(signed.record), 'hex'), 'hex')
  const seq = object(fields.log).seq
  return {
    ...signed,
    leaf,
    fields,
    seq: typeof seq === 'number' && Number.isSafeInteger(seq) && seq >= 0 ? seq : expected,
    type: text(fields.type) ?? UNREADABLE,
    body: object(fields.body),
  }
}

/** True when the record says that content of it lies in the vault. */
export function hasContent(row: RecordRow): boolean {
  return Array.isArray(row.fields.commit) && row.fields.commit.length > 0
}

/** Appends one row to `records`, in the order of the table's columns. */
export function appendRecord(to: DuckDBAppender, row: RecordRow): void {
  const { fields, body } = row
  const source = object(fields.source)
  const run = object(fields.run)
  const trace = object(fields.trace)
  const call = object(fields.call)
  to.appendUBigInt(BigInt(row.seq))
  to.appendBlob(row.record)
  to.appendBlob(row.leaf)
  to.appendBlob(row.kid)
  to.appendBlob(row.signature)
  to.appendVarchar(row.type)
  appendTime(to, text(fields.time))
  for (const value of [fields.tier, source.kind, source.way, source.event, run.id]) appendText(to, value)
  appendUInteger(to, run.part)
  const runSeq = count(run.seq)
  if (runSeq === null) to.appendNull()
  else to.appendUBigInt(BigInt(runSeq))
  for (const value of [trace.trace_id, trace.span_id, trace.parent, call.id]) appendText(to, value)
  appendUInteger(to, call.attempt)
  appendText(to, body.turn)
  appendText(to, body.sub)
  to.appendVarchar(JSON.stringify(body))
  to.endRow()
}

/** A time as records write it, or NULL for anything else. */
export function appendTime(to: DuckDBAppender, time = ''): void {
  const ms = Date.parse(time)
  if (Number.isNaN(ms)) to.appendNull()
  else to.appendTimestamp(new DuckDBTimestampValue(BigInt(ms) * 1000n))
}

/** A string, or NULL for anything else. */
export function appendText(to: DuckDBAppender, value: unknown): void {
  if (typeof value === 'string') to.appendVarchar(value)
  else to.appendNull()
}

const MAX_UINTEGER = 0xffff_ffff

function appendUInteger(to: DuckDBAppender, value: unknown): void {
  const number = count(value)
  if (number === null || number > MAX_UINTEGER) to.appendNull()
  else to.appendUInteger(number)
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function object(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {}
}

/** The writer's bytes are canonical JSON; anything else reads as an empty record. */
function parse(bytes: Uint8Array): Fields {
  try {
    return object(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')))
  } catch {
    return {}
  }
}
