// What every command gets: the home, what was typed, and where to write.
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { type HomePaths, homePaths } from '../../conventions/home.ts'

/** Options as typed; a flag is true, an option with a value its text. */
export type Options = Readonly<Record<string, string | boolean | undefined>>

export interface Context {
  home: HomePaths
  options: Options
  /** Positional arguments. */
  args: readonly string[]
}

/** Does the command and returns its exit code. Throws CliError. */
export type Run = (context: Context) => Promise<number>

/** What each command file offers. */
export interface CommandModule {
  run: Run
}

/** The home folder: --home, else SPANSEAL_HOME, else ~/.spanseal. Absolute, no trailing slash. */
export function resolveHome(option: string | undefined, env: NodeJS.ProcessEnv = process.env): HomePaths {
  return homePaths(resolve(option || env.SPANSEAL_HOME || `${homedir()}/.spanseal`))
}

/** Text of an option; undefined when it was not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** Whether a flag was given. */
export function flag(options: Options, name: string): boolean {
  return options[name] === true
}
