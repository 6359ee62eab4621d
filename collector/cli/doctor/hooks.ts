// The doctor looks at the installed hooks: are they there, are they what was installed, do they work.
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import type { HomePaths } from '../../../conventions/home.ts'
import { commandOf, httpHandlers, type Install, readInstalls, settingsProblem } from '../../../hooks/install.ts'
import { shellQuote } from '../../../hooks/sh/quote.ts'
import { messageOf } from '../exit.ts'
import { canary } from './canary.ts'
import { type Check, fail, ok, warn } from './check.ts'
import { checkFast } from './fast.ts'

declare const SPANSEAL_VERSION: string

const PROBLEMS: Readonly<Record<Exclude<ReturnType<typeof settingsProblem>, 'none'>, string>> = {
  hooks_disabled: 'all hooks are switched off there (disableAllHooks)',
  hooks_missing: 'some of our hooks are not there any more',
  hooks_changed: 'some of our hooks were changed there',
  hooks_proxied: 'its env sends our http hooks to a proxy (NO_PROXY must name 127.0.0.1)',
  unreadable: 'it is not JSON that the agent can read, so no hook in it runs',
}

/** Every install of this home; one failure when there is none. `collector`: whether one answers. */
export async function checkHooks(home: HomePaths, collector: boolean): Promise<Check[]> {
  let installs: Install[]
  try {
    installs = readInstalls(home.root)
  } catch (error) {
    return [fail('hooks.installed', messageOf(error), 'spanseal init')]
  }
  if (installs.length === 0) return [fail('hooks.installed', 'no agent has our hooks', 'spanseal init')]
  const checks = [
    ok('hooks.installed', installs.map(({ agent, file, mode }) => `${agent} in ${file} (${mode})`).join('; ')),
  ]
  for (const install of installs) {
    const settings = checkSettings(install)
    const staged = findStaged(home, install)
    checks.push(settings, checkFile(home, staged), ...(staged === undefined ? [] : [checkRuntime(home, staged)]))
    if (staged !== undefined && collector) checks.push(await canary(home, install))
  }
  return [...checks, ...(await checkFast(home, installs, collector))]
}

function checkSettings(install: Install): Check {
  const { file } = install
  const problem = settingsProblem(
    existsSync(file) ? readFileSync(file, 'utf8') : null,
    install,
    httpHandlers(install).length > 0,
  )
  if (problem === 'none') return ok('hooks.settings', `${file} is as it was installed`)
  return fail('hooks.settings', `${file}: ${PROBLEMS[problem]}`, 'spanseal init')
}

interface Staged {
  version: string
  file: string
}

/** The staged hook that the settings' command runs. */
function findStaged(home: HomePaths, { handlers }: Install): Staged | undefined {
  const command = commandOf(Object.values(handlers)[0]) ?? ''
  for (const version of existsSync(home.bin) ? readdirSync(home.bin) : []) {
    for (const name of ['hook.sh', 'hook.cjs']) {
      const file = `${home.bin}/${version}/${name}`
      if (command.includes(shellQuote(file))) return { version, file }
    }
  }
  return undefined
}

function checkFile(home: HomePaths, staged: Staged | undefined): Check {
  const id = 'hooks.file'
  if (staged === undefined)
    return fail(id, `the hook is not in ${home.bin} any more: every call is stopped`, 'spanseal init')
  const { file, version } = staged
  try {
    accessSync(file, file.endsWith('.sh') ? constants.R_OK | constants.X_OK : constants.R_OK)
  } catch (error) {
    return fail(id, `${file} can't be run: ${messageOf(error)}`, 'spanseal init')
  }
  if (version === SPANSEAL_VERSION) return ok(id, file)
  return warn(
    id,
    `${file} is of version ${version}, this command of ${SPANSEAL_VERSION}`,
    'spanseal init, with the version you want',
  )
}

/** The Node that the hook starts the collector with. */
function checkRuntime(home: HomePaths, { version }: Staged): Check {
  const id = 'hooks.runtime'
  const file = `${home.bin}/${version}/hook.json`
  try {
    const settings: { runtime?: unknown } = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof settings.runtime !== 'string') return fail(id, `${file} names no runtime`, 'spanseal init')
    accessSync(settings.runtime, constants.X_OK)
    return ok(id, settings.runtime)
  } catch (error) {
    return fail(id, `the Node that was recorded can't be run: ${messageOf(error)}`, 'spanseal init')
  }
}
