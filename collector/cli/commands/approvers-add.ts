// `spanseal approvers add NAME`
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ApproverChange, changeMessage } from '../../../conventions/approval.ts'
import type { HomePaths } from '../../../conventions/home.ts'
import { makeFolder, writeNewFile } from '../../store/files.ts'
import { askOk } from '../admin-client.ts'
import { newKeyFile, publicKeyOf } from '../approver-key.ts'
import { type Context, textOption } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { say } from '../output.ts'
import { askPassphrase } from '../passphrase.ts'
import { approversOf, given } from '../sign-answer.ts'

export async function run({ home, args, options }: Context): Promise<number> {
  const name = args[0] ?? ''
  if (!/^[A-Za-z0-9._@-]{1,64}$/.test(name))
    throw new CliError('a name has 1 to 64 letters, digits and . _ @ -', EXIT_USAGE)
  // Whether the collector answers is found out before anybody thinks of a passphrase.
  const { approvers, after } = await approversOf(home)
  if (approvers.some((each) => each.name === name)) throw new CliError(`${name} is an approver already`, EXIT_USAGE)
  const path = textOption(options, 'key') ?? (await makeKey(home, name))
  const change: ApproverChange = { action: 'add', after, ...publicKeyOf(path), name }
  const proof = await given(home, changeMessage(change), {
    key: textOption(options, 'by'),
    breakGlass: textOption(options, 'breakGlass'),
  })
  await askOk(home, 'POST', '/approvers', { change, ...proof })
  say(`${name} is an approver (${change.kind}). From now on an answer counts only when an approver signs it.`)
  if (approvers.length === 0) say('nobody vouched for the first one: every report says so, unless a trust file pins it')
  say(`a line for trust files: approver ${name} ${change.spki}`)
  return 0
}

/** A key that was made for this name and never added is used: the command may have been interrupted. */
async function makeKey(home: HomePaths, name: string): Promise<string> {
  const path = join(home.approverKeys, `${name}.key`)
  if (existsSync(path)) return path
  const passphrase = await askPassphrase(`new passphrase for ${name}: `)
  if (passphrase !== (await askPassphrase('again: '))) throw new CliError('the passphrases differ; nothing was made')
  makeFolder(home.approverKeys)
  writeNewFile(path, newKeyFile(passphrase))
  say(`the key is in ${path}`)
  return path
}
