// `spanseal policy explain`: what the gate would say of a call, and why. Nothing is run, recorded or asked.
import { homedir } from 'node:os'
import type { Constraint } from '../../../conventions/constraint.ts'
import { parseStrict } from '../../../conventions/strict-json.ts'
import { decide, explain, statedIn } from '../../gate/index.ts'
import { projectOf } from '../../gate-wiring.ts'
import { type Context, flag, textOption } from '../context.ts'
import { CliError, EXIT_USAGE } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { usablePolicy } from '../policy-file.ts'

export async function run({ home, options, args }: Context): Promise<number> {
  const prompt = textOption(options, 'prompt')
  const call = args[0]
  if (call === undefined && prompt === undefined)
    throw new CliError(
      "say which call: a shell command, or --tool and its arguments as JSON; or --prompt 'TEXT'",
      EXIT_USAGE,
    )
  const stated = statedIn(prompt ?? '')
  if (call === undefined) {
    if (flag(options, 'json')) printJson(stated)
    else print(stated.constraints.length === 0 ? 'forbids nothing' : stated.constraints.map(line).join('\n'))
    return 0
  }
  const decision = decide(usablePolicy(home, textOption(options, 'policy')), {
    agent: 'policy-explain',
    ...toolCall(textOption(options, 'tool') ?? 'Bash', call),
    home: homedir(),
    spansealHome: home.root,
    ...projectOf(process.cwd()),
    constraints: stated.constraints,
  })
  const { decision: said, rules, reasons, facts, policyHash } = decision
  if (flag(options, 'json')) printJson({ decision: said, rules, reasons, policy_hash: policyHash, facts })
  else print(`${said}\n${explain(decision)}${rules.map((rule) => `\n  ${rule}`).join('')}`)
  return 0
}

const line = ({ kind, target }: Constraint) => (target === null ? kind : `${kind} ${target}`)

function toolCall(tool: string, text: string) {
  if (tool === 'Bash') return { tool, args: { command: text } }
  const parsed = parseStrict(text)
  if (!parsed.ok) throw new CliError(`the arguments of ${tool} are no JSON: ${parsed.error.message}`, EXIT_USAGE)
  return { tool, args: parsed.value }
}
