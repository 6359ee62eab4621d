// `spanseal approvals reject ID`
import { answerApproval } from '../answer-approval.ts'
import type { Context } from '../context.ts'

export async function run({ home, args }: Context): Promise<number> {
  await answerApproval(home, args[0] ?? '', 'reject')
  return 0
}
