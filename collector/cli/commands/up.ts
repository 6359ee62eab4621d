// `spanseal up`
import { existsSync } from 'node:fs'
import { statusOf } from '../admin-client.ts'
import { type Context, flag } from '../context.ts'
import { hasOtelEnvironment } from '../otel-environment.ts'
import { say } from '../output.ts'
import { ensureCollector, ensureForHook, runForeground } from '../start-collector.ts'
import { stopCollector } from '../stop-collector.ts'

export async function run(context: Context): Promise<number> {
  const { home, options } = context
  if (flag(options, 'fromHook')) {
    await ensureForHook(home)
    return 0
  }
  await remember(context)
  if (flag(options, 'foreground')) return runForeground(home)
  const { status, byUs } = await ensureCollector(home, undefined, process.env)
  const otlp = status.otlp === null ? 'no OTLP: its port is taken' : `OTLP ${status.otlp}`
  say(`the collector ${byUs ? 'is up' : 'was already up'} (process ${status.pid}), ${otlp}`)
  return 0
}

/** A hook starts the collector in whatever environment the agent has; only a person's terminal may change the configuration. */
async function remember({ home }: Context): Promise<void> {
  if (existsSync(home.config) && !hasOtelEnvironment(process.env)) return
  const { rememberEnvironment } = await import('../config-file.ts')
  const { changed, words } = rememberEnvironment(home)
  for (const line of words) say(line)
  if (!changed || (await statusOf(home)) === null) return
  say('the configuration changed: the collector is started anew')
  await stopCollector(home)
}
