// Rules to an index: which rules a call must be compared with, by program, tool and kind of effect.
import { createHash } from 'node:crypto'
import { canonicalBytes } from '../../conventions/jcs.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { Facts } from './call.ts'
import type { PatternCache } from './match.ts'
import type { Condition, Defaults, RuleSource } from './schema.ts'

export interface Policy {
  /** SHA-256 of the compiled policy's canonical JSON, lower-case hex. */
  hash: string
  rules: readonly RuleSource[]
  defaults: Defaults
  sets: ReadonlyMap<string, readonly string[]>
  /** The rules' conditions with sets filled in and every value a list, in the rules' order. */
  conditions: readonly Condition[]
  index: RuleIndex
  /** Path patterns compiled so far, by home and project. */
  patterns: Map<string, PatternCache>
}

/** Part of the hash: other readers of the same policy may find other facts. Raised when facts change their meaning. */
const ENGINE = 'spanseal-gate/1'

/** Rule numbers by what must be in the facts for the rule to match. */
export interface RuleIndex {
  programs: ReadonlyMap<string, readonly number[]>
  effects: ReadonlyMap<string, readonly number[]>
  always: readonly number[]
}

/** Compiles checked rules. */
export function compilePolicy(
  rules: readonly RuleSource[],
  defaults: Defaults,
  sets: ReadonlyMap<string, readonly string[]>,
): Policy {
  // Tests say nothing about what a policy decides.
  const said = rules.map(({ tests: _, ...rule }) => rule)
  const whole = { engine: ENGINE, defaults, sets: Object.fromEntries(sets), rules: said }
  const hash = createHash('sha256')
    .update(canonicalBytes(JSON.parse(JSON.stringify(whole)) as Json))
    .digest('hex')
  const conditions = rules.map(({ when }) => filled(when, sets) as Condition)
  return { hash, rules, defaults, sets, conditions, index: indexConditions(conditions), patterns: new Map() }
}

/** Keys whose single value is no pattern list. */
const SINGLE = new Set(['dir', 'recursive', 'userinfo', 'known'])

/** A condition with `$set` replaced by its items and single values made lists, so that matching only compares. */
function filled(value: unknown, sets: ReadonlyMap<string, readonly string[]>, key = ''): unknown {
  if (typeof value === 'string') return SINGLE.has(key) ? value : filled([value], sets)
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      if (typeof item !== 'string') return [filled(item, sets)]
      return item.startsWith('$') ? [...(sets.get(item.slice(1)) ?? [])] : [item]
    })
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner, sets, name)]))
}

function indexConditions(conditions: readonly Condition[]): RuleIndex {
  const programs = new Map<string, number[]>()
  const effects = new Map<string, number[]>()
  const always: number[] = []
  for (const [number, condition] of conditions.entries()) {
    const keys = triggers(condition)
    if (keys === null) always.push(number)
    for (const key of new Set(keys)) {
      const map = key.startsWith('run:') ? programs : effects
      const name = key.startsWith('run:') ? key.slice(4) : key
      map.set(name, [...(map.get(name) ?? []), number])
    }
  }
  return { programs, effects, always }
}

/** One of these must be present for the condition to hold; null when that can't be said. */
function triggers(condition: Condition): string[] | null {
  if (condition.run !== undefined) {
    const names = [condition.run].flat()
    return names.some((name) => /[*?]/.test(name)) ? null : names.map((name) => `run:${name}`)
  }
  for (const effect of ['reads', 'writes', 'deletes', 'net', 'feeds', 'env', 'opaque'] as const) {
    if (condition[effect] !== undefined) return [effect]
  }
  for (const inner of condition.all ?? []) {
    const keys = triggers(inner)
    if (keys !== null) return keys
  }
  if (condition.any === undefined) return null
  const keys = condition.any.map((inner) => triggers(inner))
  return keys.includes(null) ? null : keys.flatMap((some) => some ?? [])
}

/** Numbers of the rules that could match, ascending. */
export function candidates(index: RuleIndex, facts: Facts): number[] {
  const found = new Set(index.always)
  const add = (numbers: readonly number[] | undefined) => {
    for (const number of numbers ?? []) found.add(number)
  }
  for (const program of new Set(facts.runs.map((run) => run.program))) add(index.programs.get(program))
  for (const effect of ['reads', 'writes', 'deletes', 'net', 'feeds', 'env', 'opaque'] as const) {
    if (facts[effect].length > 0) add(index.effects.get(effect))
  }
  return [...found].sort((a, b) => a - b)
}
