// `spanseal keys revoke KID`
import { KEY_REVOCATIONS } from '../../../conventions/decision.ts'
import { askOk } from '../admin-client.ts'
import { type Context, textOption } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { keysOf } from '../keys.ts'
import { say } from '../output.ts'

export async function run({ home, options, args }: Context): Promise<number> {
  const wanted = args[0] ?? ''
  const found = keysOf(home).filter(({ kid }) => kid === wanted || kid.startsWith(`sha256:${wanted}`))
  const [key] = found
  if (key === undefined || found.length > 1 || wanted === '')
    throw new CliError(`${found.length} keys begin with "${wanted}"; see: spanseal keys list`, EXIT_USAGE)
  const reason = textOption(options, 'reason') ?? ''
  if (!KEY_REVOCATIONS.some((known) => known === reason))
    throw new CliError(`--reason is one of ${KEY_REVOCATIONS.join(', ')}`, EXIT_USAGE)
  const from = textOption(options, 'from')
  if (from !== undefined && !/^\d{1,15}$/.test(from)) throw new CliError('--from is the number of a record', EXIT_USAGE)
  const from_seq = from === undefined ? key.from : Number(from)
  const { kid } = (await askOk(home, 'POST', '/keys/revoke', { kid: key.kid, from_seq, reason })) as { kid: string }
  say(`${key.kid} is revoked from record ${from_seq} on; every verification warns of what it signed`)
  say(`records are signed by ${kid}`)
  return 0
}
