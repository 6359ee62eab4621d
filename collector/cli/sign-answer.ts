// What goes with an answer or a change of approvers: the signature of one of them, or a reason to do without.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Approver, ApproverSignature } from '../../conventions/approval.ts'
import type { HomePaths } from '../../conventions/home.ts'
import { askOk } from './admin-client.ts'
import { publicKeyOf, signWith } from './approver-key.ts'
import { CliError, EXIT_USAGE } from './exit.ts'
import { askPassphrase } from './passphrase.ts'

export interface Given {
  signature?: ApproverSignature
  break_glass?: string
}

/** Who may answer, and what the next change must name. */
export interface ApproverList {
  approvers: Approver[]
  after: string
}

export async function approversOf(home: HomePaths): Promise<ApproverList> {
  return (await askOk(home, 'GET', '/approvers')) as ApproverList
}

/**
 * Signs `message` with `key`, or with the one key of an approver that lies in the home; nothing where there is no approver.
 * Throws CliError when it can't, or when the key is no approver's.
 */
export async function given(
  home: HomePaths,
  message: Uint8Array,
  { key, breakGlass }: { key: string | undefined; breakGlass: string | undefined },
): Promise<Given> {
  if (key !== undefined && breakGlass !== undefined)
    throw new CliError('give a key or --break-glass, not both', EXIT_USAGE)
  const { approvers } = await approversOf(home)
  if (breakGlass !== undefined) {
    if (approvers.length === 0) throw new CliError('there are no approvers, so there is no glass to break', EXIT_USAGE)
    return { break_glass: breakGlass }
  }
  if (approvers.length === 0 && key === undefined) return {}
  const path = key ?? keyInHome(home, approvers)
  const { kid } = publicKeyOf(path)
  const approver = approvers.find((each) => each.kid === kid)
  if (approver === undefined)
    throw new CliError(`${path} is the key of no approver; see: spanseal approvers list`, EXIT_USAGE)
  return { signature: await signWith(path, message, () => askPassphrase(`passphrase of ${approver.name}: `)) }
}

function keyInHome(home: HomePaths, approvers: readonly Approver[]): string {
  const names = existsSync(home.approverKeys) ? readdirSync(home.approverKeys) : []
  const found = names
    .filter((name) => name.endsWith('.key'))
    .map((name) => join(home.approverKeys, name))
    .filter((path) => approvers.some(({ kid }) => kid === publicKeyOf(path).kid))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  throw new CliError(
    `there are approvers (${approvers.map(({ name }) => name).join(', ')}), so one of them must sign: --key FILE`,
    EXIT_USAGE,
  )
}
