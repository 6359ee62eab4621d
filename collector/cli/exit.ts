// How a command ends badly on purpose: words for a person, and an exit code.

/** 0 is done. `verify` and `doctor` have codes of their own. */
export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

/** Ends the command with these words on stderr. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exit: number
  constructor(message: string, exit: number = EXIT_FAILED) {
    super(message)
    this.exit = exit
  }
}

/** The words of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Says why on stderr; the process then ends with the code that belongs to it. */
export function endWith(error: unknown): void {
  process.stderr.write(`spanseal: ${messageOf(error)}\n`)
  process.exitCode = error instanceof CliError ? error.exit : EXIT_FAILED
}
