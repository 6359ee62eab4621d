// Carries the log into the index: rows and the place reached are committed together, so a kill at any moment leaves neither
// duplicate nor hole.
import type { DuckDBAppender, DuckDBConnection } from '@duckdb/node-api'
import type { ImportedItem, Signal } from '../../../conventions/import.ts'
import type { Position } from '../../../conventions/log.ts'
import { type Frame, readFrames, SegmentError } from '../segments.ts'
import { appendForeign } from './foreign-row.ts'
import { appendImported, IMPORT_TABLES, type ImportAppenders, type ImportReader } from './import-row.ts'
import { type Meta, writeMeta } from './meta.ts'
import { appendRecord, hasContent, type RecordRow, recordRow } from './record-row.ts'
import type { VaultCursor, VaultFrame } from './vault-cursor.ts'
import { appendViews } from './view-row.ts'

/** Rows per transaction: large enough that the commit's share is small, small enough for the memory limit. */
const MAX_ROWS = 20_000
/** Bytes of log per transaction: about as many rows of the usual size. */
const MAX_BYTES = 16 * 1024 * 1024

export interface SyncSource {
  logDir: string
  /** Stands where `meta` says; kept from one transaction to the next, so that what it read ahead is used. */
  vault: VaultCursor
  readImport?: ImportReader | undefined
  /** First position that is not durable yet. Undefined: nobody writes, read up to the first frame that is not whole. */
  durable: Position | undefined
}

/**
 * One transaction of rows from where `meta` stands. Returns the new meta, or the same object when there is nothing to do. After an
 * error the cursor is of no more use.
 */
export async function syncOnce(connection: DuckDBConnection, source: SyncSource, meta: Meta): Promise<Meta> {
  const frames = newFrames(source, meta.log)
  if (frames.length === 0) return meta
  await connection.run('BEGIN TRANSACTION')
  const appenders: DuckDBAppender[] = []
  try {
    const appenderOf = async (table: string) => {
      const appender = await connection.createAppender(table)
      appenders.push(appender)
      return appender
    }
    const records = await appenderOf('records')
    const contents = await appenderOf('contents')
    const imports: ImportAppenders = {
      traces: await appenderOf(IMPORT_TABLES.traces),
      logs: await appenderOf(IMPORT_TABLES.logs),
      metrics: await appenderOf(IMPORT_TABLES.metrics),
    }
    const views = await appenderOf('import_views')
    const foreign = await appenderOf('import_records')
    const { vault } = source
    const skippedBefore = vault.skipped
    let next = meta
    let rows = 0
    let unread = 0
    for (const frame of frames) {
      const row = recordRow(frame.payload, next.records)
      appendRecord(records, row)
      rows++
      if (hasContent(row)) {
        for (const content of vault.take(row.seq)) {
          appendContent(contents, content)
          const imported = importedItems(row, content, source.readImport)
          if (imported === null) unread++
          appendImported(imports, row.seq, imported ?? [])
          appendViews(views, row.seq, imported ?? [])
          appendForeign(foreign, row.seq, imported ?? [])
          rows += 1 + (imported?.length ?? 0)
        }
      }
      next = { ...next, log: frame.next, records: next.records + 1, last: { at: frame.at, leaf: row.leaf } }
      if (rows >= MAX_ROWS) break
    }
    for (const appender of appenders.splice(0)) appender.closeSync()
    const reached = { ...next, vault: vault.position, vaultSkipped: meta.vaultSkipped + vault.skipped - skippedBefore }
    reached.importsUnread += unread
    await writeMeta(connection, reached)
    await connection.run('COMMIT')
    return reached
  } catch (error) {
    abandon(appenders)
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Frames from `from` on that are there to stay. */
function newFrames({ logDir, durable }: SyncSource, from: Position): Frame[] {
  if (durable === undefined) {
    const frames = readFrames(logDir, from, MAX_BYTES)
    // A power cut can leave zeros, and eight zeros read as an empty frame: the log ends before them.
    const zeros = frames.findIndex(({ payload }) => payload.length === 0)
    return zeros < 0 ? frames : frames.slice(0, zeros)
  }
  const behind = from.segment < durable.segment || (from.segment === durable.segment && from.offset < durable.offset)
  if (!behind) return []
  try {
    return readFrames(logDir, from, MAX_BYTES, durable)
  } catch (error) {
    if (!(error instanceof SegmentError)) throw error
    const whole = readFrames(logDir, from, MAX_BYTES, error.at)
    if (whole.length === 0) throw error
    return whole
  }
}

function appendContent(to: DuckDBAppender, { head, content, at }: VaultFrame): void {
  to.appendUBigInt(BigInt(head.seq))
  to.appendVarchar(head.name)
  to.appendUInteger(at.segment)
  to.appendUBigInt(BigInt(at.offset))
  to.appendUBigInt(BigInt(content.length))
  to.appendBoolean(head.dropped === true)
  to.endRow()
}

const SIGNAL_OF: ReadonlyMap<string, Signal> = new Map([
  ['spans.imported', 'traces'],
  ['logs.imported', 'logs'],
  ['metrics.imported', 'metrics'],
])

/**
 * Valid items of an import's body (as received, or as redacted where that was not kept); none for any other content, null when the
 * body can't be read.
 */
function importedItems(row: RecordRow, frame: VaultFrame, read: ImportReader | undefined): ImportedItem[] | null {
  const { seq, name, dropped, erased } = frame.head
  const signal = SIGNAL_OF.get(row.type)
  if (read === undefined || signal === undefined || seq !== row.seq || dropped === true || erased !== undefined)
    return []
  if (name !== 'body' && name !== 'body.redacted') return []
  const encoding = row.body.encoding === 'json' ? 'json' : 'protobuf'
  try {
    const items = read(frame.content, encoding, signal, logIdOf(row))
    return items.filter((item) => item.signal !== 'traces' || item.valid)
  } catch {
    return null
  }
}

function logIdOf({ fields }: RecordRow): string {
  const { log } = fields
  return typeof log === 'object' && log !== null && 'id' in log && typeof log.id === 'string' ? log.id : ''
}

/** Drops what the appenders hold; the transaction they belong to is rolled back. */
function abandon(appenders: DuckDBAppender[]): void {
  for (const appender of appenders) {
    appender.clear()
    appender.closeSync()
  }
}
