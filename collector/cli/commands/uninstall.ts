// `spanseal uninstall`: hooks first, then the collector. What is recorded stays.
import { readInstalls, uninstallClaude } from '../../../hooks/install.ts'
import { rememberEnvironment } from '../config-file.ts'
import { type Context, flag } from '../context.ts'
import { CliError } from '../exit.ts'
import { dropUnusedToken, hideToken } from '../fast.ts'
import { checkAgent, whereOf } from '../installer.ts'
import { print, say } from '../output.ts'
import { stopCollector } from '../stop-collector.ts'

export async function run(context: Context): Promise<number> {
  const { home, options } = context
  checkAgent(context)
  const dryRun = flag(options, 'dryRun')
  const results = uninstallClaude({ ...whereOf(context, false), dryRun, now: new Date() })
  for (const result of results) {
    if (!result.ok) continue
    const { file, changed, diff, backup } = result
    if (!changed) say(`no hooks of ours in ${file}`)
    else if (dryRun) say(`would change ${file}:`)
    else say(`hooks removed from ${file}${backup === undefined ? '' : ` (as it was: ${backup})`}`)
    if (changed && dryRun) print(hideToken(diff))
  }
  const failed = results.filter((result) => !result.ok).map(({ message }) => message)
  if (failed.length > 0) throw new CliError(failed.join('\n'))
  if (dryRun) return 0
  if (dropUnusedToken(home)) rememberEnvironment(home, { env: {}, fastPort: null })
  if (readInstalls(home.root).length > 0) return 0
  const pid = await stopCollector(home)
  if (pid !== null) say(`the collector (process ${pid}) has stopped`)
  say(`the evidence stays in ${home.root}; sessions that are still running use the hook there until they end`)
  return 0
}
