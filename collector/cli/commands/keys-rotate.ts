// `spanseal keys rotate`
import { askOk } from '../admin-client.ts'
import type { Context } from '../context.ts'
import { say } from '../output.ts'

export async function run({ home }: Context): Promise<number> {
  const { kid, replaces, last_seq } = (await askOk(home, 'POST', '/keys/rotate')) as {
    kid: string
    replaces: string
    last_seq: number
  }
  say(`records are signed by ${kid} from now on`)
  say(`${replaces} signed nothing behind record ${last_seq}, and is deleted`)
  return 0
}
