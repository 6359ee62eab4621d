// `spanseal init`: stage, configure, start, and only then install the hooks: an agent is never left with hooks that can't work.
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { type InstallOptions, installClaude, type SettingsResult } from '../../../hooks/install.ts'
import { findCurl, hookCommand, type Staged, stageBin } from '../../../hooks/stage.ts'
import { homeSockets } from '../../sockets.ts'
import { makeFolder } from '../../store/files.ts'
import { type Status, statusOf } from '../admin-client.ts'
import { rememberEnvironment } from '../config-file.ts'
import { type Context, flag, textOption } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { dropUnusedToken, ensureToken, fastPort, hideToken, plannedToken } from '../fast.ts'
import { bundleDir, checkAgent, whereOf } from '../installer.ts'
import { wholeNumber } from '../numbers.ts'
import { print, say } from '../output.ts'
import { ensureCollector } from '../start-collector.ts'
import { stopCollector } from '../stop-collector.ts'

declare const SPANSEAL_VERSION: string

export async function run(context: Context): Promise<number> {
  const { home, options } = context
  checkAgent(context)
  const dryRun = flag(options, 'dryRun')
  const from = bundleDir()
  if (from.startsWith(`${home.bin}/`)) {
    throw new CliError('this is the installed copy; run init from the package, such as: npx spanseal init', EXIT_USAGE)
  }
  const port = await fastPort(context)
  const door = port === undefined ? {} : { http: { port, token: plannedToken(home) } }
  const planned = installClaude({ ...installOptions(context, plannedCommand(context)), ...door, dryRun: true })
  if (!planned.ok) throw new CliError(planned.message)
  const ports = {
    ...(textOption(options, 'otlpPort') === undefined ? {} : { otlpPort: wholeNumber(options, 'otlpPort', 0, 65_535) }),
    ...(port === undefined ? {} : { fastPort: port }),
  }
  if (dryRun) {
    for (const line of rememberEnvironment(home, { ...ports, dryRun }).words) say(line)
    say(planned.changed ? `would change ${planned.file}:` : `nothing to change in ${planned.file}`)
    if (planned.changed) print(hideToken(planned.diff))
    return 0
  }
  if (planned.changed && !(await agreed(context, planned))) throw new CliError('nothing was changed')

  makeFolder(home.root)
  const http = port === undefined ? undefined : { port, token: ensureToken(home) }
  const { changed, words } = rememberEnvironment(home, ports)
  for (const line of words) say(line)
  const staged = stageBin({
    home: home.root,
    userHome: homedir(),
    hookSocket: homeSockets(home).hook,
    mode: modeOf(context),
    failMode: failModeOf(context),
    version: SPANSEAL_VERSION,
    sourceDir: from,
  })
  say(`hook and collector are in ${staged.dir}, run by ${staged.runtime}`)
  const { fast } = await start(context, staged, changed)
  if (http !== undefined && fast === null)
    throw new CliError(
      `port ${http.port} could not be opened for the http hooks; see ${home.startLog}. No hook was changed`,
    )
  const installed = installClaude({ ...installOptions(context, staged.command), ...(http && { http }) })
  if (!installed.ok) throw new CliError(installed.message)
  if (dropUnusedToken(home)) await start(context, staged, rememberEnvironment(home, { fastPort: null }).changed)
  report(context, installed, http !== undefined)
  return 0
}

function installOptions(context: Context, command: string): InstallOptions {
  return {
    ...whereOf(context, flag(context.options, 'project')),
    command,
    mode: modeOf(context),
    failMode: failModeOf(context),
    thinkingSummaries: context.options.thinkingSummaries !== false,
    now: new Date(),
  }
}

const modeOf = ({ options }: Context) => (flag(options, 'observe') ? 'observe' : 'enforce')
const failModeOf = ({ options }: Context) => (flag(options, 'failOpen') ? 'open' : 'closed')

/** The command that staging will give, without staging. */
function plannedCommand({ home }: Context): string {
  const runtime = realpathSync(process.execPath)
  return hookCommand(`${home.bin}/${SPANSEAL_VERSION}`, runtime, findCurl() === null ? 'node' : 'sh')
}

/** Asks before somebody's settings change, where somebody is there to ask. */
async function agreed({ options }: Context, { file, diff }: SettingsResult & { ok: true }): Promise<boolean> {
  if (flag(options, 'yes') || process.stdin.isTTY !== true || process.stderr.isTTY !== true) return true
  say(`Spanseal adds its hooks to ${file}:\n${hideToken(diff)}`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question('Go on? [y/N] ')
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}

/** The collector of this version with this configuration. */
async function start({ home }: Context, staged: Staged, configChanged: boolean): Promise<Status> {
  const running = await statusOf(home)
  if (running !== null && (configChanged || running.version !== SPANSEAL_VERSION)) await stopCollector(home)
  const { status } = await ensureCollector(
    home,
    { runtime: staged.runtime, program: `${staged.dir}/collector.cjs` },
    process.env,
  )
  say(
    `the collector runs (process ${status.pid}), ${status.otlp === null ? 'no OTLP: its port is taken' : `OTLP ${status.otlp}`}`,
  )
  return status
}

function report(
  context: Context,
  { file, changed, backup, warnings }: SettingsResult & { ok: true },
  http: boolean,
): void {
  const mode = modeOf(context)
  say(
    changed
      ? `hooks installed in ${file} (${mode}${mode === 'enforce' ? `, fail mode ${failModeOf(context)}` : ''})`
      : `hooks were already in ${file}`,
  )
  if (http)
    say(
      'tool calls come by http hooks: faster, and with limits of their own (docs/limits.md); to go back: spanseal init',
    )
  if (backup !== undefined) say(`the file as it was: ${backup}`)
  for (const warning of warnings) say(`warning: ${warning}`)
  say('next: start a new session of the agent (running ones keep their old settings), then: spanseal last')
  say('to undo: spanseal uninstall')
}
