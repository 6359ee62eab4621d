// Decides whether a statement of somebody else may run: one query, reading our tables, by functions that touch nothing else.
// It judges DuckDB's own parse tree, so that no spelling hides a statement; read-only transaction and locked configuration back it.
import type { DuckDBConnection } from '@duckdb/node-api'
import { messageOf } from './file.ts'

/** Characters. A question a person or a dashboard asks is shorter; parsing and planning stay quick. */
const MAX_SQL_CHARS = 20_000

/** Table functions that read nothing but their arguments and the catalog. */
const TABLE_FUNCTIONS = new Set([
  'range',
  'generate_series',
  'unnest',
  'repeat',
  'repeat_row',
  'json_each',
  'json_tree',
  'histogram',
  'histogram_values',
  'pragma_table_info',
  'duckdb_columns',
  'duckdb_functions',
  'duckdb_keywords',
  'duckdb_tables',
  'duckdb_types',
  'duckdb_views',
])

/** Scalar functions that change something, wait, or look outside. */
const REFUSED_FUNCTIONS = new Set(['currval', 'getenv', 'nextval', 'setseed', 'sleep_ms', 'write_log'])

const EXPLAIN = /^\s*explain\s+(?:analyze\s+)?/i
const ONLY = 'Only one query may run here: SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW, SUMMARIZE, or EXPLAIN of one.'

export type Verdict = { ok: true } | { ok: false; error: string }

/** Judges `sql` without running or binding it. `connection` is used to parse only. */
export async function guard(connection: DuckDBConnection, sql: string): Promise<Verdict> {
  if (sql.length > MAX_SQL_CHARS) return refuse(`The statement is longer than ${MAX_SQL_CHARS} characters.`)
  const tree = await parse(connection, sql.replace(EXPLAIN, ''))
  if (tree.error === true) {
    if (tree.error_type !== 'parser') return refuse(`${ONLY} ${firstWord(sql)} is refused: this is read-only.`)
    return refuse(await parserMessage(connection, sql, String(tree.error_message)))
  }
  const statements = tree.statements
  if (!Array.isArray(statements) || statements.length !== 1) {
    return refuse(Array.isArray(statements) && statements.length > 1 ? `${ONLY} There are several statements.` : ONLY)
  }
  const error = judge(statements[0])
  return error === null ? { ok: true } : refuse(error)
}

function refuse(error: string): Verdict {
  return { ok: false, error }
}

async function parse(connection: DuckDBConnection, sql: string): Promise<Record<string, unknown>> {
  const result = await connection.runAndReadAll('SELECT json_serialize_sql(CAST($1 AS VARCHAR))', [sql])
  return JSON.parse(String(result.value(0, 0)))
}

/** DuckDB's own text of a syntax error, with the line it is in. */
async function parserMessage(connection: DuckDBConnection, sql: string, fallback: string): Promise<string> {
  try {
    await connection.extractStatements(sql)
    return `Parser Error: ${fallback}`
  } catch (error) {
    return messageOf(error).replace(/^Failed to extract statements: /, '')
  }
}

function firstWord(sql: string): string {
  const word = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*([a-z]+)/i.exec(sql)?.[1]
  return word === undefined ? 'This statement' : word.toUpperCase()
}

/** The first thing in the tree that may not be there, or null. */
function judge(root: unknown): string | null {
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (node === null || typeof node !== 'object') continue
    if (!Array.isArray(node)) {
      const error = judgeNode(node as Record<string, unknown>)
      if (error !== null) return error
    }
    waiting.push(...Object.values(node))
  }
  return null
}

function judgeNode(node: Record<string, unknown>): string | null {
  if (node.type === 'TABLE_FUNCTION') {
    const name = String((node.function as Record<string, unknown> | null)?.function_name).toLowerCase()
    if (TABLE_FUNCTIONS.has(name)) return null
    return `The table function ${name} is refused: queries read this index and nothing else (no files, no network, no settings).`
  }
  if (node.type === 'BASE_TABLE') {
    const names = [node.catalog_name, node.schema_name, node.table_name]
    if (names.every((name) => typeof name === 'string' && /^\w*$/.test(name))) return null
    return `${JSON.stringify(node.table_name)} is no table of this index, and files can't be read from here.`
  }
  const name = node.function_name
  if (typeof name !== 'string' || !REFUSED_FUNCTIONS.has(name.toLowerCase())) return null
  return `The function ${name} is refused: queries read this index and nothing else.`
}
