// `spanseal approvals show ID`
import { askOk, type PendingApproval } from '../admin-client.ts'
import { type Context, flag } from '../context.ts'
import { CliError } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { visible } from '../text.ts'
import { dateTime } from '../times.ts'

/** Columns of the names before their values. */
const NAME_WIDTH = 10

export async function run({ home, options, args }: Context): Promise<number> {
  const id = args[0] ?? ''
  const held = ((await askOk(home, 'GET', '/approvals')) as PendingApproval[]).find((each) => each.id === id)
  if (held === undefined) throw new CliError(`no call waits for ${id} (any more)`)
  if (flag(options, 'json')) {
    printJson(held)
    return 0
  }
  const lines: [string, string][] = [
    ['why', held.reason],
    ['rules', held.rules.join(' ')],
    ['tool', held.tool],
    ['call', `${held.call}, attempt ${held.binding.attempt}`],
    ['agent', `${held.agent}, session ${held.session}`],
    ['asked', `${dateTime(held.requested)} UTC`],
    ['ends', `${dateTime(held.expires)} UTC`],
    ['arguments', `spanseal show ${held.session} --content`],
  ]
  print(lines.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${visible(value)}`).join('\n'))
  return 0
}
