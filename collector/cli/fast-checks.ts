// What must be so for http hooks: each check says what is wrong in words, or null. `init --fast` refuses by them, the doctor reports.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { MIN_HTTP_VERSION } from '../../hooks/claude-code/http.ts'
import { type FoundClaude, isAtLeast } from '../../hooks/claude-code/installed.ts'
import { proxyOf } from '../../hooks/settings/proxy.ts'

/** Permission bits of group and others. */
const FOREIGN_BITS = 0o077

/** Why one of the agents can't be given http hooks: it would let a call run when the collector can't be asked. */
export function agentProblem(found: readonly FoundClaude[]): string | null {
  if (found.length === 0)
    return `no claude was found on PATH or in the usual places, so it can't be known whether it is ${MIN_HTTP_VERSION} or newer`
  const odd = found.find(({ version }) => version === null)
  if (odd !== undefined) return `${odd.file} does not say its version; http hooks need ${MIN_HTTP_VERSION} or newer`
  const old = found.find(({ version }) => version !== null && !isAtLeast(version, MIN_HTTP_VERSION))
  if (old === undefined) return null
  return `${old.file} is Claude Code ${old.version}, which does not know "onFailure": it would run a call when the collector can't be asked. http hooks need ${MIN_HTTP_VERSION} or newer in every Claude Code that reads these settings`
}

/** The settings hold a token: whoever can read them can post events as our hook. */
export function settingsModeProblem(file: string): string | null {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & FOREIGN_BITS) === 0) return null
  return `others can read ${file} (mode ${(mode & 0o777).toString(8)}), and with http hooks it holds a token`
}

/** A token must not travel with a project. `file`: a project's settings.local.json; in a git repository it has to be ignored. */
export function committedProblem(file: string): string | null {
  const project = dirname(dirname(file))
  // A repository can name a program for git to run; this question needs none.
  const ask = ['-c', 'core.fsmonitor=false', '-C', project, 'check-ignore', '-q', '--', relative(project, file)]
  // 0: ignored, and so not committed; 1: not ignored; 128: no repository; null: no git that could commit it.
  const { status } = spawnSync('git', ask, { stdio: 'ignore' })
  return status === 1 ? `git does not ignore ${file}, which would hold a token` : null
}

/** `settings`: the `env` of the settings, which the agent lays over its own environment. */
export function proxyProblem(env: NodeJS.ProcessEnv, settings: Readonly<Record<string, unknown>>): string | null {
  // What the settings say alone has to do: the gate for their changes sees nothing else.
  const name = proxyOf({ ...env, ...settings }) ?? proxyOf(settings, true)
  if (name === null) return null
  return `${name} is set, and NO_PROXY beside it does not name 127.0.0.1: the agent would send its http hooks, with their token and content, to a proxy and believe its answer`
}
