// Opens the index file, or says why it can't be used. Everything in it can be built again, so a file that is not ours, not whole or
// not of this log is put away, never repaired.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { continues, EMPTY, type Meta, readMeta } from './meta.ts'
import { createSchema } from './schema.ts'

/** Another process has the file open: DuckDB allows one. */
export class IndexLockedError extends Error {
  override name = 'IndexLockedError'
}

/** Bytes of write-ahead log before DuckDB rewrites the file in the middle of a commit, which takes seconds. */
const CHECKPOINT_THRESHOLD = '1GB'
/** Memory of the index when nobody says otherwise: what a laptop can spare beside the agent. */
export const DEFAULT_MEMORY_LIMIT = '512MB'

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
export async function openFile(path: string, logDir: string, memoryLimit = DEFAULT_MEMORY_LIMIT): Promise<OpenFile> {
  const existed = existsSync(path)
  const first = await tryOpen(path, logDir, memoryLimit)
  if (typeof first !== 'string') return { ...first, rebuilt: null }
  if (!existed) throw new Error(`can't make ${path}: ${first}`)
  putAside(path)
  const second = await tryOpen(path, logDir, memoryLimit)
  if (typeof second === 'string') throw new Error(`can't make ${path}: ${second}`)
  return { ...second, rebuilt: first }
}

/** Moves the file out of the way, over an earlier one: it may be looked into, and needs no one. */
export function putAside(path: string): void {
  rmSync(`${path}.wal`, { force: true })
  if (existsSync(path)) renameSync(path, `${path}.aside`)
}

type Opened = Omit<OpenFile, 'rebuilt'>

async function tryOpen(path: string, logDir: string, memoryLimit: string): Promise<Opened | string> {
  let instance: DuckDBInstance
  try {
    instance = await DuckDBInstance.create(path, {
      threads: '1',
      memory_limit: memoryLimit,
      checkpoint_threshold: CHECKPOINT_THRESHOLD,
      temp_directory: '',
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
  const connection = await instance.connect()
  try {
    const meta = await prepare(connection, logDir)
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
