// The built-in pack as data: checked and parsed when it is written, so that a start need not do it again. `npm run generate`.
import { parse } from 'yaml'
import { fileSchema, ruleSchema } from '../schema.ts'
import { CODING } from './coding.ts'

/** Text of coding.json: defaults, sets and rules of the pack, without the rules' tests, which the test suite runs. */
export function codingPack(): string {
  const { defaults, sets, rules } = fileSchema.parse(parse(CODING))
  const checked = rules.map((rule) => {
    const { tests: _, ...rest } = ruleSchema.parse(rule)
    return rest
  })
  return `${JSON.stringify({ defaults, sets, rules: checked }, null, 1)}\n`
}
