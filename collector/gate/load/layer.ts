// One policy with everything it extends, before it is compiled; and how several that one file extends become one.
import type { Condition, Defaults, RuleSource } from '../schema.ts'

export interface Layer {
  rules: readonly RuleSource[]
  defaults: Defaults
  sets: ReadonlyMap<string, readonly string[]>
}

const ORDER = ['off', 'flag', 'ask', 'deny'] as const

/** Whether the first decision is milder than the second; `off` is the mildest. */
export function isWeaker(first: (typeof ORDER)[number], second: (typeof ORDER)[number]): boolean {
  return ORDER.indexOf(first) < ORDER.indexOf(second)
}

const stricter = <T extends 'flag' | 'ask' | 'deny'>(a: T, b: T): T => (isWeaker(a, b) ? b : a)

/** The strictest of each. */
export function strictestDefaults(a: Defaults, b: Defaults): Defaults {
  return {
    unreadable: stricter(a.unreadable, b.unreadable),
    error: stricter(a.error, b.error),
    unknown_tool: stricter(a.unknown_tool, b.unknown_tool),
    unknown_program: stricter(a.unknown_program, b.unknown_program),
  }
}

/**
 * Two policies as one that is as strict as both: all rules, the stricter decision of a rule that stands in both, all items of
 * sets. Returns what can't be said as one: sets or rules of one name that differ.
 */
export function joinLayers(a: Layer, b: Layer): { layer: Layer; clashes: string[] } {
  const clashes: string[] = []
  const rules = new Map(a.rules.map((rule) => [rule.id, rule]))
  for (const rule of b.rules) {
    const known = rules.get(rule.id)
    if (known !== undefined && JSON.stringify(known.when) !== JSON.stringify(rule.when))
      clashes.push(`rule ${rule.id} stands in both with other conditions`)
    rules.set(rule.id, known === undefined || isWeaker(known.then, rule.then) ? rule : known)
  }
  const sets = new Map(a.sets)
  for (const [name, items] of b.sets) {
    const known = sets.get(name) ?? []
    const excluded = (list: readonly string[]) => list.filter((item) => item.startsWith('!')).sort()
    // What one takes away, the other may have.
    if (sets.has(name) && excluded(known).join('\n') !== excluded(items).join('\n'))
      clashes.push(`set $${name} stands in both and leaves out other things`)
    sets.set(name, known.length === 0 ? items : [...new Set([...known, ...items])])
  }
  const layer: Layer = {
    rules: [...rules.values()],
    defaults: strictestDefaults(a.defaults, b.defaults),
    sets,
  }
  return { layer, clashes }
}

/** How rules use sets: of paths, and where more items mean that a rule says less. */
export interface SetUses {
  paths: ReadonlySet<string>
  loosening: ReadonlySet<string>
}

const PATH_KEYS = new Set(['reads', 'writes', 'deletes'])
const LOOSENING_KEYS = new Set(['not', 'not_in', 'not_by'])

export function usesOf(rules: readonly RuleSource[]): SetUses {
  const paths = new Set<string>()
  const loosening = new Set<string>()
  const walk = (value: unknown, ofPaths: boolean, negated: boolean): void => {
    if (typeof value === 'string' && value.startsWith('$')) {
      if (ofPaths) paths.add(value.slice(1))
      if (negated) loosening.add(value.slice(1))
    } else if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value))
        walk(inner, ofPaths || PATH_KEYS.has(key), LOOSENING_KEYS.has(key) ? !negated : negated)
    }
  }
  for (const { when } of rules) walk(when satisfies Condition, false, false)
  return { paths, loosening }
}
