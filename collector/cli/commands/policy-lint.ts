// `spanseal policy lint [file]`
import { type Context, flag } from '../context.ts'
import { EXIT_FAILED } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { problemLines, readPolicy } from '../policy-file.ts'

export async function run({ home, options, args }: Context): Promise<number> {
  const read = readPolicy(home, args[0])
  const name = read.path ?? 'the built-in policy'
  if ('errors' in read) {
    if (flag(options, 'json')) printJson({ file: read.path, ok: false, errors: read.errors })
    else print(`${name} can't be used:\n${problemLines(read.errors)}`)
    return EXIT_FAILED
  }
  const { hash, rules } = read.policy
  if (flag(options, 'json')) printJson({ file: read.path, ok: true, rules: rules.length, policy_hash: hash })
  else print(`${name} is in order: ${rules.length} rules${read.path === null ? '' : ', its tests hold'}, hash ${hash}`)
  return 0
}
