// Records of other collectors that came with third-party items, as rows of `import_records`.
import type { DuckDBAppender } from '@duckdb/node-api'
import type { ImportedItem } from '../../../conventions/import.ts'
import { appendText, appendTime } from './record-row.ts'

/** Appends a row for each item that carries one. */
export function appendForeign(to: DuckDBAppender, seq: number, items: readonly ImportedItem[]): void {
  for (const item of items) {
    const { foreign } = item
    if (foreign === undefined) continue
    const { peer, kid, log_id, log_seq, leaf, type, time, tier, trace_id, span_id } = foreign
    const own = item.signal === 'metrics' ? {} : { trace_id: item.trace_id, span_id: item.span_id }
    to.appendUBigInt(BigInt(seq))
    for (const text of [peer, kid, log_id]) appendText(to, text)
    to.appendUBigInt(BigInt(log_seq))
    for (const text of [leaf, type]) appendText(to, text)
    appendTime(to, time)
    for (const text of [tier, trace_id, span_id]) appendText(to, text)
    to.appendBoolean(span_id !== undefined && span_id === own.span_id && trace_id === own.trace_id)
    to.endRow()
  }
}
