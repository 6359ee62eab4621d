// Loads a policy: YAML, checked whole so that every error is listed, with what it extends; then its tests are run.
import { dirname, join } from 'node:path'
import type * as z from 'zod'
import type { Json } from '../../conventions/strict-json.ts'
import type { GateCall } from './call.ts'
import { compilePolicy, type Policy } from './compile.ts'
import { decide, ENGINE_RULES } from './decide.ts'
import { joinLayers, type Layer } from './load/layer.ts'
import { type Entry, tighten } from './load/tighten.ts'
import { type Path, type PolicyProblem, readYaml, type YamlFile } from './load/yaml.ts'
import coding from './packs/coding.json' with { type: 'json' }
import type { Condition, Defaults, PolicyFile, RuleSource, TestCall } from './schema.ts'
import { fileSchema, MAX_TESTS, ruleSchema, tighteningSchema } from './schema.ts'

export type { PolicyProblem } from './load/yaml.ts'

export type PolicyResult = { ok: true; policy: Policy } | { ok: false; errors: PolicyProblem[] }

/** Files that extend one another in a row. */
const MAX_DEPTH = 8

/** The person, project and branch that inline tests are judged in. */
export const TEST_WORLD = {
  agent: 'test',
  cwd: '/home/dev/project',
  home: '/home/dev',
  project: '/home/dev/project',
  spansealHome: '/home/dev/.spanseal',
  branch: 'feature/x',
} as const

export interface LoadOptions {
  /** The file's text; without it, the built-in policy is loaded. */
  text?: string
  /** The file's path, from which those that it extends are found. */
  path?: string
  /** Text of a file that another extends, by its path; null when it can't be read. Without it no file can be extended. */
  readFile?: (path: string) => string | null
}

/**
 * Loads a policy. Bad input is a list of all errors, each naming its field and place. Inline tests of the files run here; the built-in
 * pack's run in the test suite, so that starting is not slowed down by them.
 */
export function loadPolicy({ text, path = 'policy.yaml', readFile = () => null }: LoadOptions = {}): PolicyResult {
  if (text === undefined) return { ok: true, policy: compiled(builtin()) }
  const errors: PolicyProblem[] = []
  const layer = layerOf(text, [path], readFile, errors)
  return layer === null || errors.length > 0 ? { ok: false, errors } : { ok: true, policy: compiled(layer) }
}

const compiled = ({ rules, defaults, sets }: Layer) => compilePolicy(rules, defaults, sets)

/** The built-in pack. Its file is generated from rules that were checked then. */
function builtin(): Layer {
  const { rules, defaults, sets } = coding as unknown as {
    rules: RuleSource[]
    defaults: Defaults
    sets: Record<string, string[]>
  }
  return { rules, defaults, sets: new Map(Object.entries(sets)) }
}

type Report = (path: Path, message: string) => void
type ReadFile = NonNullable<LoadOptions['readFile']>

/** A file with what it extends, checked and tested. `chain`: paths of the files that led here, this one last. */
function layerOf(text: string, chain: readonly string[], readFile: ReadFile, errors: PolicyProblem[]): Layer | null {
  const before = errors.length
  const own = chain.length > 1 ? { file: chain.at(-1) ?? '' } : {}
  const read = readYaml(text)
  if (!read.ok) {
    errors.push(...read.errors.map((error) => ({ ...error, ...own })))
    return null
  }
  const { file: yaml } = read
  const report: Report = (path, message) => errors.push({ ...yaml.at(path, message), ...own })
  const parsed = fileSchema.safeParse(yaml.value)
  if (!parsed.success) reportAll(parsed.error, [], report)
  const file = parsed.success ? parsed.data : null
  const base = file === null ? null : baseOf(file.extends, chain, readFile, report, errors)
  const entries = entriesOf(yaml, report)
  const rules = entries.flatMap((entry) => ('rule' in entry ? [entry] : []))
  // A file with an error elsewhere still names its sets: their uses are no errors.
  const named = Object.keys((yaml.value as { sets?: object } | null)?.sets ?? {})
  const sets = new Map([...named.map((name) => [name, [] as readonly string[]] as const), ...(base?.sets ?? [])])
  checkRules(rules, sets, report)
  if (file === null || base === undefined) return null
  const layer =
    base === null
      ? alone(file, entries, report)
      : tighten(base, { file, written: writtenDefaults(yaml, file), entries }, report)
  if (errors.length > before) return null
  runTests(layer, rules, report)
  return layer
}

/** What a file extends as one policy: null when it extends nothing, undefined when that can't be had. */
function baseOf(
  names: readonly string[],
  chain: readonly string[],
  readFile: ReadFile,
  report: Report,
  errors: PolicyProblem[],
): Layer | null | undefined {
  const layers = names.map((name, n) => {
    const say = (message: string) => report(names.length === 1 ? ['extends'] : ['extends', n], message)
    const layer = extended(name, chain, readFile, say, errors)
    return layer
  })
  const found = layers.filter((layer) => layer !== null)
  if (found.length < layers.length) return undefined
  const [first = null, ...others] = found
  return others.reduce<Layer | null>((joined, layer) => {
    if (joined === null) return layer
    const { layer: both, clashes } = joinLayers(joined, layer)
    for (const clash of clashes) report(['extends'], `can't be joined: ${clash}`)
    return both
  }, first)
}

function extended(
  name: string,
  chain: readonly string[],
  readFile: ReadFile,
  say: (message: string) => void,
  errors: PolicyProblem[],
): Layer | null {
  if (name === 'builtin:coding') return builtin()
  if (name.startsWith('builtin:')) {
    say(`there is no ${name}; there is builtin:coding`)
    return null
  }
  const path = join(dirname(chain.at(-1) ?? ''), name)
  if (chain.includes(path)) say(`${name} extends this file in turn`)
  else if (chain.length >= MAX_DEPTH) say(`more than ${MAX_DEPTH} files extend one another`)
  else {
    const text = readFile(path)
    if (text !== null) return layerOf(text, [...chain, path], readFile, errors)
    say(`${name} can't be read`)
  }
  return null
}

/** Its own policy, extending nothing. */
function alone(file: PolicyFile, entries: readonly Entry[], report: Report): Layer {
  if (file.override.length > 0) report(['override'], 'has nothing to loosen: this file extends no policy')
  const nothing: Layer = { rules: [], defaults: file.defaults, sets: new Map() }
  return tighten(nothing, { file: { ...file, override: [] }, written: {}, entries }, report)
}

/** Defaults that stand in the file. */
function writtenDefaults({ value }: YamlFile, { defaults }: PolicyFile): Partial<Defaults> {
  const written = (value as { defaults?: object }).defaults ?? {}
  return Object.fromEntries(Object.entries(defaults).filter(([key]) => key in written))
}

/** The file's rules, and stricter decisions for rules it extends: those have no condition. */
function entriesOf({ value }: YamlFile, report: Report): Entry[] {
  const written = (value as { rules?: unknown } | null)?.rules
  const seen = new Set<string>(Object.values(ENGINE_RULES))
  return (Array.isArray(written) ? written : []).flatMap((item: unknown, at): Entry[] => {
    const tightens = typeof item === 'object' && item !== null && !('when' in item) && 'id' in item
    const read = tightens ? tighteningSchema.safeParse(item) : ruleSchema.safeParse(item)
    if (!read.success) {
      reportAll(read.error, ['rules', at], report)
      return []
    }
    if (seen.has(read.data.id)) report(['rules', at, 'id'], `${read.data.id} is taken already`)
    seen.add(read.data.id)
    return [tightens ? { at, tighten: read.data } : { at, rule: read.data as RuleSource }]
  })
}

function reportAll(error: z.ZodError, prefix: Path, report: Report): void {
  for (const issue of error.issues) {
    const path = [...prefix, ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))]
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) report([...path, key], 'is not a field here')
    else report(path, issue.message)
  }
}

function checkRules(entries: readonly { at: number; rule: RuleSource }[], sets: Layer['sets'], report: Report): void {
  let tests = 0
  for (const { at, rule } of entries) {
    checkCondition(rule.when, ['rules', at, 'when'], false, sets, report)
    tests += (rule.tests?.hit.length ?? 0) + (rule.tests?.miss.length ?? 0)
  }
  if (tests > MAX_TESTS) report(['rules'], `hold more than ${MAX_TESTS} tests; keep them in a corpus file`)
}

const OF_A_RUN = ['sub', 'word', 'flag', 'arg', 'to_branch', 'via', 'known'] as const

function checkCondition(condition: Condition, path: Path, hasRun: boolean, sets: Layer['sets'], report: Report): void {
  const bound = hasRun || condition.run !== undefined
  for (const key of OF_A_RUN) {
    if (condition[key] !== undefined && !bound) report([...path, key], 'speaks of a program; say which with `run`')
  }
  const { all, any, not, ...own } = condition
  for (const [key, value] of Object.entries(own)) {
    for (const name of setNames(value)) if (!sets.has(name)) report([...path, key], `there is no set $${name}`)
  }
  for (const [i, inner] of (all ?? []).entries()) checkCondition(inner, [...path, 'all', i], bound, sets, report)
  for (const [i, inner] of (any ?? []).entries()) checkCondition(inner, [...path, 'any', i], bound, sets, report)
  if (not !== undefined) checkCondition(not, [...path, 'not'], bound, sets, report)
}

function setNames(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('$') ? [value.slice(1)] : []
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(setNames)
}

function runTests(layer: Layer, entries: readonly { at: number; rule: RuleSource }[], report: Report): void {
  if (entries.every(({ rule }) => rule.tests === undefined)) return
  const policy = compiled(layer)
  for (const { at, rule } of entries) {
    const matches = (test: TestCall) => decide(policy, testCall(test)).rules.includes(rule.id)
    for (const [n, test] of (rule.tests?.hit ?? []).entries())
      if (!matches(test)) report(['rules', at, 'tests', 'hit', n], `${rule.id} does not match this call`)
    for (const [n, test] of (rule.tests?.miss ?? []).entries())
      if (matches(test)) report(['rules', at, 'tests', 'miss', n], `${rule.id} matches this call`)
  }
}

/** A test's call in the test world. */
export function testCall(test: TestCall): GateCall {
  if (typeof test === 'string') return { ...TEST_WORLD, tool: 'Bash', args: { command: test } }
  const { tool, ...args } = test
  return { ...TEST_WORLD, tool, args: args as Json }
}
