// A home with many records in it, made by the real pipeline and gate in this process: recorded faster than over a socket.
import { openGate } from '../collector/gate-wiring.ts'
import { openLog } from '../collector/open-log.ts'
import { Pipeline } from '../collector/pipeline.ts'
import { recordStart } from '../collector/startup.ts'
import { homePaths } from '../conventions/home.ts'
import { adapters } from '../hooks/index.ts'
import { toolCall } from './collector.ts'

/** Calls under way at once, so that a group commit is shared. */
const AT_ONCE = 64

/** Records `calls` tool calls, each decided and completed, in the home `root`. */
export async function fillHome(root: string, calls: number): Promise<void> {
  const home = homePaths(root)
  const fail = (error: unknown) => {
    throw error
  }
  const log = openLog({ home, now: Date.now, onDurable: () => {}, onFault: fail })
  const gate = openGate(home, '/home/dev')
  const wiring = { now: Date.now, settingsProblem: () => 'none' as const, onFault: fail, onFailure: fail }
  const pipeline = new Pipeline({ log, gate, adapters, ...wiring })
  await recordStart({ log, pipeline, gate, version: 'bench' })
  const reporter = {
    kind: 'hook',
    adapter: 'claude-code',
    version: 'bench',
    mode: 'enforce',
    failMode: 'closed',
  } as const
  for (let from = 0; from < calls; from += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, calls - from) }, (_, i) => from + i)
    for (const event of ['PreToolUse', 'PostToolUse'] as const) {
      await Promise.all(
        numbers.map((n) => pipeline.native('claude-code', event, Buffer.from(toolCall(event, n)), reporter)),
      )
    }
  }
  await pipeline.suspend('collector_stop')
  log.writer.append({ type: 'collector.stopped', source: { kind: 'collector' }, body: { reason: 'command' } })
  await log.close()
}
