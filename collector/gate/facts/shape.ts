// Tools nobody knows: what their arguments look like says what they touch.
import type { Json } from '../../../conventions/strict-json.ts'
import type { Run } from '../call.ts'
import { UNKNOWN } from '../call.ts'
import { readCode } from './code.ts'
import { readPatch } from './patch.ts'
import { holdsSecret } from './secrets.ts'
import { quote } from './shell/command.ts'
import { readShell } from './shell/read.ts'
import type { Shell } from './shell/state.ts'
import { readSql } from './sql.ts'

const COMMANDS =
  /^(?:command|commands|cmd|cmdline|command_?line|(?:\w+_)?command|(?:\w+_)?cmd|script|bash|chars|exec)$/i
const PATHS =
  /^(?:path|paths|file|files|file_?path|file_?name|filename|filepath|absolute_path|target_?file|source|src|destination|dest|target|dir|directory|folder|uri|notebook_path|old_?path|new_?path|from|to)$/i
const URLS = /^(?:url|urls|uri|href|endpoint|address|link|base_?url)$/i
const CODE = /^(?:code|function|expression|javascript|js|python|source_?code|snippet|pageFunction)$/i
const SQL = /^(?:sql|query|statement|queries)$/i

const READS =
  /(?:^|[_-])(?:read|get|cat|view|show|open|fetch|load|search|find|grep|head|tail|download|describe|info|stat|diff|list|ls|tree|watch|query|screenshot|snapshot)/i
const LISTS = /(?:^|[_-])(?:list|ls|tree|stat|info|exists|glob)/i
const WRITES =
  /(?:^|[_-])(?:write|create|edit|update|append|patch|replace|save|put|move|rename|copy|insert|mkdir|touch|modify|set|upload|add|apply|str_?replace)/i
const DELETES = /(?:^|[_-])(?:delete|remove|rm|unlink|trash|destroy|drop|purge|move|rename|terminate|wipe)/i

/** Values looked at in one call, nested ones included. */
const MAX_VALUES = 2_000

/** Notes effects by the names and values of the arguments. */
export function readByShape(args: { [key: string]: Json }, shell: Shell, tool: string): void {
  const { sink } = shell
  const name = tool.replace(/^mcp__.+?__/, '')
  sink.facts.knownTool = false
  const run: Run = {
    program: 'tool',
    words: name.toLowerCase().split(/[_\s.-]+/),
    flags: [],
    argv: [tool],
    via: [],
    dynamic: false,
    known: true,
    to: [],
  }
  sink.facts.runs.push(run)
  const values = valuesIn(args)
  // What was not looked at could be anything.
  if (values.length > MAX_VALUES) sink.opaque('too_many_steps', tool)
  for (const [key, value] of values.slice(0, MAX_VALUES)) {
    if (/^(?:branch|branch_name|target_branch)$/i.test(key) && typeof value === 'string') run.to.push(value)
    if (COMMANDS.test(key)) command(value, args.args, shell)
    else if (typeof value !== 'string') continue
    else if (CODE.test(key)) readCode(shell, value, tool, 'js')
    else if (
      SQL.test(key) &&
      /sql|postgres|mysql|maria|sqlite|db|database|bigquery|snowflake|supabase|redis|mongo/i.test(tool)
    )
      readSql(sink, value)
    else if (URLS.test(key) && /^[a-z][a-z0-9+.-]*:/i.test(value)) address(value, shell, tool)
    else if (PATHS.test(key)) path(value, shell, name, key)
    else if (/^(?:patch|diff|input)$/i.test(key) && /^\*\*\* Begin Patch/.test(value)) readPatch(value, sink, tool)
    else if (/^prompt$/i.test(key) && /fetch|web|browse/i.test(name))
      for (const url of value.match(/https?:\/\/[^\s"'<>]+/g) ?? []) address(url, shell, tool)
    else if (holdsSecret(value)) sink.net('https://tool/', tool, { dir: 'out', carries: 'secret' })
  }
}

/** Key and value pairs, the values of arrays under their array's key. */
function valuesIn(args: { [key: string]: Json }): [string, Json][] {
  const out: [string, Json][] = []
  const queue: [string, Json][] = Object.entries(args)
  for (const [key, value] of queue) {
    out.push([key, value])
    if (out.length > MAX_VALUES) break
    if (COMMANDS.test(key) && Array.isArray(value)) continue
    if (Array.isArray(value)) for (const item of value) queue.push([key, item])
    else if (value !== null && typeof value === 'object') for (const entry of Object.entries(value)) queue.push(entry)
  }
  return out
}

/** `more`: arguments beside the command, which some tools take as a list of their own. */
function command(value: Json, more: Json | undefined, shell: Shell): void {
  if (typeof value === 'string' && Array.isArray(more)) {
    const words = more.filter((item) => typeof item === 'string')
    readShell(shell, [value, ...words.map(quote)].join(' '))
    return
  }
  if (typeof value === 'string') {
    readShell(shell, value)
    return
  }
  if (!Array.isArray(value)) return
  const words = value.filter((item) => typeof item === 'string')
  // A list of words, or a list of whole commands.
  if (words.some((word) => /\s/.test(word)) && !/^-\w*c$/.test(words[1] ?? ''))
    for (const word of words) readShell(shell, word)
  else readShell(shell, words.map(quote).join(' '))
}

function address(url: string, shell: Shell, tool: string): void {
  if (/^file:/i.test(url)) shell.sink.read(url, tool)
  if (/^javascript:/i.test(url)) {
    readCode(shell, url, tool, 'js')
    return
  }
  const secret = holdsSecret(url)
  shell.sink.net(url, tool, { dir: secret ? 'out' : 'in', carries: secret ? 'secret' : 'nothing' })
}

function path(value: string, shell: Shell, name: string, key: string): void {
  const { sink } = shell
  if (/^https?:\/\//.test(value) || value === '' || value.includes(UNKNOWN)) return
  if (/^(?:from|to|target|source|src|dest|uri)$/i.test(key) && !/[/~.]/.test(value)) return
  const source = /^(?:source|src|from|old_?path)$/i.test(key)
  const deletes = DELETES.test(name) && (!/(?:^|[_-])(?:move|rename)/i.test(name) || source)
  if (deletes) sink.delete(value, name, true)
  const writes = WRITES.test(name) && !(source && /copy/i.test(name))
  if (writes && !deletes) sink.write(value, name)
  if (!LISTS.test(name) && (READS.test(name) || source || !(writes || deletes))) sink.read(value, name)
  // A verb nobody knows may change the file.
  if (!READS.test(name) && !writes && !deletes) sink.write(value, name)
}
