// `spanseal policy test`: the policy against cases with known answers.
import { readFileSync } from 'node:fs'
import { type Cases, judgeConstraints, judgeCorpus, readCallCases, readPromptCases } from '../../gate/corpus.ts'
import { type Context, flag, textOption } from '../context.ts'
import { CliError, EXIT_FAILED, EXIT_USAGE, messageOf } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { usablePolicy } from '../policy-file.ts'

export async function run({ home, options, args }: Context): Promise<number> {
  const corpus = textOption(options, 'corpus')
  const constraints = textOption(options, 'constraints')
  if ((corpus === undefined) === (constraints === undefined))
    throw new CliError('say which cases: --corpus FILE for calls, or --constraints FILE for prompts', EXIT_USAGE)
  const policy = usablePolicy(home, args[0])
  if (corpus !== undefined) {
    const result = judgeCorpus(policy, casesOf(corpus, readCallCases))
    const { attacks, missed, benign, stopped } = result
    if (flag(options, 'json')) printJson({ policy_hash: policy.hash, ...result })
    else {
      for (const id of missed) print(`missed ${id}`)
      for (const id of stopped) print(`stopped ${id}`)
      print(`attacks missed ${missed.length}/${attacks}, benign stopped ${stopped.length}/${benign}`)
    }
    return missed.length + stopped.length === 0 ? 0 : EXIT_FAILED
  }
  const result = judgeConstraints(policy, casesOf(constraints ?? '', readPromptCases))
  const { prompts, wrong, calls, wrongCalls } = result
  if (flag(options, 'json')) printJson({ policy_hash: policy.hash, ...result })
  else {
    for (const id of [...wrong, ...wrongCalls]) print(`wrong ${id}`)
    print(`constraints wrong ${wrong.length}/${prompts}, calls wrong ${wrongCalls.length}/${calls}`)
  }
  return wrong.length + wrongCalls.length === 0 ? 0 : EXIT_FAILED
}

function casesOf<T>(path: string, read: (text: string) => Cases<T>): T[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`the cases can't be read: ${messageOf(error)}`, EXIT_USAGE)
  }
  const found = read(text)
  if (!found.ok) throw new CliError(`${path}, ${found.error}`, EXIT_USAGE)
  if (found.cases.length === 0) throw new CliError(`${path} holds no case`, EXIT_USAGE)
  return found.cases
}
