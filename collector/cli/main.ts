#!/usr/bin/env node
// The `spanseal` command. Light on purpose: hooks start it, so nothing is loaded before the command that needs it.
import { CommanderError } from 'commander'
import { CliError, EXIT_FAILED, EXIT_USAGE, messageOf } from './exit.ts'
import { buildProgram } from './program.ts'

/** Somebody read as much as they wanted, such as `spanseal runs | head -1`. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

async function main(): Promise<void> {
  const program = buildProgram((code) => {
    process.exitCode = code
  })
  try {
    await program.parseAsync()
  } catch (error) {
    // The parser has said what is wrong; help and version that were asked for are no error.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
    else fail(error)
  }
}

function fail(error: unknown): void {
  process.stderr.write(`spanseal: ${messageOf(error)}\n`)
  process.exitCode = error instanceof CliError ? error.exit : EXIT_FAILED
}

await main()
