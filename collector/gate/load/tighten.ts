// What a file changes of the policies it extends: it may make them stricter; every loosening is named under `override`, with a reason.
import type { Defaults, Override, PolicyFile, RuleSource, Tightening } from '../schema.ts'
import { THEN } from '../schema.ts'
import { isWeaker, type Layer, type SetUses, usesOf } from './layer.ts'
import type { Path } from './yaml.ts'

/** Notes a problem of the file. */
export type Report = (path: Path, message: string) => void

/** A file's entry under `rules`: a rule of its own, or a stricter decision for one that it extends. */
export type Entry = { at: number; rule: RuleSource } | { at: number; tighten: Tightening }

export interface Child {
  file: PolicyFile
  /** Defaults that are written in the file, not filled in. */
  written: Partial<Defaults>
  entries: readonly Entry[]
}

/** The base with a file's changes. What would loosen it is reported, and left out. */
export function tighten(base: Layer, { file, written, entries }: Child, report: Report): Layer {
  const uses = usesOf(base.rules)
  const loosened = file.override.reduce(
    (layer, override, n) => loosen(layer, override, ['override', n], uses, report),
    base,
  )
  return {
    rules: rulesOf(loosened.rules, entries, report),
    defaults: defaultsOf(loosened.defaults, written, report),
    sets: setsOf(loosened.sets, file.sets, uses, report),
  }
}

function rulesOf(inherited: readonly RuleSource[], entries: readonly Entry[], report: Report): RuleSource[] {
  const rules = new Map(inherited.map((rule) => [rule.id, rule]))
  for (const entry of entries) {
    if ('rule' in entry) {
      const { id } = entry.rule
      if (rules.has(id))
        report(
          ['rules', entry.at, 'id'],
          `${id} is a rule that this file extends; a new condition may loosen it. Give yours another id, or \`then\` alone for a stricter decision`,
        )
      else rules.set(id, entry.rule)
      continue
    }
    const { id, then: decision, reason } = entry.tighten
    const known = rules.get(id)
    if (known === undefined) report(['rules', entry.at, 'when'], `is missing; ${id} is no rule that this file extends`)
    else if (isWeaker(decision, known.then))
      report(
        ['rules', entry.at, 'then'],
        `${decision} would loosen ${id}, which is ${known.then}; name it under \`override\` with a reason`,
      )
    else rules.set(id, { ...known, [THEN]: decision, ...(reason === undefined ? {} : { reason }) })
  }
  return [...rules.values()]
}

function defaultsOf(inherited: Defaults, written: Partial<Defaults>, report: Report): Defaults {
  const out: Defaults = { ...inherited }
  for (const [key, value] of Object.entries(written) as [keyof Defaults, 'ask' | 'deny'][]) {
    if (isWeaker(value, inherited[key]))
      report(
        ['defaults', key],
        `${value} is weaker than ${inherited[key]}, which this file extends; name it under \`override\` with a reason`,
      )
    else out[key] = value
  }
  return out
}

function setsOf(
  inherited: Layer['sets'],
  own: Readonly<Record<string, readonly string[]>>,
  uses: SetUses,
  report: Report,
): Layer['sets'] {
  const sets = new Map(inherited)
  for (const [name, items] of Object.entries(own)) {
    const known = sets.get(name)
    if (known !== undefined && uses.loosening.has(name))
      report(
        ['sets', name],
        'is a set of exceptions that this file extends, so more in it loosens; name it under `override` with a reason',
      )
    for (const [n, item] of items.entries())
      if (known !== undefined && item.startsWith('!'))
        report(
          ['sets', name, n],
          `takes away from $${name}, which this file extends; name it under \`override\` with a reason`,
        )
    sets.set(name, [...(known ?? []), ...items])
  }
  return sets
}

function loosen(layer: Layer, override: Override, at: Path, uses: SetUses, report: Report): Layer {
  const { rule, set, default: field } = override
  if (rule !== undefined) return { ...layer, rules: loosenRule(layer.rules, rule, override, at, report) }
  if (set !== undefined) return { ...layer, sets: loosenSet(layer.sets, set, override, at, uses, report) }
  if (field !== undefined) return { ...layer, defaults: loosenDefault(layer.defaults, field, override, at, report) }
  return layer
}

function loosenRule(
  rules: readonly RuleSource[],
  id: string,
  { then: decision = 'off' }: Override,
  at: Path,
  report: Report,
): readonly RuleSource[] {
  const known = rules.find((rule) => rule.id === id)
  if (known === undefined) {
    report([...at, 'rule'], `${id} is no rule that this file extends`)
    return rules
  }
  if (!isWeaker(decision, known.then)) {
    report([...at, 'then'], `${decision} does not loosen ${id}, which is ${known.then}; write it under \`rules\``)
    return rules
  }
  if (decision === 'off') return rules.filter((rule) => rule !== known)
  return rules.map((rule) => (rule === known ? { ...rule, [THEN]: decision } : rule))
}

function loosenSet(
  sets: Layer['sets'],
  name: string,
  { without = [], add = [] }: Override,
  at: Path,
  uses: SetUses,
  report: Report,
): Layer['sets'] {
  const known = sets.get(name)
  if (known === undefined) {
    report([...at, 'set'], `$${name} is no set that this file extends`)
    return sets
  }
  const gone = new Set(without.filter((item) => known.includes(item)))
  const except = without.filter((item) => !gone.has(item))
  // In a list of words or branches, only an item that stands there can go.
  if (!uses.paths.has(name))
    for (const item of except) report([...at, 'without', without.indexOf(item)], `${item} is no item of $${name}`)
  return new Map(sets).set(name, [
    ...known.filter((item) => !gone.has(item)),
    ...add,
    ...except.map((item) => `!${item}`),
  ])
}

function loosenDefault(
  defaults: Defaults,
  field: keyof Defaults,
  { then: decision }: Override,
  at: Path,
  report: Report,
): Defaults {
  const known = defaults[field]
  if (
    decision === undefined ||
    decision === 'off' ||
    (decision === 'flag' && field !== 'unknown_tool' && field !== 'unknown_program')
  )
    report([...at, 'then'], field.startsWith('unknown') ? 'must be flag or ask' : 'must be ask')
  else if (!isWeaker(decision, known))
    report([...at, 'then'], `${decision} does not loosen ${field}, which is ${known}; write it under \`defaults\``)
  else return { ...defaults, [field]: decision }
  return defaults
}
