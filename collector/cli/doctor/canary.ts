// The canary: a session of its own through the installed hook, start and end, and a look whether it was recorded.
import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import type { HomePaths } from '../../../conventions/home.ts'
import { commandOf, type Install } from '../../../hooks/install.ts'
import { askOk } from '../admin-client.ts'
import { messageOf } from '../exit.ts'
import { runHook } from '../run-hook.ts'
import { shorten, visible } from '../text.ts'
import { type Check, fail, ok } from './check.ts'

/** Milliseconds. Longer than the hook itself waits for anything but a person. */
const HOOK_MS = 40_000

/** Sessions of the doctor are named so, and hold a start and an end: nobody takes them for an agent's. */
const SESSION_PREFIX = 'doctor-'

/** Runs SessionStart and SessionEnd through the hook of `install`. */
export async function canary(home: HomePaths, { handlers }: Install): Promise<Check> {
  const id = 'hooks.canary'
  const session = `${SESSION_PREFIX}${randomBytes(6).toString('hex')}`
  const fix = 'spanseal init; if it stays, the words of the hook above say why'
  try {
    for (const [event, more] of [
      ['SessionStart', { source: 'startup' }],
      ['SessionEnd', { reason: 'other' }],
    ] as const) {
      const command = commandOf(handlers[event])
      if (command === undefined) return fail(id, `no hook is installed for ${event}`, 'spanseal init')
      const payload = { session_id: session, cwd: '/', hook_event_name: event, ...more }
      const ran = await runHook(command, payload, {
        env: { PATH: '/usr/bin:/bin', HOME: homedir() },
        cwd: '/',
        timeoutMs: HOOK_MS,
      })
      if (ran.status !== 0) {
        const said = shorten(visible(ran.stderr.trim()), 400)
        return fail(id, `the ${event} hook ended with ${ran.status ?? 'a signal'}: ${said || 'it said nothing'}`, fix)
      }
    }
    const sql = 'SELECT count(*) AS n FROM runs WHERE session = ? AND closed IS NOT NULL'
    const rows = (await askOk(home, 'POST', '/query', { sql, params: [session] })) as { n?: unknown }[]
    if (rows[0]?.n === 1) return ok(id, `the installed hook was answered, and recorded as session ${session}`)
    return fail(
      id,
      'the installed hook was answered, but its session is not in the log: it may belong to another home',
      fix,
    )
  } catch (error) {
    return fail(id, messageOf(error), fix)
  }
}
