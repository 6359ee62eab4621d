// Parses what a person typed and runs the command.
import { CommanderError } from 'commander'
import { EXIT_USAGE } from './exit.ts'
import { buildProgram } from './program.ts'

/** The exit code. Throws what the command throws. */
export async function runCommandLine(): Promise<number> {
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
