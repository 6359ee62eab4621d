// `spanseal purge`
import { createInterface } from 'node:readline/promises'
import { askOk } from '../admin-client.ts'
import { type Context, flag, textOption } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { findRun } from '../find-run.ts'
import { say } from '../output.ts'
import { type Reader, withReader } from '../reader.ts'

interface Answer {
  record: number
  values: number
  bytes: number
  damaged: number[]
}

export async function run(context: Context): Promise<number> {
  const { purge, words } = await withReader(context.home, (reader) => wanted(context, reader))
  if (!(await agreed(context, words))) {
    say('nothing was purged')
    return 1
  }
  const { record, values, bytes, damaged } = (await askOk(context.home, 'POST', '/purge', purge)) as Answer
  say(`${values} values (${bytes} bytes) are no longer in the vault; record ${record} says so`)
  for (const segment of damaged) say(`vault segment ${segment} is damaged: what lies behind the damage is still there`)
  return damaged.length === 0 ? 0 : 1
}

async function wanted({ options }: Context, reader: Reader): Promise<{ purge: object; words: string }> {
  const [before, run, record] = ['before', 'run', 'record'].map((name) => textOption(options, name))
  if ([before, run, record].filter((given) => given !== undefined).length !== 1)
    throw new CliError('say what to purge: --before, --run or --record, one of them', EXIT_USAGE)
  if (run !== undefined) {
    const id = await findRun(reader, run)
    return { purge: { scope: 'run', run: id }, words: `all content of run ${id}` }
  }
  if (record !== undefined) {
    if (!/^\d{1,15}$/.test(record)) throw new CliError('--record is the number of a record', EXIT_USAGE)
    return { purge: { scope: 'record', seq: Number(record) }, words: `the content of record ${record}` }
  }
  const time = new Date(before ?? '')
  if (Number.isNaN(time.getTime())) throw new CliError('--before is a date, as in 2026-11-30', EXIT_USAGE)
  const [row] = await reader.query(
    'SELECT min(seq) FILTER (time >= ?::TIMESTAMP) AS first, count(*) AS size FROM records',
    [time.toISOString().replace('Z', '')],
  )
  const seq = Number(row?.first ?? row?.size ?? 0)
  if (seq === 0) throw new CliError(`no record is older than ${time.toISOString()}`)
  return { purge: { scope: 'before', before_seq: seq }, words: `all content of records 0 to ${seq - 1}` }
}

async function agreed({ options }: Context, words: string): Promise<boolean> {
  if (flag(options, 'yes')) return true
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true)
    throw new CliError(`this takes ${words} away for ever; say --yes`, EXIT_USAGE)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`This takes ${words} away for ever. Go on? [y/N] `)
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}
