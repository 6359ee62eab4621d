// Opens the index file, or says why it can't be used. Everything in it can be built again, so a file that is not ours, not whole or
// not of this log is put away, never repaired.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { PriceTable } from '../../../conventions/prices.ts'
import { continues, EMPTY, type Meta, readMeta } from './meta.ts'
import { writePrices } from './prices.ts'
import { createSchema } from './schema.ts'

/** Another process has the file open: DuckDB allows one. */
export class IndexLockedError extends Error {
  override name = 'IndexLockedError'
}

/** Megabytes of the index when nobody says otherwise: what a laptop can spare beside the agent. */
const DEFAULT_MEMORY_MB = 512
/**
 * Share of that memory which rows may fill before DuckDB moves them into the file: they can't leave memory before. More often costs
 * more, because each time the newest rows are written anew; and it takes up to a second in the middle of a commit.
 */
const UNSAVED_SHARE = 1 / 4
/** Disk for what does not fit into memory: rows on their way into the file, and sorting for a large query. Gone when the file closes. */
const MAX_SPILL = '1GB'

/** For good: no file, network or extension is reachable through SQL, and nothing can switch that on again. */
const LOCKDOWN = [
  'SET allow_community_extensions = false',
  'SET enable_external_access = false',
  'SET lock_configuration = true',
]

/** The system refused something: another file would fare no better. */
const OUTSIDE = /permission denied|read-only file system|no space left|too many open files|not a directory/i

export interface OpenFile {
  instance: DuckDBInstance
  connection: DuckDBConnection
  meta: Meta
  /** Why the index begins empty although there was a file. */
  rebuilt: string | null
}

/** Opens or makes the file. Throws IndexLockedError, or DuckDB's error when no file can be made there at all. */
export async function openFile(
  path: string,
  logDir: string,
  prices: PriceTable,
  memoryMb = DEFAULT_MEMORY_MB,
): Promise<OpenFile> {
  const existed = existsSync(path)
  const first = await tryOpen(path, logDir, prices, memoryMb)
  if (typeof first !== 'string') return { ...first, rebuilt: null }
  if (!existed) throw new Error(`can't make ${path}: ${first}`)
  putAside(path)
  const second = await tryOpen(path, logDir, prices, memoryMb)
  if (typeof second === 'string') throw new Error(`can't make ${path}: ${second}`)
  return { ...second, rebuilt: first }
}

const spill = (path: string) => `${path}.tmp`

/** Moves the file out of the way, over an earlier one: it may be looked into, and needs no one. */
export function putAside(path: string): void {
  rmSync(`${path}.wal`, { force: true })
  if (existsSync(path)) renameSync(path, `${path}.aside`)
}

type Opened = Omit<OpenFile, 'rebuilt'>

async function tryOpen(path: string, logDir: string, prices: PriceTable, memoryMb: number): Promise<Opened | string> {
  let instance: DuckDBInstance
  try {
    instance = await DuckDBInstance.create(path, {
      threads: '1',
      memory_limit: `${memoryMb}MB`,
      checkpoint_threshold: `${Math.floor(memoryMb * UNSAVED_SHARE)}MB`,
      temp_directory: spill(path),
      max_temp_directory_size: MAX_SPILL,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    })
  } catch (error) {
    const message = messageOf(error)
    if (/could not set lock|conflicting lock/i.test(message)) {
      throw new IndexLockedError(`${path} is open in another process; ask the running collector, or stop it first`)
    }
    if (OUTSIDE.test(message)) throw error
    return message
  }
  // The file is ours from here on, and with it what a killed process left.
  rmSync(spill(path), { recursive: true, force: true })
  const connection = await instance.connect()
  try {
    const meta = await prepare(connection, logDir)
    if (typeof meta !== 'string') await writePrices(connection, prices)
    if (typeof meta !== 'string') return { instance, connection, meta }
    close(instance, connection)
    return meta
  } catch (error) {
    close(instance, connection)
    return messageOf(error)
  }
}

/** Makes the tables of an empty file, checks those of another; returns why it is no use, if so. */
async function prepare(connection: DuckDBConnection, logDir: string): Promise<Meta | string> {
  let meta: Meta | null = EMPTY
  const tables = await connection.runAndReadAll('SELECT 1 FROM duckdb_tables()')
  if (tables.currentRowCount === 0) {
    await connection.run('BEGIN TRANSACTION')
    for (const statement of createSchema()) await connection.run(statement)
    await connection.run('COMMIT')
  } else {
    meta = await readMeta(connection)
    if (meta === null) return 'it was written by another version'
    const count = await connection.runAndReadAll('SELECT count(*) FROM records')
    if (Number(count.value(0, 0)) !== meta.records) return 'rows are missing or were added'
    if (!continues(logDir, meta)) return 'it is the index of another log'
  }
  for (const statement of LOCKDOWN) await connection.run(statement)
  return meta
}

/** Closes in the order DuckDB needs; closing writes what is only in the write-ahead log into the file. */
export function close(instance: DuckDBInstance, connection: DuckDBConnection): void {
  connection.closeSync()
  instance.closeSync()
}

/** What to do after an error: `reopen` the file, `rebuild` it because it is damaged, or null where the error is not about the file. */
export function remedy(error: unknown): 'reopen' | 'rebuild' | null {
  const message = messageOf(error)
  if (OUTSIDE.test(message)) return null
  if (/^(IO Error|Serialization Error)|^FATAL Error.*(checksum|corrupt)/s.test(message)) return 'rebuild'
  return /^(FATAL Error|INTERNAL Error)|database has been invalidated/.test(message) ? 'reopen' : null
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
