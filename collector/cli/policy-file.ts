// The policy a command speaks of: a file, else the home's own, else the built-in pack.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HomePaths } from '../../conventions/home.ts'
import { loadPolicy, type Policy, type PolicyProblem, problemText } from '../gate/index.ts'
import { readPolicyFile } from '../gate-wiring.ts'
import { isThere } from '../read-file.ts'
import { CliError, EXIT_USAGE, messageOf } from './exit.ts'

/** Where the policy is, null for the built-in pack, with its errors or itself. Throws CliError when the file can't be read. */
export function readPolicy(
  home: HomePaths,
  file: string | undefined,
): { path: string | null; errors: PolicyProblem[] } | { path: string | null; policy: Policy } {
  const path = file ?? (isThere(home.policy) ? home.policy : null)
  if (path === null) return { path, ...policyOf(loadPolicy()) }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`the policy can't be read: ${messageOf(error)}`, EXIT_USAGE)
  }
  return { path, ...policyOf(loadPolicy({ text, path: resolve(path), readFile: readPolicyFile })) }
}

function policyOf(loaded: ReturnType<typeof loadPolicy>): { errors: PolicyProblem[] } | { policy: Policy } {
  return loaded.ok ? { policy: loaded.policy } : { errors: loaded.errors }
}

/** As readPolicy. Throws CliError with every error of the file. */
export function usablePolicy(home: HomePaths, file: string | undefined): Policy {
  const read = readPolicy(home, file)
  if ('policy' in read) return read.policy
  throw new CliError(`${read.path} can't be used:\n${problemLines(read.errors)}`)
}

/** One line for each problem. */
export function problemLines(errors: readonly PolicyProblem[]): string {
  return errors.map((error) => `  ${problemText(error)}`).join('\n')
}
