// `spanseal sql 'SELECT ...'`
import type { Json } from '../../../conventions/strict-json.ts'
import { type Context, flag } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { wholeNumber } from '../numbers.ts'
import { print, printJson, say, table } from '../output.ts'
import { withReader } from '../reader.ts'

/** Rows. The collector's own limit for one answer. */
const MAX_ROWS = 100_000

export async function run({ home, options, args }: Context): Promise<number> {
  const maxRows = wholeNumber(options, 'maxRows', 1, MAX_ROWS)
  if (flag(options, 'json') && flag(options, 'csv')) throw new CliError('--json or --csv, not both', EXIT_USAGE)
  const answer = await withReader(home, (reader) => reader.sql(args[0] ?? '', maxRows))
  if ('error' in answer) throw new CliError(answer.error)
  const { columns, rows, truncated } = answer
  if (flag(options, 'json')) printJson(answer)
  else if (flag(options, 'csv')) print([columns, ...rows].map(csvLine).join('\r\n'))
  else if (columns.length > 0)
    print(
      table(
        columns,
        rows.map((row) => row.map(cell)),
      ),
    )
  if (truncated) say(`only the first ${rows.length} rows; ask for more with --max-rows, or for less at once`)
  return 0
}

function cell(value: Json): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value
  return value === null ? '' : JSON.stringify(value)
}

/** RFC 4180: quoted where needed. An empty cell is NULL, a quoted empty one is an empty text. */
function csvLine(row: readonly Json[]): string {
  return row
    .map((value) => {
      const text = String(cell(value))
      return value === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
    })
    .join(',')
}
