// `spanseal hook AGENT EVENT --print-otlp`
import { buffer } from 'node:stream/consumers'
import { adapters } from '../../../hooks/index.ts'
import { type Context, flag } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { printJson, say } from '../output.ts'

export async function run({ options, args }: Context): Promise<number> {
  const [agent = '', event = ''] = args
  const adapter = adapters.get(agent)
  if (adapter === undefined) {
    throw new CliError(`no adapter for the agent "${agent}"; there are: ${[...adapters.keys()].join(', ')}`, EXIT_USAGE)
  }
  if (!flag(options, 'printOtlp')) {
    throw new CliError('this command only shows: add --print-otlp. Installed hooks run a file of their own', EXIT_USAGE)
  }
  const result = adapter.toRequest(event, await buffer(process.stdin), `${Date.now()}000000`)
  if (!result.ok) throw new CliError(`the ${event} payload can't be used: ${result.message}`)
  if ('ignored' in result) say(`nothing is made of this payload: ${result.ignored}`)
  else printJson(result.request)
  return 0
}
