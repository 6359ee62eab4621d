// What a third-party item was taken for, as a row of `import_views`. Facts only: ids, names, numbers.
import { hash } from 'node:crypto'
import type { DuckDBAppender } from '@duckdb/node-api'
import { MAX_TEXT_CHARS, TOKEN_KINDS } from '../../../conventions/dialects/view.ts'
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
    const { signal, trace_id, span_id, parent_span_id, name, time_ns } = placeOf(item)
    const { requested, metric, unread, would } = view
    const asked = requested.length === 0 ? undefined : JSON.stringify(requested)
    const names = unread.count === 0 ? undefined : JSON.stringify(unread.names)
    const place = [signal, trace_id, span_id, parent_span_id, name]
    const texts = textsOf(item.service, view)
    const counts = TOKEN_KINDS.map((kind) => view.tokens?.[kind])
    // JSON keeps its parts apart whatever is in them.
    const row = [place, time_ns, texts, counts, view.duration_ms, asked, metric, unread.count, names]
    const key = hash('sha256', JSON.stringify(row), 'hex').slice(0, 16)
    const copy = alike.get(key) ?? 0
    alike.set(key, copy + 1)
    to.appendUBigInt(BigInt(seq))
    to.appendUBigInt(BigInt(`0x${key}`))
    to.appendUInteger(copy)
    for (const text of place) appendText(to, text)
    appendCount(to, /^\d{1,20}$/.test(time_ns) ? BigInt(time_ns) : undefined)
    for (const text of texts) appendText(to, text)
    for (const count of counts) appendCount(to, count)
    appendDouble(to, view.duration_ms)
    appendText(to, asked)
    appendText(to, metric?.name)
    appendDouble(to, metric?.value)
    appendText(to, metric?.token_type)
    to.appendUInteger(unread.count)
    appendText(to, names)
    appendText(to, would && `would_${would.decision}`)
    appendText(to, would && JSON.stringify(would.rules))
    appendText(to, would?.policyHash)
    to.endRow()
  }
}

/** The columns from `service` to `error_type`, in their order. */
function textsOf(service: string | undefined, view: ImportedView): (string | null | undefined)[] {
  const { dialect, operation, agent, session, model, provider, response, tool, call } = view
  const { decision, finish, outcome, error_type } = view
  const what = [service, dialect, operation, agent, session, model, provider, response, tool, call]
  what.push(decision, finish, outcome, error_type)
  return what
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

const MAX_U64 = 2n ** 64n - 1n

function appendCount(to: DuckDBAppender, value: number | bigint | undefined): void {
  const count = value === undefined ? undefined : BigInt(value)
  if (count !== undefined && count >= 0n && count <= MAX_U64) to.appendUBigInt(count)
  else to.appendNull()
}

function appendDouble(to: DuckDBAppender, value: number | undefined): void {
  if (value === undefined) to.appendNull()
  else to.appendDouble(value)
}
