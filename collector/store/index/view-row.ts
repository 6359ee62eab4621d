// What a third-party item was taken for, as a row of `import_views`. Facts only: ids, names, numbers.
import { hash } from 'node:crypto'
import type { DuckDBAppender } from '@duckdb/node-api'
import { MAX_TEXT_CHARS } from '../../../conventions/dialects/view.ts'
import type { ImportedItem, ImportedView } from '../../../conventions/import.ts'
import { appendText } from './record-row.ts'

/**
 * Appends the rows of one request. `row_hash` covers what is in the row: copies of an item that came twice have the same. Two log
 * records of one request may differ in their content alone, and that is not here: `copy` counts those that look alike.
 */
export function appendViews(to: DuckDBAppender, seq: number, items: readonly ImportedItem[]): void {
  const alike = new Map<string, number>()
  for (const item of items) {
    const { view } = item
    if (view === undefined) continue
    const { would, ...facts } = view
    const place = placeOf(item)
    const key = hash('sha256', JSON.stringify([place, item.service, facts]), 'hex')
    const copy = alike.get(key) ?? 0
    alike.set(key, copy + 1)
    to.appendUBigInt(BigInt(seq))
    to.appendUBigInt(BigInt(`0x${key.slice(0, 16)}`))
    to.appendUInteger(copy)
    for (const text of [place.signal, place.trace_id, place.span_id, place.parent_span_id, place.name])
      appendText(to, text)
    appendCount(to, /^\d{1,20}$/.test(place.time_ns) ? BigInt(place.time_ns) : undefined)
    appendFacts(to, item.service, view)
    appendText(to, would && `would_${would.decision}`)
    appendText(to, would && JSON.stringify(would.rules))
    appendText(to, would?.policyHash)
    to.endRow()
  }
}

interface Place {
  signal: 'span' | 'log' | 'metric'
  trace_id?: string | undefined
  span_id?: string | undefined
  parent_span_id?: string | undefined
  /** Of a span, or of a log record's event. */
  name?: string | undefined
  /** Nanoseconds since 1970, decimal. */
  time_ns: string
}

function placeOf(item: ImportedItem): Place {
  switch (item.signal) {
    case 'traces': {
      const { trace_id, span_id, parent_span_id, name, start_ns } = item
      return { signal: 'span', trace_id, span_id, parent_span_id, name, time_ns: start_ns }
    }
    case 'logs': {
      const { trace_id, span_id, event, time_ns } = item
      const name = event !== undefined && event.length <= MAX_TEXT_CHARS ? event : undefined
      return { signal: 'log', trace_id, span_id, name, time_ns }
    }
    case 'metrics':
      return { signal: 'metric', time_ns: item.time_ns }
  }
}

/** The columns from `service` to `unread_names`, in their order. */
function appendFacts(to: DuckDBAppender, service: string | undefined, view: ImportedView): void {
  const { dialect, operation, agent, session, model, provider, response, tool, call } = view
  const { decision, finish, outcome, error_type, tokens, duration_ms, requested, metric, unread } = view
  for (const text of [service, dialect, operation, agent, session, model, provider, response, tool, call])
    appendText(to, text)
  for (const text of [decision, finish, outcome, error_type]) appendText(to, text)
  for (const kind of ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const)
    appendCount(to, tokens?.[kind])
  appendDouble(to, duration_ms)
  appendText(to, requested.length === 0 ? undefined : JSON.stringify(requested))
  appendText(to, metric?.name)
  appendDouble(to, metric?.value)
  appendText(to, metric?.token_type)
  to.appendUInteger(unread.count)
  appendText(to, unread.count === 0 ? undefined : JSON.stringify(unread.names))
}

const MAX_U64 = 2n ** 64n - 1n

function appendCount(to: DuckDBAppender, value: number | bigint | undefined): void {
  const count = value === undefined ? -1n : BigInt(value)
  if (count >= 0n && count <= MAX_U64) to.appendUBigInt(count)
  else to.appendNull()
}

function appendDouble(to: DuckDBAppender, value: number | undefined): void {
  if (value === undefined) to.appendNull()
  else to.appendDouble(value)
}
