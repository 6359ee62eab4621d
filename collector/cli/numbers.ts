// Numbers that somebody typed.
import { type Options, textOption } from './context.ts'
import { CliError, EXIT_USAGE } from './exit.ts'

/** The whole number of an option. Throws CliError when it is none, or outside of the limits. */
export function wholeNumber(options: Options, name: string, min: number, max: number): number {
  const text = textOption(options, name) ?? ''
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  const flagName = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new CliError(`--${flagName} must be a whole number from ${min} to ${max}`, EXIT_USAGE)
}
