// Runs a query of somebody else within a budget of time, rows and bytes.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Json } from '../../../conventions/strict-json.ts'
import { messageOf } from './file.ts'
import { guard } from './guard.ts'
import { toJson } from './values.ts'

/** Queries at once. One that ignores its interrupt keeps its place until it ends, so that syncing always finds a thread. */
const MAX_RUNNING = 2
/** Milliseconds between interrupts: one that comes while nothing executes yet is lost. */
const INTERRUPT_MS = 20
/** Milliseconds an interrupted query gets to end before its answer is given without it. */
const GRACE_MS = 1_000
/** Bytes of JSON in an answer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

export interface SqlBudget {
  /** Rows returned at most; the answer says when there were more. */
  maxRows: number
  /** Milliseconds until the query is interrupted. */
  timeoutMs: number
}

export type SqlAnswer = { columns: string[]; rows: Json[][]; truncated: boolean } | { error: string }

/** Runs guarded queries on connections of their own. */
export class UserSql {
  private readonly running = new Set<DuckDBConnection>()
  private taken = 0

  /** Never rejects on account of the query: whatever is wrong with it is the answer's `error`. */
  async run(instance: DuckDBInstance, sql: string, budget: SqlBudget): Promise<SqlAnswer> {
    if (this.taken >= MAX_RUNNING) return { error: `${MAX_RUNNING} queries are already running; try again.` }
    this.taken++
    const connection = await instance.connect().catch((error: unknown) => {
      this.taken--
      throw error
    })
    this.running.add(connection)
    const work = answer(connection, sql, budget.maxRows)
      .catch((error: unknown) => ({ error: reason(messageOf(error)) }))
      .finally(() => {
        this.running.delete(connection)
        this.taken--
        connection.closeSync()
      })
    const { timeoutMs } = budget
    const intime = await within(timeoutMs, work)
    if (intime !== undefined) return intime
    this.interrupt(connection)
    await within(GRACE_MS, work)
    return { error: `Stopped after ${timeoutMs} ms, the time a query may take. Ask for less at once.` }
  }

  /** Interrupts everything that runs. */
  stop(): void {
    for (const connection of this.running) this.interrupt(connection)
  }

  private interrupt(connection: DuckDBConnection): void {
    const again = setInterval(() => {
      if (this.running.has(connection)) connection.interrupt()
      else clearInterval(again)
    }, INTERRUPT_MS).unref()
    if (this.running.has(connection)) connection.interrupt()
  }
}

/** What to tell: of memory DuckDB recommends settings that are locked here. */
function reason(message: string): string {
  if (!message.startsWith('Out of Memory Error')) return message
  return 'The query needs more memory than the index has. Ask for less at once: name a run, a time or fewer columns.'
}

/** What `work` comes to, or undefined when that takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

async function answer(connection: DuckDBConnection, sql: string, maxRows: number): Promise<SqlAnswer> {
  const verdict = await guard(connection, sql)
  if (!verdict.ok) return { error: verdict.error }
  await connection.run('BEGIN TRANSACTION READ ONLY')
  const result = await connection.stream(sql)
  const columns = result.columnNames()
  const rows: Json[][] = []
  let bytes = 0
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (let i = 0; i < chunk.rowCount; i++) {
      const row = chunk.getRowValues(i).map(toJson)
      bytes += JSON.stringify(row).length
      if (rows.length >= maxRows || bytes > MAX_ANSWER_BYTES) return { columns, rows, truncated: true }
      rows.push(row)
    }
  }
  return { columns, rows, truncated: false }
}
