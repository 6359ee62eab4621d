// `spanseal keys export`
import type { Context } from '../context.ts'
import { keysOf } from '../keys.ts'
import { print } from '../output.ts'
import { trustLines } from '../trust-lines.ts'

export async function run({ home }: Context): Promise<number> {
  const lines = keysOf(home).map(({ kid }) => `record-key ${kid}`)
  print([trustLines(home, new Date()).trimEnd(), ...lines, ''].join('\n'))
  return 0
}
