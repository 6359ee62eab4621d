// `spanseal approvals approve ID`
import { answerApproval } from '../answer-approval.ts'
import type { Context } from '../context.ts'

export async function run(context: Context): Promise<number> {
  await answerApproval(context, 'approve')
  return 0
}
