// The doctor looks at the http hooks, where some are installed: what it warns of here stops every call, or lets one run that should not.
import { homedir } from 'node:os'
import type { HomePaths } from '../../../conventions/home.ts'
import { findClaudes } from '../../../hooks/claude-code/installed.ts'
import { type HttpHandler, httpHandlers, type Install } from '../../../hooks/install.ts'
import { shellQuote } from '../../../hooks/sh/quote.ts'
import { readHttpToken } from '../../http-door.ts'
import { statusOf } from '../admin-client.ts'
import { settingsEnv } from '../fast.ts'
import { agentProblem, proxyProblem, settingsModeProblem } from '../fast-checks.ts'
import { type Check, fail, ok, warn } from './check.ts'

const BACK = 'spanseal init installs command hooks'

/** Checks of every install with http hooks; none where there is none. `collector`: whether one answers. */
export async function checkFast(home: HomePaths, installs: readonly Install[], collector: boolean): Promise<Check[]> {
  const http = installs.filter((install) => httpHandlers(install).length > 0)
  if (http.length === 0) return []
  const open = collector ? ((await statusOf(home))?.fast ?? null) : undefined
  return [
    ...http.flatMap((install) => {
      const [handler] = httpHandlers(install)
      if (handler === undefined) return []
      return [
        ...(open === undefined ? [] : [checkPort(handler, open)]),
        checkToken(home, handler),
        checkSettings(install),
        checkProxy(install),
      ]
    }),
    await checkAgents(),
  ]
}

/** `open`: where the collector answers http hooks; null: nowhere. */
function checkPort({ url }: HttpHandler, open: string | null): Check {
  const id = 'fast.port'
  const wanted = new URL(url).origin
  if (open === wanted) return ok(id, `http hooks are answered on ${wanted}`)
  const why =
    open === null
      ? 'the collector could not open it: another program has it, or the token can not be used'
      : `the collector answers on ${open}`
  const meaning = 'calls are stopped, or answered by whatever program listens there'
  return fail(
    id,
    `the http hooks ask ${wanted}, but ${why}; ${meaning}`,
    `stop that program, then: spanseal down && spanseal up; or choose another port: spanseal init --fast --fast-port PORT`,
  )
}

function checkToken(home: HomePaths, { headers }: HttpHandler): Check {
  const id = 'fast.token'
  const read = readHttpToken(home.httpToken)
  const again = `rm -f ${shellQuote(home.httpToken)}, then: spanseal init --fast, which makes another`
  if (!read.ok) return fail(id, `${read.message}: every call is stopped`, again)
  if (headers.Authorization === `Bearer ${read.token}`) return ok(id, 'the settings hold the token of this home')
  return fail(
    id,
    `the settings hold another token than ${home.httpToken}: every call is stopped`,
    'spanseal init --fast',
  )
}

function checkSettings({ file }: Install): Check {
  const id = 'fast.settings'
  const problem = settingsModeProblem(file)
  if (problem === null) return ok(id, `only its owner can read ${file}`)
  return fail(
    id,
    `${problem}: they can post events as our hook`,
    `chmod 600 ${shellQuote(file)}; if others had it: ${BACK}`,
  )
}

/** A warning only: the doctor's environment need not be the agent's. */
function checkProxy({ file }: Install): Check {
  const id = 'fast.proxy'
  const problem = proxyProblem(process.env, settingsEnv(file))
  if (problem === null)
    return ok(id, 'no proxy stands between the agent and its http hooks, as far as this terminal knows')
  return warn(id, problem, `add 127.0.0.1 to NO_PROXY; or: ${BACK}`)
}

async function checkAgents(): Promise<Check> {
  const id = 'fast.agent'
  const found = await findClaudes(process.env, homedir())
  const problem = agentProblem(found)
  if (problem !== null) return fail(id, problem, `update it; or: ${BACK}`)
  return ok(id, found.map(({ file, version }) => `${file} is ${version}`).join('; '))
}
