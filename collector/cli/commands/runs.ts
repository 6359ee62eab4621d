// `spanseal runs`
import { type Context, flag } from '../context.ts'
import { costText, estimateText, pricesOf, withCosts } from '../cost.ts'
import { importedRuns, importedTable, notSessionData } from '../imported-run.ts'
import { wholeNumber } from '../numbers.ts'
import { print, printJson, say, table } from '../output.ts'
import { type Row, withReader } from '../reader.ts'
import { SHORT_ID } from '../run-render.ts'
import { dateTime } from '../times.ts'

/** Rows. More is a question for `sql`. */
const MAX_LIMIT = 100_000

const HEADINGS = [
  'RUN',
  'AGENT',
  'OPENED (UTC)',
  'STATE',
  'PROMPTS',
  'CALLS',
  'DENIED',
  'ASKED',
  'FLAGGED',
  'GAPS',
  'VIOLATIONS',
  'COST (EST.)',
  'SESSION',
]

export async function run({ home, options }: Context): Promise<number> {
  const limit = wholeNumber(options, 'limit', 1, MAX_LIMIT)
  const { rows, imported, others, prices } = await withReader(home, async (reader) => {
    const listed = await reader.query('SELECT * FROM runs ORDER BY last_activity DESC, seq DESC LIMIT ?', [limit])
    return {
      rows: await withCosts(reader, listed),
      imported: await importedRuns(reader, limit),
      others: await notSessionData(reader),
      prices: await pricesOf(reader),
    }
  })
  if (flag(options, 'json')) {
    printJson([...rows, ...imported])
    return 0
  }
  if (rows.length > 0) print(table(HEADINGS, rows.map(cells)))
  else if (imported.length === 0) say('no run is recorded yet')
  if (imported.length > 0) {
    const heading = 'Receipt only (T3): told by others, received and not observed.'
    print(`${rows.length > 0 ? '\n' : ''}${heading}\n${importedTable(imported)}`)
  }
  if ([...rows, ...imported].some((row) => costText(row) !== '')) say(estimateText(prices))
  if (others > 0) say(`${others} more hold no agent's work (not session data); see the view imported_runs`)
  return 0
}

function cells(row: Row): (string | number)[] {
  const part = row.run_part === 0 ? '' : `.${row.run_part}`
  const counts = [row.prompts, row.calls, row.denied, row.asked, row.flagged, row.gaps, row.violations].map(Number)
  return [
    `${String(row.run_id).slice(0, SHORT_ID)}${part}`,
    String(row.agent),
    dateTime(String(row.opened ?? row.first_activity)),
    stateOf(row),
    ...counts,
    costText(row),
    String(row.session).slice(0, SHORT_ID),
  ]
}

/** How a run part stands. That nobody gated it stays to be seen when it is over. */
function stateOf({ closed, mode, close_reason }: Row): string {
  if (closed === null) return `open, ${mode}`
  return mode === 'ungated' ? `${close_reason}, ungated` : String(close_reason)
}
