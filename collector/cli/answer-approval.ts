// Gives a person's answer to a held call, signed where there are approvers.
import { type Answer, answerMessage } from '../../conventions/approval.ts'
import { askOk, type PendingApproval } from './admin-client.ts'
import { type Context, textOption } from './context.ts'
import { CliError, EXIT_USAGE } from './exit.ts'
import { say } from './output.ts'
import { given } from './sign-answer.ts'

/** Throws CliError when nothing by that id waits, or when the answer does not count. */
export async function answerApproval({ home, args, options }: Context, answer: Answer): Promise<void> {
  const id = args[0] ?? ''
  if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) throw new CliError('an approval id looks like apr-0123456789', EXIT_USAGE)
  const pending = ((await askOk(home, 'GET', '/approvals')) as PendingApproval[]).find((each) => each.id === id)
  if (pending === undefined) throw new CliError(`no call waits for ${id} (any more)`)
  const proof = await given(home, answerMessage(answer, pending.binding), {
    key: textOption(options, 'key'),
    breakGlass: textOption(options, 'breakGlass'),
  })
  await askOk(home, 'POST', `/approvals/${id}/${answer}`, proof)
  say(answer === 'approve' ? `${id} approved: the call may run, once` : `${id} rejected: the call does not run`)
}
