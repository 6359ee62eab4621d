// Tables of the index. What is in them can be read again from log and vault at any time, so a change here or in the views needs no
// migration: a file with another schema is dropped and built again.
import { hash } from 'node:crypto'
import { VIEWS } from './views.ts'

export interface TableDoc {
  name: string
  /** One line for people who write queries. */
  doc: string
  columns: string
}

/** Typed tables. Content is in none of them. */
export const TABLES: readonly TableDoc[] = [
  {
    name: 'records',
    doc: 'Every record of the log: its exact bytes, leaf and signature, and its fields as columns; body is JSON.',
    columns: `seq UBIGINT, bytes BLOB, leaf BLOB, kid BLOB, signature BLOB, type VARCHAR, time TIMESTAMP, tier VARCHAR,
      source_kind VARCHAR, source_way VARCHAR, source_event VARCHAR, run_id VARCHAR, run_part UINTEGER, run_seq UBIGINT,
      trace_id VARCHAR, span_id VARCHAR, parent_span_id VARCHAR, call_id VARCHAR, attempt UINTEGER, turn VARCHAR, sub VARCHAR, body JSON`,
  },
  {
    name: 'contents',
    doc: 'Where the content of a record lies in the vault (segment file and byte offset of its frame); never the content.',
    columns: 'seq UBIGINT, name VARCHAR, segment UINTEGER, byte_offset UBIGINT, bytes UBIGINT, dropped BOOLEAN',
  },
  {
    name: 'import_spans',
    doc: 'Third-party spans as received, before de-duplication; only attributes that are ids, names or numbers.',
    columns: `seq UBIGINT, body_hash UBIGINT, trace_id VARCHAR, span_id VARCHAR, parent_span_id VARCHAR, name VARCHAR,
      kind UTINYINT, start_ns UBIGINT, end_ns UBIGINT, service VARCHAR, scope VARCHAR, status UTINYINT, attributes JSON,
      withheld UINTEGER`,
  },
  {
    name: 'import_logs',
    doc: 'Third-party log records as received, before de-duplication; no body, only attributes that are ids, names or numbers.',
    columns: `seq UBIGINT, body_hash UBIGINT, copy UINTEGER, time_ns UBIGINT, severity UTINYINT, event VARCHAR, trace_id VARCHAR,
      span_id VARCHAR, service VARCHAR, scope VARCHAR, attributes JSON, withheld UINTEGER`,
  },
  {
    name: 'import_points',
    doc: 'Third-party metric data points as received, before de-duplication; histograms by their count and sum.',
    columns: `seq UBIGINT, body_hash UBIGINT, metric VARCHAR, unit VARCHAR, kind VARCHAR, temporality UTINYINT,
      start_ns UBIGINT, time_ns UBIGINT, value DOUBLE, count UBIGINT, sum DOUBLE, service VARCHAR, scope VARCHAR,
      attributes JSON, withheld UINTEGER`,
  },
  {
    name: 'import_views',
    doc: 'What each third-party item was taken for, as received, before de-duplication; never its content.',
    columns: `seq UBIGINT, row_hash UBIGINT, copy UINTEGER, signal VARCHAR, trace_id VARCHAR, span_id VARCHAR,
      parent_span_id VARCHAR, name VARCHAR, time_ns UBIGINT, service VARCHAR, dialect VARCHAR, operation VARCHAR, agent VARCHAR,
      session VARCHAR, model VARCHAR, provider VARCHAR, response VARCHAR, tool VARCHAR, call_id VARCHAR,
      agent_decision VARCHAR, finish VARCHAR, outcome VARCHAR, error_type VARCHAR, input_tokens UBIGINT, output_tokens UBIGINT,
      cache_read_tokens UBIGINT, cache_write_tokens UBIGINT, reasoning_tokens UBIGINT, duration_ms DOUBLE, requested JSON,
      metric VARCHAR, value DOUBLE, token_type VARCHAR, unread UINTEGER, unread_names JSON, would VARCHAR, would_rules JSON,
      would_policy VARCHAR`,
  },
  {
    name: 'prices',
    doc: 'List prices that cost is estimated from, in nano-USD a token (1,000 is 1 USD for a million), as of this start. Of those that fit, the highest rank is taken.',
    columns: `rank UINTEGER, name VARCHAR, prefix BOOLEAN, own BOOLEAN, from_time TIMESTAMP, over UBIGINT, input UBIGINT,
      output UBIGINT, cache_read UBIGINT, cache_write UBIGINT, cache_write_1h UBIGINT`,
  },
  {
    name: 'price_table',
    doc: 'Which list prices these are: a hash over all of them, the day the oldest shipped one was read, how many are the person’s own.',
    columns: 'hash VARCHAR, dated VARCHAR, own UINTEGER',
  },
  {
    name: 'import_records',
    doc: 'Records of other collectors that came on third-party items and verify under a configured peer’s key, as received.',
    columns: `seq UBIGINT, peer VARCHAR, kid VARCHAR, log_id VARCHAR, log_seq UBIGINT, leaf VARCHAR, type VARCHAR,
      time TIMESTAMP, tier VARCHAR, trace_id VARCHAR, span_id VARCHAR, same_span BOOLEAN`,
  },
  {
    name: 'meta',
    doc: 'How far the index has read the log and the vault, written in the transaction of the rows themselves.',
    columns: `schema VARCHAR, records UBIGINT, log_segment UINTEGER, log_offset UBIGINT, last_segment UINTEGER,
      last_offset UBIGINT, last_leaf BLOB, vault_segment UINTEGER, vault_offset UBIGINT, vault_skipped UINTEGER,
      imports_unread UINTEGER`,
  },
]

/** Changes with any definition, so that a file of another version is noticed. */
export const SCHEMA_ID = hash('sha256', JSON.stringify([TABLES, VIEWS]), 'hex').slice(0, 16)

/** One text as an SQL literal. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Statements that make an empty index. */
export function createSchema(): string[] {
  return [
    ...TABLES.flatMap(({ name, doc, columns }) => [
      `CREATE TABLE ${name} (${columns})`,
      `COMMENT ON TABLE ${name} IS ${literal(doc)}`,
    ]),
    `INSERT INTO meta VALUES (${literal(SCHEMA_ID)}, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0)`,
    ...VIEWS.flatMap(({ name, doc, sql }) => [
      `CREATE VIEW ${name} AS ${sql}`,
      `COMMENT ON VIEW ${name} IS ${literal(doc)}`,
    ]),
  ]
}
