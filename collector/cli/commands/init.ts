// `spanseal init`: stage, configure, start, and only then install the hooks: an agent is never left with hooks that can't work.
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { type InstallOptions, installClaude, type SettingsResult } from '../../../hooks/install.ts'
import { findCurl, hookCommand, type Staged, stageBin } from '../../../hooks/stage.ts'
import { homeSockets } from '../../sockets.ts'
import { makeFolder } from '../../store/files.ts'
import { statusOf } from '../admin-client.ts'
import { rememberEnvironment } from '../config-file.ts'
import { type Context, flag, textOption } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
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
  const planned = installClaude({ ...installOptions(context, plannedCommand(context)), dryRun: true })
  if (!planned.ok) throw new CliError(planned.message)
  const otlpPort =
    textOption(options, 'otlpPort') === undefined ? {} : { otlpPort: wholeNumber(options, 'otlpPort', 0, 65_535) }
  if (dryRun) {
    for (const line of rememberEnvironment(home, { ...otlpPort, dryRun }).words) say(line)
    say(planned.changed ? `would change ${planned.file}:` : `nothing to change in ${planned.file}`)
    if (planned.changed) print(planned.diff)
    return 0
  }
  if (planned.changed && !(await agreed(context, planned))) throw new CliError('nothing was changed')

  makeFolder(home.root)
  const { changed, words } = rememberEnvironment(home, otlpPort)
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
  await start(context, staged, changed)
  const installed = installClaude(installOptions(context, staged.command))
  if (!installed.ok) throw new CliError(installed.message)
  report(context, installed)
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
  say(`Spanseal adds its hooks to ${file}:\n${diff}`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question('Go on? [y/N] ')
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}

/** The collector of this version with this configuration. */
async function start({ home }: Context, staged: Staged, configChanged: boolean): Promise<void> {
  const running = await statusOf(home)
  if (running !== null && (configChanged || running.version !== SPANSEAL_VERSION)) await stopCollector(home)
  const { status } = await ensureCollector(home, { runtime: staged.runtime, program: `${staged.dir}/collector.mjs` })
  say(
    `the collector runs (process ${status.pid}), ${status.otlp === null ? 'no OTLP: its port is taken' : `OTLP ${status.otlp}`}`,
  )
}

function report(context: Context, { file, changed, backup, warnings }: SettingsResult & { ok: true }): void {
  const mode = modeOf(context)
  say(
    changed
      ? `hooks installed in ${file} (${mode}${mode === 'enforce' ? `, fail mode ${failModeOf(context)}` : ''})`
      : `hooks were already in ${file}`,
  )
  if (backup !== undefined) say(`the file as it was: ${backup}`)
  for (const warning of warnings) say(`warning: ${warning}`)
  say('next: start a new session of the agent (running ones keep their old settings), then: spanseal last')
  say('to undo: spanseal uninstall')
}
