// The collector process: `node collector.cjs --home <folder>`. Logs to stderr; ends on SIGTERM, SIGINT or `spanseal down`.
import { startCollector } from './collector.ts'

declare const SPANSEAL_VERSION: string

/** Exit code of a collector that can't start or go on: EX_UNAVAILABLE of sysexits. */
const EXIT_UNAVAILABLE = 69

async function main(args: readonly string[]): Promise<void> {
  const [flag, root, ...rest] = args
  if (flag !== '--home' || root === undefined || !root.startsWith('/') || rest.length > 0) {
    throw new Error('usage: collector.cjs --home <absolute folder>')
  }
  const log = (line: string) => console.error(`${new Date().toISOString()} ${line}`)
  const collector = await startCollector({ root, version: SPANSEAL_VERSION, log })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => collector.stop('signal'))
  // Also sent when the terminal it was started from goes; the collector stays.
  process.on('SIGHUP', () => {
    collector.reload().catch((error: unknown) => log(`the reload failed: ${String(error)}`))
  })
  await collector.stopped
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`spanseal: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(EXIT_UNAVAILABLE)
  },
)
