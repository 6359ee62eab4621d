// `init --fast`: the port and the token of the http hooks, made before anything points to them and dropped when nothing does any more.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import type { HomePaths } from '../../conventions/home.ts'
import { findClaudes } from '../../hooks/claude-code/installed.ts'
import { claudeSettingsFile, httpHandlers, readInstalls } from '../../hooks/install.ts'
import { DEFAULT_FAST_PORT, readConfig } from '../config.ts'
import { readHttpToken } from '../http-door.ts'
import { AddressTaken, listenOnPort } from '../receive/listen.ts'
import { replaceFile } from '../store/files.ts'
import { statusOf } from './admin-client.ts'
import { type Context, flag, textOption } from './context.ts'
import { CliError, EXIT_USAGE, messageOf } from './exit.ts'
import { agentProblem, committedProblem, proxyProblem, settingsModeProblem } from './fast-checks.ts'
import { whereOf } from './installer.ts'
import { wholeNumber } from './numbers.ts'

const TOKEN_BYTES = 32
/** Stands for the token in what is shown. */
const HIDDEN = '<token>'

/** The port for http hooks, or undefined where none were asked for. Throws CliError when they can't be had; nothing is changed. */
export async function fastPort(context: Context): Promise<number | undefined> {
  const { home, options } = context
  if (!flag(options, 'fast')) {
    if (textOption(options, 'fastPort') === undefined) return undefined
    throw new CliError('--fast-port says where the http hooks of --fast are answered; give both', EXIT_USAGE)
  }
  const where = whereOf(context, flag(options, 'project'))
  const file = claudeSettingsFile(where)
  const problem =
    agentProblem(await findClaudes(process.env, where.userHome)) ??
    (where.project === undefined ? null : committedProblem(file)) ??
    settingsModeProblem(file) ??
    proxyProblem(process.env, settingsEnv(file))
  if (problem !== null)
    throw new CliError(
      `--fast is not possible: ${problem}. Without --fast the hooks are commands, which do not need it`,
    )
  return freePort(home, context)
}

/** The token of this home, made when there is none. Throws CliError when the one there is can't be trusted any more. */
export function ensureToken(home: HomePaths): string {
  const read = readHttpToken(home.httpToken)
  if (read.ok) return read.token
  if (!read.missing) throw new CliError(`${read.message}. Remove the file, then run init again: that makes another`)
  mkdirSync(home.keys, { recursive: true, mode: 0o700 })
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  replaceFile(home.httpToken, `${token}\n`)
  return token
}

/** The token for a plan that changes nothing. */
export function plannedToken(home: HomePaths): string {
  const read = readHttpToken(home.httpToken)
  return read.ok ? read.token : HIDDEN
}

/** A text for people, without the token. */
export function hideToken(text: string): string {
  return text.replace(/Bearer [A-Za-z0-9_-]{43,}/g, `Bearer ${HIDDEN}`)
}

/** Forgets the token where no hook that we installed uses it any more. Says whether the collector has to know. */
export function dropUnusedToken(home: HomePaths): boolean {
  if (readInstalls(home.root).some((install) => httpHandlers(install).length > 0)) return false
  rmSync(home.httpToken, { force: true })
  const read = readConfig(home.config)
  return read.ok && read.config.fast !== undefined
}

/** `env` of the settings, which the agent puts over its own environment. */
export function settingsEnv(file: string): Record<string, unknown> {
  try {
    const { env } = JSON.parse(readFileSync(file, 'utf8')) as { env?: Record<string, unknown> }
    return env ?? {}
  } catch {
    // None, or not one that can be installed into: said by whoever edits it.
    return {}
  }
}

async function freePort(home: HomePaths, { options }: Context): Promise<number> {
  const read = readConfig(home.config)
  if (!read.ok) throw new CliError(`${home.config} can't be used:\n  ${read.errors.join('\n  ')}`, EXIT_USAGE)
  const port =
    textOption(options, 'fastPort') === undefined
      ? (read.config.fast?.port ?? DEFAULT_FAST_PORT)
      : wholeNumber(options, 'fastPort', 1, 65_535)
  const otlp = textOption(options, 'otlpPort') ?? String(read.config.otlp.port)
  if (port === 4318 || String(port) === otlp)
    throw new CliError(
      `the http hooks need a port of their own, not that of OTLP (${port}): --fast-port PORT`,
      EXIT_USAGE,
    )
  if ((await statusOf(home))?.fast === `http://127.0.0.1:${port}`) return port
  try {
    await (await listenOnPort({ host: '127.0.0.1', port }, () => new Response(null, { status: 503 }))).close()
    return port
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw new CliError(`port ${port} can't be used: ${messageOf(error)}`)
    throw new CliError(
      `--fast is not possible: another program has port ${port}. Stop it, or choose another port: --fast-port PORT`,
    )
  }
}
