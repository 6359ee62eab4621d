// `spanseal approvers list`
import { type Context, flag } from '../context.ts'
import { print, printJson, say, table } from '../output.ts'
import { approversOf } from '../sign-answer.ts'

export async function run({ home, options }: Context): Promise<number> {
  const { approvers } = await approversOf(home)
  if (flag(options, 'json')) printJson(approvers)
  else if (approvers.length === 0) say('there are no approvers: any process of this user can answer')
  else
    print(
      table(
        ['NAME', 'KIND', 'KEY'],
        approvers.map(({ name, kind, kid }) => [name, kind, kid]),
      ),
    )
  return 0
}
