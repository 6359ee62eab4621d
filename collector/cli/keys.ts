// The keys of a home's log, and what each may do, in words.
import type { HomePaths } from '../../conventions/home.ts'
import { type ListedKey, listKeys } from '../verify/index.ts'
import { CliError, EXIT_USAGE } from './exit.ts'

/** Keys that the log of `home` names, oldest first. Throws CliError when it can't be read. */
export function keysOf(home: HomePaths): ListedKey[] {
  const keys = listKeys(home.log)
  if (keys === null || keys.length === 0)
    throw new CliError(`the log in ${home.log} can't be read; see: spanseal verify`, EXIT_USAGE)
  return keys
}

/** One line for people. */
export function stateOf({ from, last_seq, revoked }: ListedKey): string {
  const range = last_seq === undefined ? `signs from record ${from} on` : `signed records ${from} to ${last_seq}`
  return revoked === undefined ? range : `${range}, revoked (${revoked.reason}) from record ${revoked.from_seq} on`
}
