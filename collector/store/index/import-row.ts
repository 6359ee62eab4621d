// Third-party telemetry as rows of `import_spans`, `import_logs` and `import_points`. The index holds no content, so an attribute enters it only when it is a number, a
// boolean, or a text under a key that is known to hold an id or a name; the rest stays in the vault, where it can be erased.
import { hash } from 'node:crypto'
import type { DuckDBAppender } from '@duckdb/node-api'
import {
  type ImportedItem,
  type ImportedLog,
  type ImportedPoint,
  type ImportedSpan,
  NAME_KEYS,
  type Signal,
} from '../../../conventions/import.ts'
import type { Json } from '../../../conventions/strict-json.ts'
import { appendText } from './record-row.ts'

/** Reads the items of one received OTLP body, those with this log's own id left out. Throws when the body can't be read. */
export type ImportReader = (
  body: Uint8Array,
  encoding: 'protobuf' | 'json',
  signal: Signal,
  logId: string,
) => ImportedItem[]

export const IMPORT_TABLES = { traces: 'import_spans', logs: 'import_logs', metrics: 'import_points' } as const
export type ImportAppenders = Record<Signal, DuckDBAppender>

/** Characters. Ids and names are shorter; a longer text under a known key is content by mistake. */
const MAX_TEXT_CHARS = 256

/** Names a host: it may be looked at here, and does not leave. */
const ADDRESS_KEY = 'server.address'

/** The attributes that may enter the index, as JSON text, and how many may not. */
function indexedAttributes(attributes: ImportedSpan['attributes']): { text: string; withheld: number } {
  let text = ''
  let withheld = 0
  for (const key in attributes) {
    const value = attributes[key] as Json
    const known = NAME_TEXTS.get(key)
    if (isPlain(value) || (known !== undefined && isText(value))) {
      text += `${text === '' ? '' : ','}${known ?? JSON.stringify(key)}:${JSON.stringify(value)}`
    } else withheld++
  }
  return { text: `{${text}}`, withheld }
}

/** Keys whose text may enter, each as JSON. */
const NAME_TEXTS: ReadonlyMap<string, string> = new Map(
  [...NAME_KEYS, ADDRESS_KEY].map((key) => [key, JSON.stringify(key)]),
)

function isPlain(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}

function isText(value: Json): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string' && item.length <= MAX_TEXT_CHARS)
  return typeof value === 'string' && value.length <= MAX_TEXT_CHARS
}

const MAX_U64 = 2n ** 64n - 1n
const MAX_U8 = 255

/**
 * Appends the rows of one request. Their `body_hash`, by which copies are known, covers what is in the row only: a hash of content could
 * be guessed from. Log records have no ids, and two may differ in their content alone: `copy` counts those of one request that look alike.
 */
export function appendImported(to: ImportAppenders, seq: number, items: readonly ImportedItem[]): void {
  const alike = new Map<bigint, number>()
  for (const item of items) {
    if (item.signal === 'traces') appendSpan(to.traces, seq, item)
    else if (item.signal === 'logs') appendLog(to.logs, seq, item, alike)
    else appendPoint(to.metrics, seq, item)
  }
}

function appendSpan(to: DuckDBAppender, seq: number, span: ImportedSpan): void {
  const { text: attributes, withheld } = indexedAttributes(span.attributes)
  const { parent_span_id, name, kind, start_ns, end_ns, service, scope, status } = span
  appendKey(to, seq, [parent_span_id, name, kind, start_ns, end_ns, service, scope, status, withheld], attributes)
  for (const value of [span.trace_id, span.span_id, parent_span_id, name]) appendText(to, value)
  appendSmall(to, kind)
  appendNanos(to, start_ns)
  appendNanos(to, end_ns)
  appendText(to, service)
  appendText(to, scope)
  appendSmall(to, status)
  to.appendVarchar(attributes)
  to.appendUInteger(withheld)
  to.endRow()
}

function appendLog(to: DuckDBAppender, seq: number, log: ImportedLog, alike: Map<bigint, number>): void {
  const { text: attributes, withheld } = indexedAttributes(log.attributes)
  const { time_ns, severity, trace_id, span_id, service, scope } = log
  const event = short(log.event)
  const key = appendKey(to, seq, [time_ns, severity, event, trace_id, span_id, service, scope, withheld], attributes)
  const copy = alike.get(key) ?? 0
  alike.set(key, copy + 1)
  to.appendUInteger(copy)
  appendNanos(to, time_ns)
  appendSmall(to, severity)
  for (const value of [event, trace_id, span_id, service, scope]) appendText(to, value)
  to.appendVarchar(attributes)
  to.appendUInteger(withheld)
  to.endRow()
}

function appendPoint(to: DuckDBAppender, seq: number, point: ImportedPoint): void {
  const { text: attributes, withheld } = indexedAttributes(point.attributes)
  const { metric, unit, kind, temporality, start_ns, time_ns, value, count, sum, service, scope } = point
  const row = [metric, unit, kind, temporality, start_ns, time_ns, value, count, sum, service, scope, withheld]
  appendKey(to, seq, row, attributes)
  for (const text of [short(metric), short(unit), kind]) appendText(to, text)
  appendSmall(to, temporality)
  appendNanos(to, start_ns)
  appendNanos(to, time_ns)
  appendDouble(to, value)
  appendNanos(to, count ?? '')
  appendDouble(to, sum)
  appendText(to, service)
  appendText(to, scope)
  to.appendVarchar(attributes)
  to.appendUInteger(withheld)
  to.endRow()
}

/** A name; longer text in its place is content by mistake. */
function short(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= MAX_TEXT_CHARS ? text : undefined
}

function appendKey(
  to: DuckDBAppender,
  seq: number,
  row: readonly (string | number | undefined)[],
  attributes: string,
): bigint {
  // Two pieces of JSON: where the first one ends can't be mistaken.
  const key = BigInt(`0x${hash('sha256', JSON.stringify(row) + attributes, 'hex').slice(0, 16)}`)
  to.appendUBigInt(BigInt(seq))
  to.appendUBigInt(key)
  return key
}

function appendSmall(to: DuckDBAppender, value: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_U8) to.appendUTinyInt(value)
  else to.appendNull()
}

function appendDouble(to: DuckDBAppender, value: number | undefined): void {
  if (value === undefined) to.appendNull()
  else to.appendDouble(value)
}

/** An unsigned 64-bit number in decimal; NULL for anything else. */
function appendNanos(to: DuckDBAppender, value: string): void {
  const nanos = /^\d{1,20}$/.test(value) ? BigInt(value) : -1n
  if (nanos >= 0n && nanos <= MAX_U64) to.appendUBigInt(nanos)
  else to.appendNull()
}
