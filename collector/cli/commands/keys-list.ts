// `spanseal keys list`
import { type Context, flag } from '../context.ts'
import { keysOf, stateOf } from '../keys.ts'
import { print, printJson } from '../output.ts'

export async function run({ home, options }: Context): Promise<number> {
  const keys = keysOf(home)
  if (flag(options, 'json')) printJson(keys)
  else print(keys.map((key) => `${key.kid}  ${stateOf(key)}`).join('\n'))
  return 0
}
