// Database clients: statements that lose data, ways out of the client.

import { hasFlag, names, parseOptions, valuesOf } from '../shell/options.ts'
import { fileContent } from '../shell/redirects.ts'
import type { Out, Shell } from '../shell/state.ts'
import { deeper, NOTHING, unknownOut } from '../shell/state.ts'
import { readSql } from '../sql.ts'
import type { Cmd, Readers } from './types.ts'

export const databaseReaders: Readers = {
  psql: database,
  mysql: database,
  mariadb: database,
  sqlite3: database,
  sqlite: database,
  duckdb: database,
  mongo: database,
  mongosh: database,
  'clickhouse-client': database,
  bq: database,
  cqlsh: database,
  sqlcmd: database,
  'redis-cli': database,
  'valkey-cli': database,
  'keydb-cli': database,
}

/** SQL on the command line or on standard input; `\!`, `.shell` and `system` leave the client. */
function database(cmd: Cmd, shell: Shell): Out {
  const sqlite = /^(?:sqlite3?|duckdb)$/.test(cmd.name)
  const parsed = parseOptions(cmd.args, {
    valued: names(
      '-c -f -e -h -U -d -p -P -u -D -o -v --command --file --execute --host --username --dbname --eval --query -q -Q -cmd -init --init',
    ),
    oneDash: sqlite,
  })
  const texts = [
    ...valuesOf(parsed, '-c', '-e', '-q', '-Q', '--command', '--execute', '--eval', '--query', '-cmd'),
    ...(sqlite ? parsed.operands.slice(1) : []),
    ...(cmd.name === 'bq' ? parsed.operands.slice(1) : []),
  ]
  for (const { text } of texts) sqlText(cmd, shell, text)
  if (cmd.input.text !== null && cmd.input.text !== '') sqlText(cmd, shell, cmd.input.text)
  for (const file of valuesOf(parsed, '-f', '--file')) {
    const content = fileContent(shell, file.text)
    shell.sink.read(file.text, cmd.name)
    if (content.text !== null) sqlText(cmd, shell, content.text)
  }
  const [file] = parsed.operands
  if (sqlite && file !== undefined) {
    shell.sink.read(file.text, cmd.name)
    const asks =
      texts.length > 0 &&
      texts.every(({ text }) =>
        /^\s*(?:select|explain|pragma|with|describe|show|\.(?:tables|schema|databases|dump|mode|headers|indexes))\b/i.test(
          text,
        ),
      )
    if (!asks && !hasFlag(parsed, '-readonly', '-version', '--version')) shell.sink.write(file.text, cmd.name)
  }
  return unknownOut('command')
}

function sqlText(cmd: Cmd, shell: Shell, text: string): void {
  for (const line of text.split(/[\n;]/)) {
    const outside = /^\s*(?:\\!|\.shell|\.system|system|\\system|!)\s+(.+)$/.exec(line) ?? /^\s*\\!(.+)$/.exec(line)
    if (outside?.[1] === undefined) continue
    shell.sink.feed('option', 'shell', cmd.name)
    const command = outside[1]
    deeper(shell, () => shell.readText(shell, command, NOTHING))
  }
  if (/\bcopy\b[^;]*\b(?:program|from program|to program)\b|\bxp_cmdshell\b|\bload_extension\b|\\o\s*\|/i.test(text))
    shell.sink.feed('option', 'shell', cmd.name)
  readSql(shell.sink, text)
}
