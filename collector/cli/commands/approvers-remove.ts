// `spanseal approvers remove NAME`
import { type ApproverChange, changeMessage } from '../../../conventions/approval.ts'
import { askOk } from '../admin-client.ts'
import { type Context, textOption } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { say } from '../output.ts'
import { approversOf, given } from '../sign-answer.ts'

export async function run({ home, args, options }: Context): Promise<number> {
  const wanted = args[0] ?? ''
  const { approvers, after } = await approversOf(home)
  const approver = approvers.find(({ name, kid }) => name === wanted || kid === wanted)
  if (approver === undefined) throw new CliError(`there is no approver ${wanted}`, EXIT_USAGE)
  const change: ApproverChange = { action: 'remove', after, kid: approver.kid }
  const proof = await given(home, changeMessage(change), {
    key: textOption(options, 'by'),
    breakGlass: textOption(options, 'breakGlass'),
  })
  await askOk(home, 'POST', '/approvers', { change, ...proof })
  say(`${approver.name} is no approver any more`)
  if (approvers.length === 1) say('there are none now: any process of this user can answer')
  return 0
}
