// Writes to the terminal: data on stdout, words on stderr, colours only where somebody sees them.
import { visible } from './text.ts'

/** Spaces between the columns of a table. */
const COLUMN_GAP = 2

/** Data: what somebody may pipe on. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Data as JSON, indented for people. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** Words for a person. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

export type Paint = (style: Style, text: string) => string

/** Paints text for stdout: NO_COLOR (https://no-color.org) and pipes leave it plain, FORCE_COLOR does not ask. */
export function painter(
  env: NodeJS.ProcessEnv = process.env,
  isTerminal: boolean = process.stdout.isTTY === true,
): Paint {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0'
  const plain = (env.NO_COLOR !== undefined && env.NO_COLOR !== '') || env.TERM === 'dumb'
  if (plain || (!isTerminal && !forced)) return (_style, text) => text
  return (style, text) => {
    const [on, off] = CODES[style]
    return `\x1b[${on}m${text}\x1b[${off}m`
  }
}

/** Rows as aligned columns under their headings; cells are made visible. Numbers stand to the right. */
export function table(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => visible(String(cell))))
  const widths = headings.map((heading, i) => Math.max(width(heading), ...cells.map((row) => width(row[i] ?? ''))))
  const right = headings.map((_heading, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => pad(cell, widths[i] ?? 0, right[i] === true))
      .join(' '.repeat(COLUMN_GAP))
      .trimEnd()
  return [line(headings), ...cells.map(line)].map((text) => `${text}\n`).join('')
}

function pad(text: string, to: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, to - width(text)))
  return right ? space + text : text + space
}

/** Columns on a terminal: East Asian wide characters and emoji take two, combining marks none. */
function width(text: string): number {
  let columns = 0
  for (const character of text) {
    if (/\p{Mark}/u.test(character)) continue
    columns +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1
  }
  return columns
}
