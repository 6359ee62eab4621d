// Which rules a call must be compared with: by the programs it runs and the kinds of effect it has.
import type { Facts } from './call.ts'
import { wordMatches } from './glob.ts'
import { compileCondition, type Holds, type View } from './match.ts'
import type { Condition } from './schema.ts'

const EFFECTS = ['reads', 'writes', 'deletes', 'net', 'feeds', 'env', 'opaque'] as const
type EffectKind = (typeof EFFECTS)[number]

/** What must be in the facts for a condition to hold. */
type Trigger = { program: string } | { effect: EffectKind }

/** One way in which a rule may hold: a rule's `any` at the top is taken apart. */
interface Way {
  rule: number
  holds: Holds
}

/** The rules of a policy, found by what must be in the facts for them to hold. */
export class RuleIndex {
  private readonly ways: Way[] = []
  /** Numbers of ways. */
  private readonly always: number[] = []
  private readonly byEffect = new Map<EffectKind, number[]>()
  private readonly byProgram = new Map<string, number[]>()
  private readonly byPattern: { pattern: string; ways: number[] }[] = []

  /** Conditions in the rules' order, sets filled in. */
  constructor(conditions: readonly Condition[]) {
    for (const [rule, condition] of conditions.entries()) for (const way of waysOf(condition)) this.add(rule, way)
  }

  /** Numbers of the rules that hold, ascending. */
  matching(view: View): number[] {
    const found: number[] = []
    for (const number of this.candidates(view.facts)) {
      const way = this.ways[number]
      // Ways of one rule follow one another.
      if (way !== undefined && found.at(-1) !== way.rule && way.holds(view)) found.push(way.rule)
    }
    return found
  }

  private candidates(facts: Facts): number[] {
    const found = new Set(this.always)
    const add = (numbers: readonly number[] | undefined) => {
      if (numbers !== undefined) for (const number of numbers) found.add(number)
    }
    for (const program of new Set(facts.runs.map((run) => run.program))) {
      add(this.byProgram.get(program))
      for (const { pattern, ways } of this.byPattern) if (wordMatches(program, pattern)) add(ways)
    }
    for (const effect of EFFECTS) if (facts[effect].length > 0) add(this.byEffect.get(effect))
    return [...found].sort((a, b) => a - b)
  }

  private add(rule: number, condition: Condition): void {
    const number = this.ways.push({ rule, holds: compileCondition(condition) }) - 1
    const triggers = triggersOf(condition)
    if (triggers === null) this.always.push(number)
    for (const trigger of triggers ?? []) {
      if ('effect' in trigger) push(this.byEffect, trigger.effect, number)
      else if (/[*?]/.test(trigger.program)) this.byPattern.push({ pattern: trigger.program, ways: [number] })
      else push(this.byProgram, trigger.program, number)
    }
  }
}

function push<K>(map: Map<K, number[]>, key: K, number: number): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [number])
  else known.push(number)
}

/** A condition that is nothing but a choice, as its choices. */
function waysOf(condition: Condition): Condition[] {
  const { any, ...rest } = condition
  const more = Object.values(rest).some((value) => value !== undefined)
  return any === undefined || more ? [condition] : any.flatMap(waysOf)
}

/** One of these must be present for the condition to hold; null when that can't be said. */
function triggersOf(condition: Condition): Trigger[] | null {
  if (condition.run !== undefined) return [condition.run].flat().map((program) => ({ program }))
  for (const effect of EFFECTS) if (condition[effect] !== undefined) return [{ effect }]
  for (const inner of condition.all ?? []) {
    const triggers = triggersOf(inner)
    if (triggers !== null) return triggers
  }
  if (condition.any === undefined) return null
  const triggers = condition.any.map(triggersOf)
  return triggers.includes(null) ? null : triggers.flatMap((some) => some ?? [])
}
