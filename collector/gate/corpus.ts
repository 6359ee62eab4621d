// Judges a policy by cases with known answers: attacks that must not run, ordinary work that must, prompts and what they forbid.
// Nothing is run: commands are only read, in a made-up world.
import * as z from 'zod'
import type { Constraint } from '../../conventions/constraint.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { GateCall } from './call.ts'
import type { Policy } from './compile.ts'
import { broken, statedIn } from './constraints/index.ts'
import { decide } from './decide.ts'
import { TEST_WORLD } from './policy.ts'

/** The world cases are written for: a person, a project on a feature branch, and a link in it that leads to the person's keys. */
const WORLD = {
  ...TEST_WORLD,
  realpath: (path: string) => (path === '/home/dev/project/link-to-ssh' ? '/home/dev/.ssh' : null),
}

const callCase = z.looseObject({
  id: z.string(),
  tool: z.string(),
  input: z.unknown(),
  cwd: z.string().optional(),
  expect: z.enum(['deny', 'ask', 'not-allow', 'allow']),
})
const promptCase = z.looseObject({
  id: z.string(),
  tier: z.string().optional(),
  prompt: z.string(),
  earlier: z.array(z.string()).default([]),
  constraints: z.array(z.strictObject({ kind: z.string(), target: z.string().nullable() })),
  calls: z.array(
    z.strictObject({ tool: z.string(), input: z.unknown(), held: z.boolean(), flag: z.boolean().optional() }),
  ),
})

export type CallCase = z.infer<typeof callCase>
export type PromptCase = z.infer<typeof promptCase>
export type Cases<T> = { ok: true; cases: T[] } | { ok: false; error: string }

/** Cases of tool calls, one JSON object a line. */
export const readCallCases = (text: string): Cases<CallCase> => readLines(text, callCase)
/** Cases of prompts, one JSON object a line. */
export const readPromptCases = (text: string): Cases<PromptCase> => readLines(text, promptCase)

function readLines<T>(text: string, schema: z.ZodType<T>): Cases<T> {
  const cases: T[] = []
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return { ok: false, error: `line ${i + 1} is no JSON` }
    }
    const read = schema.safeParse(value)
    if (!read.success) {
      const [issue] = read.error.issues
      return { ok: false, error: `line ${i + 1}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}` }
    }
    cases.push(read.data)
  }
  return { ok: true, cases }
}

export interface CorpusResult {
  attacks: number
  missed: string[]
  benign: number
  stopped: string[]
}

/** An attack is missed when it is answered more mildly than its case says, or an ask is denied; ordinary work is stopped by ask or deny. */
export function judgeCorpus(policy: Policy, cases: readonly CallCase[]): CorpusResult {
  const out: CorpusResult = { attacks: 0, missed: [], benign: 0, stopped: [] }
  for (const { id, tool, input, cwd, expect } of cases) {
    const { decision } = decide(policy, { ...WORLD, tool, args: input as Json, ...(cwd === undefined ? {} : { cwd }) })
    const stops = decision === 'deny' || decision === 'ask'
    if (expect === 'allow') {
      out.benign++
      if (stops) out.stopped.push(id)
      continue
    }
    out.attacks++
    if (expect === 'not-allow' ? !stops : decision !== expect) out.missed.push(id)
  }
  return out
}

export interface ConstraintsResult {
  prompts: number
  /** Prompts whose constraints were not read as their case says. */
  wrong: string[]
  calls: number
  /** Calls that were held and should not have been, or the other way round: case and number of the call. */
  wrongCalls: string[]
}

/** Reads each prompt after its earlier ones and judges the calls by what is forbidden then; the policy's own rules don't count. */
export function judgeConstraints(policy: Policy, cases: readonly PromptCase[]): ConstraintsResult {
  const out: ConstraintsResult = { prompts: 0, wrong: [], calls: 0, wrongCalls: [] }
  for (const { id, prompt, earlier, constraints, calls } of cases) {
    out.prompts++
    const stated = statedIn(prompt)
    const named = [
      ...stated.constraints,
      ...stated.lifts.map((one) => ({
        kind: 'lift',
        target: one.target === null ? one.kind : `${one.kind}:${one.target}`,
      })),
    ]
    if (key(named) !== key(constraints)) out.wrong.push(id)
    const inForce = [...earlier, prompt].flatMap((text) => statedIn(text).constraints)
    for (const [n, one] of calls.entries()) {
      out.calls++
      const call: GateCall = { ...WORLD, tool: one.tool, args: one.input as Json, constraints: inForce }
      if (isWrong(policy, call, inForce, one)) out.wrongCalls.push(`${id} call ${n}`)
    }
  }
  return out
}

function isWrong(
  policy: Policy,
  call: GateCall,
  inForce: readonly Constraint[],
  wanted: PromptCase['calls'][number],
): boolean {
  const { facts, rules } = decide(policy, call)
  const held = broken(inForce, call, facts).length > 0
  return held !== wanted.held || rules.includes('SP-SCOPE') !== (wanted.flag === true)
}

const key = (list: readonly { kind: string; target: string | null }[]) =>
  list
    .map(({ kind, target }) => `${kind}:${target}`)
    .sort()
    .join('\n')
