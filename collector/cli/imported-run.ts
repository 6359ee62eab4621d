// Runs that only others tell of (T3): found, listed and shown, always as what they are: received, not observed.
import type { Json } from '../../conventions/strict-json.ts'
import { costText, estimateText, type Prices, pricesOf } from './cost.ts'
import { type Paint, table } from './output.ts'
import type { Reader, Row } from './reader.ts'
import { shorten, visible } from './text.ts'
import { counted, dateTime, duration } from './times.ts'

/** Which run of `imported_runs`. */
export interface ImportedRunKey {
  run: string
  service: string
}

/** Characters of a session or trace id that tell it from others. */
const SHORT_ID = 8

/** Agent runs that no hook of ours recorded: what hooks tell of is a run of its own, with the telemetry beside it. */
const LISTED = 'run_id IS NULL AND NOT not_session_data'

/** Newest first. */
export function importedRuns(reader: Reader, limit: number): Promise<Row[]> {
  return reader.query(`SELECT * FROM imported_runs WHERE ${LISTED} ORDER BY last_seq DESC LIMIT ?`, [limit])
}

/** How many traces or requests held no agent's work that anything here understands. */
export async function notSessionData(reader: Reader): Promise<number> {
  const [row] = await reader.query(
    'SELECT count(*) AS n FROM (SELECT run FROM telemetry GROUP BY run, service HAVING count(dialect) = 0)',
  )
  return Number(row?.n ?? 0)
}

/** Runs whose session or trace begins so. */
export async function findImported(reader: Reader, text: string): Promise<ImportedRunKey[]> {
  const rows = await reader.query(
    'SELECT run, service FROM imported_runs WHERE starts_with(run, ?) ORDER BY last_seq DESC',
    [text],
  )
  return rows.map(keyOf)
}

/** The newest, with the time its last item was received; undefined when there is none. */
export async function newestImported(reader: Reader): Promise<(ImportedRunKey & { received: string }) | undefined> {
  const [row] = await reader.query(
    `SELECT run, service, (SELECT time FROM records WHERE records.seq = last_seq) AS received FROM imported_runs
     WHERE ${LISTED} ORDER BY last_seq DESC LIMIT 1`,
  )
  return row && { ...keyOf(row), received: String(row.received) }
}

const keyOf = (row: Row): ImportedRunKey => ({ run: String(row.run), service: String(row.service) })

const HEADINGS = [
  'IMPORTED RUN',
  'SERVICE',
  'AGENT',
  'STARTED (UTC)',
  'MODEL CALLS',
  'TOKENS IN',
  'TOKENS OUT',
  'COST (EST.)',
  'TOOL CALLS',
  'ERRORS',
  'WOULD DENY',
]

/** The list for a terminal. */
export function importedTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    shorten(visible(String(row.run)), SHORT_ID + 1),
    visible(String(row.service)),
    visible(text(row.agent)),
    dateTime(text(row.started)),
    Number(row.model_calls),
    tokens(row.input_tokens),
    tokens(row.output_tokens),
    costText(row),
    Number(row.tool_calls),
    Number(row.tool_errors),
    Number(row.would_deny),
  ])
  return table(HEADINGS, cells)
}

export interface ImportedRun {
  about: Row
  models: Row[]
  tools: Row[]
  prices: Prices
}

/** All there is of one run. */
export async function loadImported(reader: Reader, { run, service }: ImportedRunKey): Promise<ImportedRun> {
  const of = (view: string, where = '') =>
    reader.query(`SELECT * FROM ${view} WHERE run = ? AND service = ? ${where} ORDER BY ALL`, [run, service])
  const [[about = {}], models, tools] = await Promise.all([
    of('imported_runs'),
    reader.query('SELECT * FROM model_calls WHERE run = ? AND service = ? AND counted ORDER BY time, seq', [
      run,
      service,
    ]),
    reader.query('SELECT * FROM tool_calls WHERE run = ? AND service = ? ORDER BY time, seq', [run, service]),
  ])
  return { about, models, tools, prices: await pricesOf(reader) }
}

/** One line a call, in their order, and a last line that sums up. */
export function renderImported({ about, models, tools, prices }: ImportedRun, paint: Paint): string {
  const cost = costText(about)
  const session =
    about.session === null ? `trace ${visible(text(about.run))}` : `session ${visible(text(about.session))}`
  const dialects = Array.isArray(about.dialects) ? about.dialects.join(', ') : 'no dialect known'
  const calls = [
    ...models.map((row) => ({ time: text(row.time), line: modelLine(row, paint) })),
    ...tools.map((row) => ({ time: text(row.time), line: toolLine(row, paint) })),
  ].sort((a, b) => (a.time < b.time ? -1 : 1))
  const lines = [
    `${paint('bold', 'imported run')}  ${[visible(text(about.service)), visible(text(about.agent))].filter(Boolean).join(', agent ')}, ${session}`,
    paint('yellow', 'receipt only (T3): told by others, received and not observed'),
    `started ${dateTime(text(about.started))} UTC, ${counted(Number(about.items), 'item')} (${dialects}), ${about.not_understood} not understood, ${about.unread_attributes} attributes not read`,
    ...(about.run_id === null ? [] : [`our hooks recorded the same session: spanseal show ${text(about.run_id)}`]),
    ...calls.map(({ line }, i) => `${i === calls.length - 1 ? '└─' : '├─'} ${line}`),
    '',
    ...(cost === '' ? [] : [estimateText(prices)]),
    [
      counted(models.length, 'model call'),
      `${tokens(about.input_tokens)} tokens in`,
      `${tokens(about.output_tokens)} out`,
      ...(cost === '' ? [] : [cost]),
      counted(tools.length, 'tool call'),
      `${about.tool_errors} with an error reported`,
      `${about.would_deny} would be denied`,
      'receipt only',
    ].join(', '),
  ]
  return `${lines.join('\n')}\n`
}

function modelLine(row: Row, paint: Paint): string {
  const cached = row.cache_read_tokens === null ? '' : ` (${row.cache_read_tokens} cached)`
  const used = `${tokens(row.input_tokens)} in${cached}, ${tokens(row.output_tokens)} out`
  const words = [
    paint('dim', `model ${visible(text(row.model) || 'unnamed')}`),
    used,
    visible(text(row.finish)),
    ending(row, paint),
  ]
  return words.filter(Boolean).join('  ')
}

function toolLine(row: Row, paint: Paint): string {
  const rules =
    Array.isArray(row.would_rules) && row.would_rules.length > 0
      ? ` (${row.would_rules.map(String).map(visible).join(', ')})`
      : ''
  const would = row.would === null ? '' : `policy: ${text(row.would).replace('_', ' ')}${rules}`
  const colour = row.would === 'would_deny' ? 'red' : 'dim'
  const ran = row.execution_reported === false ? 'no execution reported' : ending(row, paint)
  return [paint('bold', visible(text(row.tool) || 'unnamed tool')), ran, would && paint(colour, would)]
    .filter(Boolean)
    .join('  ')
}

/** Never more than was reported. */
function ending(row: Row, paint: Paint): string {
  const took = typeof row.duration_ms === 'number' ? `, ${duration(row.duration_ms)}` : ''
  const outcome = text(row.outcome)
  return (outcome === 'error reported' ? paint('red', outcome) : outcome) + took
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** A count nobody reported is a question mark, not a zero. */
function tokens(value: Json | undefined): string | number {
  return value === null || value === undefined ? '?' : Number(value)
}
