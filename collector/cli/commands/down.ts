// `spanseal down`
import type { Context } from '../context.ts'
import { say } from '../output.ts'
import { stopCollector } from '../stop-collector.ts'

export async function run({ home }: Context): Promise<number> {
  const pid = await stopCollector(home)
  say(pid === null ? 'no collector was running' : `the collector (process ${pid}) has stopped`)
  return 0
}
