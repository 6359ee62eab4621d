// `--against` and `--in`: where copies of records are, and how to get them.
import { readFileSync } from 'node:fs'
import type { Backend } from '../readback/ask.ts'
import { type Found, ReadBackError } from '../readback/copies.ts'
import { findInFile } from '../readback/file.ts'
import { findInJaeger, traceInJaeger } from '../readback/jaeger.ts'
import { findInTempo, traceInTempo } from '../readback/tempo.ts'
import type { CopySource } from '../verify/index.ts'
import { DEFAULT_HOURS, SOURCE_USAGE } from './against-usage.ts'
import { type Context, textOption } from './context.ts'
import { CliError, EXIT_USAGE, messageOf } from './exit.ts'
import { logIdOf } from './trust-lines.ts'

/** Query APIs as these programs come. */
const DEFAULTS = { jaeger: 'http://127.0.0.1:16686', tempo: 'http://127.0.0.1:3200' } as const

const HOUR_MS = 3_600_000
type Place = { kind: 'jaeger' | 'tempo'; backend: Backend } | { kind: 'file'; path: string }

/** Every copy of this home's log at the place that option `name` names, in the window of `--hours`. Throws CliError. */
export async function copiesOf({ home, options }: Context, name: string): Promise<CopySource> {
  const place = placeOf(options, name)
  const hours = Number(textOption(options, 'hours') ?? DEFAULT_HOURS)
  if (!(hours > 0 && hours <= 24 * 366)) throw new CliError('--hours must be above 0 and at most 8784', EXIT_USAGE)
  const logId = logIdOf(home)
  const now = Date.now()
  // A minute more: clocks of two machines differ.
  const window = { from: now - hours * HOUR_MS, to: now + 60_000 }
  const found = await orCliError(() => {
    if (place.kind === 'file') return findInFile(place.path, logId)
    return place.kind === 'jaeger'
      ? findInJaeger(place.backend, logId, window)
      : findInTempo(place.backend, logId, window)
  })
  const since = place.kind === 'file' ? '' : `, last ${hours} h`
  const notChecked =
    place.kind === 'file'
      ? found.notChecked
      : [...found.notChecked, `anything older than ${hours} h, or no longer kept there`]
  return { from: `${nameOf(place)}${since}`, copies: found.copies, notChecked }
}

/** The copies of one trace at the place that option `name` names. Throws CliError. */
export async function copiesOfTrace({ options }: Context, name: string, traceId: string): Promise<CopySource> {
  const place = placeOf(options, name)
  const { copies, notChecked } = await orCliError(() => {
    if (place.kind === 'file') return findInFile(place.path)
    return place.kind === 'jaeger' ? traceInJaeger(place.backend, traceId) : traceInTempo(place.backend, traceId)
  })
  return { from: nameOf(place), copies: copies.filter((copy) => copy.traceId === traceId), notChecked }
}

function placeOf(options: Context['options'], name: string): Place {
  const text = textOption(options, name) ?? ''
  const at = text.indexOf('=')
  const kind = at === -1 ? text : text.slice(0, at)
  const where = at === -1 ? undefined : text.slice(at + 1)
  if (kind === 'file' && where !== undefined && where !== '') return { kind, path: where }
  if (kind !== 'jaeger' && kind !== 'tempo') throw new CliError(`--${name} must be ${SOURCE_USAGE}`, EXIT_USAGE)
  const url = where ?? DEFAULTS[kind]
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CliError(`--${name}: the address of ${kind} must be an http or https URL`, EXIT_USAGE)
  return { kind, backend: { url, headers: headersOf(textOption(options, 'headers')) } }
}

/** `name: value` lines. In a file: what is typed shows in the list of processes. */
function headersOf(path: string | undefined): Record<string, string> {
  if (path === undefined) return {}
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`the headers file can't be read: ${messageOf(error)}`, EXIT_USAGE)
  }
  const headers: Record<string, string> = {}
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw new CliError(`the headers file, line ${index + 1}: not "name: value"`, EXIT_USAGE)
    headers[name] = value
  }
  return headers
}

function nameOf(place: Place): string {
  if (place.kind === 'file') return `File ${place.path}`
  return `${place.kind === 'jaeger' ? 'Jaeger' : 'Tempo'} at ${new URL(place.backend.url).origin}`
}

async function orCliError(get: () => Promise<Found>): Promise<Found> {
  try {
    return await get()
  } catch (error) {
    if (error instanceof ReadBackError) throw new CliError(error.message)
    throw error
  }
}
