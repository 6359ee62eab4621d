// `spanseal approvals list`
import { askOk, type PendingApproval } from '../admin-client.ts'
import { type Context, flag } from '../context.ts'
import { print, printJson, say, table } from '../output.ts'
import { SHORT_ID } from '../run-render.ts'
import { duration } from '../times.ts'

const HEADINGS = ['ID', 'TOOL', 'RULES', 'AGENT', 'SESSION', 'ENDS IN', 'WHY']

export async function run({ home, options }: Context): Promise<number> {
  const pending = (await askOk(home, 'GET', '/approvals')) as PendingApproval[]
  if (flag(options, 'json')) {
    printJson(pending)
    return 0
  }
  if (pending.length === 0) {
    say('no call waits for a person')
    return 0
  }
  const rows = pending.map(({ id, tool, rules, agent, session, expires, reason }) => [
    id,
    tool,
    rules.join(' '),
    agent,
    session.slice(0, SHORT_ID),
    duration(Math.max(0, Date.parse(expires) - Date.now())),
    reason,
  ])
  print(table(HEADINGS, rows))
  say('answer with: spanseal approvals approve ID, or: spanseal approvals reject ID')
  return 0
}
