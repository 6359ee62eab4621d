// Gives a person's answer to a held call.
import type { HomePaths } from '../../conventions/home.ts'
import { askOk } from './admin-client.ts'
import { CliError, EXIT_USAGE } from './exit.ts'
import { say } from './output.ts'

/** Throws CliError when nothing by that id waits. */
export async function answerApproval(home: HomePaths, id: string, answer: 'approve' | 'reject'): Promise<void> {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) throw new CliError('an approval id looks like apr-0123456789', EXIT_USAGE)
  await askOk(home, 'POST', `/approvals/${id}/${answer}`)
  say(answer === 'approve' ? `${id} approved: the call may run, once` : `${id} rejected: the call does not run`)
}
