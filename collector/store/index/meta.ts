// The one row of `meta`: how far the index has read, and what it read last, so that another log under the same path is noticed.
import { blobValue, DuckDBBlobValue, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'
import { equalBytes } from '../../../conventions/bytes.ts'
import { LOG_START, type Position } from '../../../conventions/log.ts'
import { readFrames } from '../segments.ts'
import { recordRow } from './record-row.ts'
import { SCHEMA_ID } from './schema.ts'

export interface Meta {
  /** Where the first record that is not indexed starts. */
  log: Position
  /** Where the first vault frame that is not indexed starts. */
  vault: Position
  /** Rows of `records`. */
  records: number
  /** The last indexed record; null in an empty index. */
  last: { at: Position; leaf: Uint8Array } | null
  /** Stretches of the vault that could not be read. */
  vaultSkipped: number
  /** Imports whose body could not be read; they have no rows in `import_spans`. */
  importsUnread: number
}

/** An index of nothing. */
export const EMPTY: Meta = {
  log: LOG_START,
  vault: LOG_START,
  records: 0,
  last: null,
  vaultSkipped: 0,
  importsUnread: 0,
}

/** Reads `meta`; null when the file was written by another version of this schema or holds no such table. */
export async function readMeta(connection: DuckDBConnection): Promise<Meta | null> {
  const tables = await connection.runAndReadAll("SELECT 1 FROM duckdb_tables() WHERE table_name = 'meta'")
  if (tables.currentRowCount === 0) return null
  const result = await connection.runAndReadAll('SELECT * FROM meta')
  const row = result.getRowObjects()[0]
  if (row === undefined || row.schema !== SCHEMA_ID) return null
  const at = (segment: DuckDBValue | undefined, offset: DuckDBValue | undefined) => ({
    segment: Number(segment),
    offset: Number(offset),
  })
  const leaf = row.last_leaf
  return {
    log: at(row.log_segment, row.log_offset),
    vault: at(row.vault_segment, row.vault_offset),
    records: Number(row.records),
    last: leaf instanceof DuckDBBlobValue ? { at: at(row.last_segment, row.last_offset), leaf: leaf.bytes } : null,
    vaultSkipped: Number(row.vault_skipped),
    importsUnread: Number(row.imports_unread),
  }
}

/** Writes `meta` inside the transaction of the rows it speaks of. */
export async function writeMeta(connection: DuckDBConnection, meta: Meta): Promise<void> {
  const { log, vault, records, last, vaultSkipped, importsUnread } = meta
  await connection.run(
    `UPDATE meta SET log_segment = $1, log_offset = $2, vault_segment = $3, vault_offset = $4, records = $5,
      last_segment = $6, last_offset = $7, last_leaf = $8, vault_skipped = $9, imports_unread = $10`,
    [
      log.segment,
      log.offset,
      vault.segment,
      vault.offset,
      records,
      last === null ? null : last.at.segment,
      last === null ? null : last.at.offset,
      last === null ? null : blobValue(last.leaf),
      vaultSkipped,
      importsUnread,
    ],
  )
}

/** True when the log still holds, at the same place, the record that was indexed last. */
export function continues(logDir: string, meta: Meta): boolean {
  if (meta.last === null) return meta.records === 0
  const frame = readFrames(logDir, meta.last.at, 1)[0]
  return frame !== undefined && equalBytes(recordRow(frame.payload, 0).leaf, meta.last.leaf)
}
