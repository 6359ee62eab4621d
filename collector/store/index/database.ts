// The DuckDB index of one log: filled from the segments, asked in SQL. The log is the database; this file may be lost at any time.
import type { DuckDBValue } from '@duckdb/node-api'
import type { Position } from '../../../conventions/log.ts'
import { PriceTable } from '../../../conventions/prices.ts'
import { close, messageOf, type OpenFile, openFile, putAside, remedy } from './file.ts'
import type { ImportReader } from './import-row.ts'
import { syncOnce } from './sync.ts'
import { type SqlAnswer, type SqlBudget, UserSql } from './user-sql.ts'
import { type Row, toJson } from './values.ts'
import { VaultCursor } from './vault-cursor.ts'

export interface IndexOptions {
  /** The DuckDB file. */
  path: string
  logDir: string
  vaultDir: string
  /** Reads imported OTLP bodies; without it `import_spans` stays empty. */
  readImport?: ImportReader | undefined
  /** What models cost; the shipped list prices where it is not given. */
  prices?: PriceTable | undefined
  /** DuckDB's memory in megabytes. */
  memoryMb?: number | undefined
}

export interface SyncResult {
  /** Where the first record that is not indexed starts. */
  position: Position
  /** Records indexed so far, in all. */
  records: number
}

/** A value of a query of ours. */
export type Param = string | number | boolean | null

export class IndexDatabase {
  private readonly options: IndexOptions & { prices: PriceTable }
  private file: OpenFile
  private readonly userQueries = new UserSql()
  private work: Promise<unknown> = Promise.resolve()
  private durable: Position | undefined

  private constructor(options: IndexOptions & { prices: PriceTable }, file: OpenFile) {
    this.options = options
    this.file = file
  }

  /**
   * Opens the index. A file that is missing, damaged, of another version or of another log begins anew; call `sync` to fill it.
   * Throws IndexLockedError when another process has it open.
   */
  static async open(options: IndexOptions): Promise<IndexDatabase> {
    const { path, logDir, prices = new PriceTable(), memoryMb } = options
    return new IndexDatabase({ ...options, prices }, await openFile(path, logDir, prices, memoryMb))
  }

  /** Why the index began anew although there was a file; null when it did not. */
  get rebuilt(): string | null {
    return this.file.rebuilt
  }

  get reached(): SyncResult {
    return { position: this.file.meta.log, records: this.file.meta.records }
  }

  /**
   * Indexes what is new up to `durable`, or, when nobody writes, up to the first frame that is not whole. Rejects with SegmentError
   * when the log itself can't be read.
   */
  sync(durable?: Position): Promise<SyncResult> {
    return this.inTurn(async () => {
      this.durable = durable
      await this.mended(() => this.catchUp())
      return this.reached
    })
  }

  /** Rows of a query of our own, as JSON-safe objects. Rejects with DuckDB's error. */
  async query(sql: string, params: Param[] = []): Promise<Row[]> {
    try {
      return await this.read(sql, params)
    } catch (error) {
      if (remedy(error) === null) throw error
      await this.inTurn(() => this.renew(error))
      return this.read(sql, params)
    }
  }

  /** Rows of a query of somebody else: read-only, closed to everything outside, within the budget. */
  async userSql(sql: string, budget: SqlBudget): Promise<SqlAnswer> {
    const answer = await this.userQueries.run(this.file.instance, sql, budget)
    if ('error' in answer && remedy(answer.error) !== null) await this.inTurn(() => this.renew(new Error(answer.error)))
    return answer
  }

  /** Moves the write-ahead log into the file: takes up to seconds, so only when nothing else is to do. */
  checkpoint(): Promise<void> {
    return this.inTurn(async () => {
      await this.file.connection.run('CHECKPOINT')
    })
  }

  /** Waits for what runs, then closes. */
  async close(): Promise<void> {
    this.userQueries.stop()
    await this.inTurn(async () => close(this.file.instance, this.file.connection))
  }

  /** Work that uses the writing connection, one after the other. */
  private inTurn<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.work.then(job)
    this.work = turn.catch(() => undefined)
    return turn
  }

  private async catchUp(): Promise<void> {
    const { logDir, vaultDir, readImport } = this.options
    const vault = new VaultCursor(vaultDir, this.file.meta.vault)
    for (;;) {
      const before = this.file.meta
      const source = { logDir, vault, readImport, durable: this.durable }
      this.file.meta = await syncOnce(this.file.connection, source, before)
      if (this.file.meta === before) return
    }
  }

  private async read(sql: string, params: Param[]): Promise<Row[]> {
    const connection = await this.file.instance.connect()
    try {
      const result = await connection.runAndReadAll(sql, params as DuckDBValue[])
      return result
        .getRowObjects()
        .map((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toJson(value)])))
    } finally {
      connection.closeSync()
    }
  }

  private async mended(job: () => Promise<void>): Promise<void> {
    try {
      await job()
    } catch (error) {
      if (remedy(error) === null) throw error
      await this.renew(error)
    }
  }

  /** Opens again after an error of DuckDB itself, anew after damage that only showed when the file was read. */
  private async renew(cause: unknown): Promise<void> {
    const { path, logDir, prices, memoryMb } = this.options
    this.userQueries.stop()
    close(this.file.instance, this.file.connection)
    if (remedy(cause) === 'rebuild') putAside(path)
    this.file = await openFile(path, logDir, prices, memoryMb)
    if (this.file.meta.records === 0) this.file.rebuilt ??= messageOf(cause)
    await this.catchUp()
  }
}

/** The index for a process of its own, when no collector runs: opened and filled up to the end of the log. */
export async function openIndexDirect(options: IndexOptions): Promise<IndexDatabase> {
  const index = await IndexDatabase.open(options)
  await index.sync()
  return index
}
