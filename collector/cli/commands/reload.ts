// `spanseal reload`
import { ask } from '../admin-client.ts'
import { type Context, flag } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { printJson, say } from '../output.ts'

/** What POST /reload answers. */
interface Result {
  outcome: 'changed' | 'unchanged' | 'refused'
  changed: string[]
  errors: string[]
}

export async function run({ home, options }: Context): Promise<number> {
  const { status, body } = await ask(home, 'POST', '/reload')
  if (status !== 200 && status !== 422)
    throw new CliError(`the collector can't reload (it answered ${status}); is it of an older version?`)
  const result = body as Result
  if (flag(options, 'json')) printJson(result)
  if (result.outcome === 'refused') {
    throw new CliError(`nothing was changed, what was in force stays:\n  ${result.errors.join('\n  ')}`, EXIT_USAGE)
  }
  say(result.outcome === 'unchanged' ? 'nothing has changed' : `a new ${result.changed.join(' and ')} is in force`)
  return 0
}
