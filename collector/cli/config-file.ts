// Writes config.yaml: once with everything, later only what changed, so that a person's comments stay.
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { isSeq, parseDocument } from 'yaml'
import type { HomePaths } from '../../conventions/home.ts'
import { type Config, configText, parseConfig } from '../config.ts'
import { isOwnListener, signalUrl } from '../forward/endpoint.ts'
import { makeFolder, replaceFile } from '../store/files.ts'
import { readEndpoint } from './endpoint.ts'
import { CliError, EXIT_USAGE } from './exit.ts'
import { type OtelEnvironment, readOtelEnvironment } from './otel-environment.ts'

/** Name of the destination that OTEL_* describes; others in the file are a person's own. */
const DESTINATION = 'otel'

export interface Remembered {
  changed: boolean
  /** What a person should know. */
  words: string[]
}

/**
 * Brings config.yaml up to date with OTEL_* and the options, making it when it is missing. `fastPort`: null for no http hooks any more.
 * `dryRun`: only says what it would do.
 * Throws CliError when the file or the environment can't be used.
 */
export function rememberEnvironment(
  home: HomePaths,
  options: { env?: NodeJS.ProcessEnv; otlpPort?: number; fastPort?: number | null; dryRun?: boolean } = {},
): Remembered {
  const before = existsSync(home.config) ? readFileSync(home.config, 'utf8') : null
  const config = checked(home, before ?? configText(fresh()))
  const environment = readOtelEnvironment(options.env ?? process.env)
  const words = [...environment.warnings]
  const port = options.otlpPort ?? config.otlp.port
  const refusal = refusalOf(environment, port, home)
  if (refusal !== null) {
    words.push(refusal)
    delete environment.destination
  }
  const after = edited(before ?? configText(fresh()), config, environment, options)
  if (after === before) return { changed: false, words }
  checked(home, after)
  words.push(...saying(before, home, environment))
  if (!options.dryRun) {
    makeFolder(dirname(home.config))
    // It may hold the headers of a destination, which are secrets: mode 0600.
    replaceFile(home.config, after)
  }
  return { changed: true, words }
}

function fresh(): Config {
  const parsed = parseConfig('version: 1')
  if (!parsed.ok) throw new Error('the default configuration is not valid')
  return { ...parsed.config, user_home: homedir() }
}

function checked(home: HomePaths, text: string): Config {
  const parsed = parseConfig(text)
  if (parsed.ok) return parsed.config
  throw new CliError(`${home.config} can't be used:\n  ${parsed.errors.join('\n  ')}`, EXIT_USAGE)
}

/** Why the destination is not taken; null when it is, or there is none. The words never repeat the address: it may hold a password. */
function refusalOf({ destination }: OtelEnvironment, port: number, home: HomePaths): string | null {
  if (destination === undefined) return null
  const endpoint = signalUrl(destination.url)
  if (!endpoint.ok) return `OTEL_EXPORTER_OTLP_ENDPOINT is not used: ${endpoint.message}`
  const running = readEndpoint(home)?.otlp
  const ports = [port, ...(running === undefined || running === null ? [] : [Number(new URL(running).port)])]
  if (
    !isOwnListener(
      endpoint.url,
      ports.map((own) => ({ host: '127.0.0.1', port: own })),
    )
  )
    return null
  return 'OTEL_EXPORTER_OTLP_ENDPOINT is not used: it is Spanseal’s own OTLP port, and what is forwarded there would come back. If another program is to have that port, give Spanseal another one: spanseal init --otlp-port PORT'
}

function edited(
  text: string,
  config: Config,
  environment: OtelEnvironment,
  { otlpPort, fastPort }: { otlpPort?: number; fastPort?: number | null },
): string {
  const document = parseDocument(text)
  const { destination, resourceAttributes } = environment
  let changed = false
  const set = (path: (string | number)[], value: unknown) => {
    document.setIn(path, document.createNode(value))
    changed = true
  }
  if (otlpPort !== undefined && otlpPort !== config.otlp.port) set(['otlp', 'port'], otlpPort)
  if (fastPort === null && config.fast !== undefined) changed = document.deleteIn(['fast']) || changed
  if (typeof fastPort === 'number' && fastPort !== config.fast?.port) set(['fast', 'port'], fastPort)
  if (resourceAttributes !== undefined && !same(resourceAttributes, config.resource_attributes))
    set(['resource_attributes'], resourceAttributes)
  if (destination !== undefined) {
    const at = config.forward.findIndex(({ name }) => name === DESTINATION)
    const wanted = { name: DESTINATION, ...destination }
    if (at === -1 && isSeq(document.get('forward'))) set(['forward', config.forward.length], wanted)
    else if (at === -1) set(['forward'], [...config.forward, wanted])
    else if (!same(config.forward[at], wanted)) set(['forward', at], wanted)
  }
  return changed ? document.toString({ lineWidth: 0 }) : text
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function saying(
  before: string | null,
  home: HomePaths,
  { destination, resourceAttributes }: OtelEnvironment,
): string[] {
  const words = [before === null ? `configuration written: ${home.config}` : `configuration changed: ${home.config}`]
  if (destination !== undefined) {
    const { origin } = new URL(destination.url)
    const headers = Object.keys(destination.headers).length
    words.push(`traces go to ${origin} (OTEL_EXPORTER_OTLP_ENDPOINT${headers === 0 ? '' : `, ${headers} header(s)`})`)
  }
  if (resourceAttributes !== undefined)
    words.push(`resource attributes from OTEL_RESOURCE_ATTRIBUTES: ${Object.keys(resourceAttributes).join(', ')}`)
  return words
}
