#!/usr/bin/env node
// The `spanseal` command. A hook that found no collector starts one with a fixed line and waits for it: for that, nothing is loaded but
// what starts a collector.
import { resolve } from 'node:path'
import { homePaths } from '../../conventions/home.ts'
import { CliError, EXIT_FAILED, messageOf } from './exit.ts'

/** Somebody read as much as they wanted, such as `spanseal runs | head -1`. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

async function main([flag, root, ...words]: readonly string[]): Promise<number> {
  if (flag === '--home' && root?.startsWith('/') && words.join(' ') === 'up --from-hook') {
    const { ensureForHook } = await import('./start-collector.ts')
    await ensureForHook(homePaths(resolve(root)))
    return 0
  }
  const { runCommandLine } = await import('./command-line.ts')
  return runCommandLine()
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`spanseal: ${messageOf(error)}\n`)
  process.exitCode = error instanceof CliError ? error.exit : EXIT_FAILED
}
