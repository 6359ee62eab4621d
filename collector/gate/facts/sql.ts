// SQL and its neighbours: the few statements that lose data, told from comments and strings.
import type { Run } from '../call.ts'
import type { Sink } from './sink.ts'

/** Characters. A statement that drops something is short; what follows is data. */
const MAX_SQL_CHARS = 100_000

/** Notes a run of program `sql` for each statement that loses data: `drop`, `truncate`, `delete` without WHERE, `flush`. */
export function readSql(sink: Sink, text: string): void {
  const code = text
    .slice(0, MAX_SQL_CHARS)
    .replace(/--[^\n]*/g, ' ')
    .replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, ' ')
    .replace(/'(?:[^']|'')*'/g, "''")
  for (const statement of code.split(';')) {
    const word = lost(statement)
    if (word === null) continue
    const run: Run = {
      program: 'sql',
      words: [word],
      flags: [],
      argv: [],
      via: [],
      dynamic: false,
      known: true,
      to: [],
    }
    sink.facts.runs.push(run)
  }
}

function lost(statement: string): string | null {
  const text = statement.trim()
  const drop =
    /^(?:with\b[\s\S]*)?\b(drop)\s+(?:table|database|schema|user|role|index|view|collection|keyspace|owned|materialized|type|extension)\b/i.exec(
      text,
    )
  if (
    drop !== null ||
    /\bdrop(?:Database|Indexes)?\s*\(\s*\)|\bdeleteMany\s*\(\s*\{\s*\}|\bremove\s*\(\s*\{\s*\}/i.test(text)
  )
    return 'drop'
  if (/^truncate\b/i.test(text)) return 'truncate'
  if (/\b(?:delete\s+from|update\s+\S+\s+set)\b/i.test(text) && !/\bwhere\b/i.test(text)) return 'delete'
  if (/\balter\s+table\b[\s\S]*\bdrop\b/i.test(text)) return 'drop'
  return /^flush(?:all|db)\b/i.test(text) ? 'flush' : null
}
