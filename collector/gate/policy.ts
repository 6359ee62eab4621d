// Loads a policy: YAML, checked whole so that every error is listed, extended from the built-in pack, its tests run.
import { parseDocument } from 'yaml'
import type * as z from 'zod'
import type { Json } from '../../conventions/strict-json.ts'
import type { GateCall } from './call.ts'
import { compilePolicy, type Policy } from './compile.ts'
import { decide, ENGINE_RULES } from './decide.ts'
import coding from './packs/coding.json' with { type: 'json' }
import type { Condition, Defaults, RuleSource, TestCall } from './schema.ts'
import { fileSchema, ruleSchema } from './schema.ts'

export interface PolicyProblem {
  /** Where in the file: `rules[2].then`. */
  path: string
  message: string
}

export type PolicyResult = { ok: true; policy: Policy } | { ok: false; errors: PolicyProblem[] }

/** Characters. Far above any real policy; a parser's time grows with it. */
const MAX_POLICY_CHARS = 1_000_000

/** Uses of YAML anchors: a few are handy, many are a bomb. */
const MAX_ALIASES = 50

/** The person, project and branch that inline tests are judged in. */
export const TEST_WORLD = {
  agent: 'test',
  cwd: '/home/dev/project',
  home: '/home/dev',
  project: '/home/dev/project',
  spansealHome: '/home/dev/.spanseal',
  branch: 'feature/x',
} as const

/**
 * Loads a policy file's text, or the built-in pack without one. Bad input is a list of all errors, each naming its field. A file's
 * inline tests run here; the built-in pack's run in the test suite, so that starting is not slowed down by them.
 */
export function loadPolicy({ text }: { text?: string } = {}): PolicyResult {
  return text === undefined ? { ok: true, policy: builtin() } : read(text)
}

/** The built-in pack. Its file is generated from rules that were checked then. */
function builtin(): Policy {
  const { rules, defaults, sets } = coding as unknown as {
    rules: RuleSource[]
    defaults: Defaults
    sets: Record<string, string[]>
  }
  return compilePolicy(rules, defaults, new Map(Object.entries(sets)))
}

function read(text: string): PolicyResult {
  if (text.length > MAX_POLICY_CHARS)
    return { ok: false, errors: [{ path: '', message: `is longer than ${MAX_POLICY_CHARS} characters` }] }
  const document = parseDocument(text, { uniqueKeys: true, strict: true })
  if (document.errors.length > 0) {
    return {
      ok: false,
      errors: document.errors.map((error) => ({
        path: `line ${error.linePos?.[0].line ?? 1}`,
        message: error.message.split('\n')[0] ?? error.code,
      })),
    }
  }
  try {
    return check(document.toJS({ maxAliasCount: MAX_ALIASES }))
  } catch (error) {
    // An alias without its anchor, or too many of them, shows only here.
    if (error instanceof ReferenceError) return { ok: false, errors: [{ path: '', message: error.message }] }
    throw error
  }
}

function check(value: unknown): PolicyResult {
  const errors: PolicyProblem[] = []
  const file = fileSchema.safeParse(value)
  if (!file.success) errors.push(...problems(file.error, ''))
  const written = (value as { rules?: unknown } | null)?.rules
  const rules = (Array.isArray(written) ? written : []).map((item, i) => readRule(item, i, errors))
  const base = file.success && file.data.extends === 'builtin:coding' ? builtin() : null
  const sets = new Map(base?.sets)
  if (file.success)
    for (const [name, items] of Object.entries(file.data.sets)) addSet(sets, name, items, base !== null, errors)
  // A file with an error elsewhere still names its sets: their uses are no errors.
  else for (const name of Object.keys((value as { sets?: object } | null)?.sets ?? {})) sets.set(name, [])
  checkRules(rules, sets, base?.rules ?? [], errors)
  if (errors.length > 0 || !file.success) return { ok: false, errors }
  const own = rules.filter((rule) => rule !== null)
  const defaults = base === null ? file.data.defaults : stricter(base.defaults, file.data.defaults)
  const all = [...(base?.rules ?? []), ...own]
  const policy = compilePolicy(all, defaults, sets)
  for (const [i, rule] of own.entries()) errors.push(...runTests(policy, rule, i))
  return errors.length > 0 ? { ok: false, errors } : { ok: true, policy }
}

function readRule(item: unknown, i: number, errors: PolicyProblem[]): RuleSource | null {
  const rule = ruleSchema.safeParse(item)
  if (rule.success) return rule.data
  errors.push(...problems(rule.error, `rules[${i}]`))
  return null
}

function problems(error: z.ZodError, prefix: string): PolicyProblem[] {
  return error.issues.flatMap((issue) => issueProblems(issue, prefix))
}

function issueProblems(issue: z.core.$ZodIssue, prefix: string): PolicyProblem[] {
  const at = issue.path.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? String(key) : `${path}.${String(key)}`),
    prefix,
  )
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: at === '' ? key : `${at}.${key}`, message: 'is not a field here' }))
  return [{ path: at, message: issue.message }]
}

/** A child adds to a set of the built-in pack; taking away would loosen it. */
function addSet(
  sets: Map<string, readonly string[]>,
  name: string,
  items: string[],
  child: boolean,
  errors: PolicyProblem[],
): void {
  const inherited = sets.get(name)
  if (child && inherited !== undefined) {
    for (const [i, item] of items.entries())
      if (item.startsWith('!'))
        errors.push({
          path: `sets.${name}[${i}]`,
          message: 'takes away from a built-in set, which would loosen the policy',
        })
  }
  sets.set(name, [...(inherited ?? []), ...items])
}

function stricter(base: Defaults, own: Defaults): Defaults {
  const pick = <T extends 'flag' | 'ask' | 'deny'>(a: T, b: T): T =>
    a === 'deny' || b === 'deny' ? (a === 'deny' ? a : b) : a === 'ask' ? a : b
  return {
    unreadable: pick(base.unreadable, own.unreadable),
    error: pick(base.error, own.error),
    unknown_tool: pick(base.unknown_tool, own.unknown_tool),
    unknown_program: pick(base.unknown_program, own.unknown_program),
  }
}

function checkRules(
  rules: (RuleSource | null)[],
  sets: ReadonlyMap<string, readonly string[]>,
  inherited: readonly RuleSource[],
  errors: PolicyProblem[],
): void {
  const seen = new Set<string>([...inherited.map(({ id }) => id), ...Object.values(ENGINE_RULES)])
  for (const [i, rule] of rules.entries()) {
    if (rule === null) continue
    if (seen.has(rule.id)) errors.push({ path: `rules[${i}].id`, message: `${rule.id} is taken already` })
    seen.add(rule.id)
    checkCondition(rule.when, `rules[${i}].when`, false, sets, errors)
  }
}

const OF_A_RUN = ['sub', 'word', 'flag', 'arg', 'to_branch', 'via', 'known'] as const

function checkCondition(
  condition: Condition,
  path: string,
  hasRun: boolean,
  sets: ReadonlyMap<string, readonly string[]>,
  errors: PolicyProblem[],
): void {
  const bound = hasRun || condition.run !== undefined
  for (const key of OF_A_RUN) {
    if (condition[key] !== undefined && !bound)
      errors.push({ path: `${path}.${key}`, message: 'speaks of a program; say which with `run`' })
  }
  const { all, any, not, ...own } = condition
  for (const [key, value] of Object.entries(own)) {
    for (const name of setNames(value))
      if (!sets.has(name)) errors.push({ path: `${path}.${key}`, message: `there is no set $${name}` })
  }
  for (const [i, inner] of (all ?? []).entries()) checkCondition(inner, `${path}.all[${i}]`, bound, sets, errors)
  for (const [i, inner] of (any ?? []).entries()) checkCondition(inner, `${path}.any[${i}]`, bound, sets, errors)
  if (not !== undefined) checkCondition(not, `${path}.not`, bound, sets, errors)
}

function setNames(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('$') ? [value.slice(1)] : []
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(setNames)
}

function runTests(policy: Policy, rule: RuleSource, i: number): PolicyProblem[] {
  const out: PolicyProblem[] = []
  const matches = (test: TestCall) => decide(policy, testCall(test)).rules.includes(rule.id)
  for (const [n, test] of (rule.tests?.hit ?? []).entries())
    if (!matches(test))
      out.push({ path: `rules[${i}].tests.hit[${n}]`, message: `${rule.id} does not match this call` })
  for (const [n, test] of (rule.tests?.miss ?? []).entries())
    if (matches(test)) out.push({ path: `rules[${i}].tests.miss[${n}]`, message: `${rule.id} matches this call` })
  return out
}

/** A test's call in the test world. */
export function testCall(test: TestCall): GateCall {
  if (typeof test === 'string') return { ...TEST_WORLD, tool: 'Bash', args: { command: test } }
  const { tool, ...args } = test
  return { ...TEST_WORLD, tool, args: args as Json }
}
