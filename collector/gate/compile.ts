// Checked rules to a policy: its hash, and its rules ready to be compared with facts.
import { createHash } from 'node:crypto'
import { canonicalBytes } from '../../conventions/jcs.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { PathLists } from './match.ts'
import { RuleIndex } from './rule-index.ts'
import type { Condition, Defaults, RuleSource } from './schema.ts'

export interface Policy {
  /** SHA-256 of the compiled policy's canonical JSON, lower-case hex. */
  hash: string
  rules: readonly RuleSource[]
  defaults: Defaults
  sets: ReadonlyMap<string, readonly string[]>
  index: RuleIndex
  /** Path lists compiled so far, by home and project. */
  lists: Map<string, PathLists>
}

/** Part of the hash: other readers of the same policy may find other facts. Raised when facts change their meaning. */
const ENGINE = 'spanseal-gate/2'

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
  return { hash, rules, defaults, sets, index: new RuleIndex(conditions), lists: new Map() }
}

/** Keys whose single value is no pattern list. */
const SINGLE = new Set(['dir', 'recursive', 'userinfo', 'known'])

/** A condition with `$set` replaced by its items and single values made lists, so that matching only compares. */
function filled(value: unknown, sets: ReadonlyMap<string, readonly string[]>, key = ''): unknown {
  if (typeof value === 'string') return SINGLE.has(key) ? value : filled([value], sets)
  if (Array.isArray(value)) {
    const [only] = value
    // A set used alone stays one array: its paths are compiled once.
    if (value.length === 1 && typeof only === 'string' && only.startsWith('$')) return sets.get(only.slice(1)) ?? []
    return value.flatMap((item: unknown) => {
      if (typeof item !== 'string') return [filled(item, sets)]
      return item.startsWith('$') ? [...(sets.get(item.slice(1)) ?? [])] : [item]
    })
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner, sets, name)]))
}
