// Which run somebody means.
import { CliError, EXIT_USAGE } from './exit.ts'
import { findImported, type ImportedRunKey, newestImported } from './imported-run.ts'
import type { Reader } from './reader.ts'
import { shorten, visible } from './text.ts'

/** Candidates named when the beginning fits several runs. */
const MAX_NAMED = 5

/** Run id of the one run whose id, or whose session's id, begins with `text`. Throws CliError when none or several do. */
export async function findRun(reader: Reader, text: string): Promise<string> {
  if (text === '') throw new CliError('a run id or session id must not be empty', EXIT_USAGE)
  const rows = await reader.query(
    `SELECT run_id, arg_max(session, seq) AS session, max(seq) AS newest FROM runs
     WHERE starts_with(run_id, ?) OR starts_with(session, ?) GROUP BY run_id ORDER BY newest DESC`,
    [text, text],
  )
  const exact = rows.filter((row) => row.run_id === text || row.session === text)
  const found = exact.length === 1 ? exact : rows
  const [first] = found
  if (first === undefined)
    throw new CliError(`no run or session begins with "${shorten(visible(text), 60)}"; see: spanseal runs`)
  if (found.length > 1) {
    const names = found.slice(0, MAX_NAMED).map((row) => `  ${row.run_id} (session ${visible(String(row.session))})`)
    const more = found.length > MAX_NAMED ? '\n  and more' : ''
    throw new CliError(`${found.length} runs begin with "${text}":\n${names.join('\n')}${more}`, EXIT_USAGE)
  }
  return String(first.run_id)
}

/** A run our hooks recorded, else one that only others tell of. Throws CliError when none or several fit. */
export async function findAnyRun(reader: Reader, text: string): Promise<string | ImportedRunKey> {
  const imported = text === '' ? [] : await findImported(reader, text)
  const [first] = imported
  if (first === undefined) return findRun(reader, text)
  // What our hooks saw of the same session comes first.
  const [ours] = await reader.query(
    'SELECT 1 FROM runs WHERE starts_with(run_id, ?) OR starts_with(session, ?) LIMIT 1',
    [text, text],
  )
  if (ours !== undefined) return findRun(reader, text)
  const exact = imported.filter(({ run }) => run === text)
  const found = exact.length > 0 ? exact : imported
  if (found.length === 1) return found[0] ?? first
  const names = found.slice(0, MAX_NAMED).map(({ run, service }) => `  ${visible(run)} (service ${visible(service)})`)
  throw new CliError(
    `${found.length} imported runs begin with "${shorten(visible(text), 60)}":\n${names.join('\n')}`,
    EXIT_USAGE,
  )
}

/** The newest run; of those that only others tell of, too, unless it is to be open. */
export async function newestAnyRun(reader: Reader, open: boolean): Promise<string | ImportedRunKey> {
  const imported = open ? undefined : await newestImported(reader)
  if (imported === undefined) return newestRun(reader, open)
  const [ours] = await reader.query('SELECT max(last_activity) AS time FROM runs')
  const time = typeof ours?.time === 'string' ? ours.time : ''
  return time > imported.received ? newestRun(reader, open) : imported
}

/** Run id of the newest run; of those that have not ended when `open`. Throws CliError when there is none. */
export async function newestRun(reader: Reader, open: boolean): Promise<string> {
  const [row] = await reader.query(
    `SELECT run_id FROM runs ${open ? 'WHERE closed IS NULL' : ''} ORDER BY last_activity DESC, seq DESC LIMIT 1`,
  )
  if (row === undefined) throw new CliError(open ? 'no run is open' : 'no run is recorded yet')
  return String(row.run_id)
}
