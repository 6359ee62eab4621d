// Parses what a person typed and runs the command.
import { CommanderError } from 'commander'
import { EXIT_USAGE, endWith } from './exit.ts'
import { buildProgram } from './program.ts'

/** Runs the command that this process was called with; its exit code is set, words on failure are said. */
export async function runCommandLine(): Promise<void> {
  // Somebody read as much as they wanted, such as `spanseal runs | head -1`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    throw error
  })
  try {
    process.exitCode = await parsed()
  } catch (error) {
    endWith(error)
  }
}

/** The exit code. Throws what the command throws. */
async function parsed(): Promise<number> {
  let exit = 0
  const program = buildProgram((code) => {
    exit = code
  })
  try {
    await program.parseAsync()
    return exit
  } catch (error) {
    // The parser has said what is wrong; help and version that were asked for are no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
    throw error
  }
}
