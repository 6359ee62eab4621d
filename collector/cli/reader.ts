// Questions to the index: through the running collector, or, when none runs, from the files.
import { existsSync } from 'node:fs'
import type { HomePaths } from '../../conventions/home.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { lockHolder } from '../lock.ts'
import { askOk, NotRunning } from './admin-client.ts'
import { CliError, EXIT_USAGE, messageOf } from './exit.ts'

export type Row = { [column: string]: Json }

export type SqlAnswer = { columns: string[]; rows: Json[][]; truncated: boolean } | { error: string }

export interface Reader {
  query(sql: string, params?: (string | number)[]): Promise<Row[]>
  sql(sql: string, maxRows: number): Promise<SqlAnswer>
  close(): Promise<void>
}

/** Milliseconds a query of a person may run when no collector sets the limit. */
const SQL_TIMEOUT_MS = 10_000

/** Opens a reader, lets `work` use it and closes it. Throws CliError when there is nothing to read or the index can't answer. */
export async function withReader<T>(home: HomePaths, work: (reader: Reader) => Promise<T>): Promise<T> {
  const reader = await openReader(home)
  try {
    return await work(reader)
  } finally {
    await reader.close()
  }
}

async function openReader(home: HomePaths): Promise<Reader> {
  try {
    await askOk(home, 'GET', '/status')
    return running(home)
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error
  }
  if (!existsSync(home.log))
    throw new CliError(`nothing is recorded in ${home.root}; begin with: spanseal init`, EXIT_USAGE)
  return direct(home)
}

function running(home: HomePaths): Reader {
  return {
    query: (sql, params = []) => askOk(home, 'POST', '/query', { sql, params }) as Promise<Row[]>,
    sql: (sql, maxRows) => askOk(home, 'POST', '/sql', { sql, maxRows }) as Promise<SqlAnswer>,
    close: async () => {},
  }
}

async function direct(home: HomePaths): Promise<Reader> {
  // Not a literal: the bundler would pull DuckDB into the start of every command.
  const bundle = new URL('./index-direct.mjs', import.meta.url).href
  const { openDirect } = (await import(bundle)) as typeof import('./index-direct.ts')
  const index = await openDirect(home).catch((error: unknown) => {
    const holder = lockHolder(home.lock)
    const why =
      holder === null ? messageOf(error) : `the collector (process ${holder}) is just starting or stopping; try again`
    throw new CliError(`the index can't be opened: ${why}`)
  })
  return {
    query: (sql, params = []) => index.query(sql, params),
    sql: (sql, maxRows) => index.userSql(sql, { maxRows, timeoutMs: SQL_TIMEOUT_MS }),
    close: () => index.close(),
  }
}
