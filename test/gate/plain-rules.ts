// The meaning of rules written down plainly: every rule compared with every fact, nothing compiled, indexed or remembered. Slow; what
// the gate's index finds is compared with it.
import type { Facts, GateCall, PathFact, Run } from '../../collector/gate/call.ts'
import { UNKNOWN } from '../../collector/gate/call.ts'
import { comparable, expandBraces, pathsMeet, wordMatches } from '../../collector/gate/glob.ts'
import type { Condition, PathTest } from '../../collector/gate/schema.ts'

type Effect = 'reads' | 'writes' | 'deletes'
type Many = string | readonly string[] | undefined

/** What a condition is compared with. */
export interface World {
  facts: Facts
  where: Pick<GateCall, 'home' | 'project' | 'spansealHome'>
  sets: ReadonlyMap<string, readonly string[]>
}

export function plainlyHolds(condition: Condition, world: World, run?: Run): boolean {
  if (condition.run === undefined) return restHolds(condition, world, run)
  return world.facts.runs.some((one) => matches(world, condition.run, one.program) && restHolds(condition, world, one))
}

function restHolds(condition: Condition, world: World, run: Run | undefined): boolean {
  const { facts } = world
  const { tool, net, feeds, env, opaque, all, any, not } = condition
  const pathHolds = (effect: Effect) => {
    const test = condition[effect]
    return test === undefined || facts[effect].some((fact) => isPath(test, world, fact, effect))
  }
  return (
    (run === undefined || runHolds(condition, world, run)) &&
    (tool === undefined || matches(world, tool, facts.tool)) &&
    pathHolds('reads') &&
    pathHolds('writes') &&
    pathHolds('deletes') &&
    (net === undefined ||
      facts.net.some(
        (fact) =>
          (['host', 'scheme', 'port', 'path', 'by'] as const).every(
            (key) => net[key] === undefined || matches(world, net[key], fact[key]),
          ) &&
          (['kind', 'carries'] as const).every(
            (key) => net[key] === undefined || names(net[key]).includes(fact[key]),
          ) &&
          (['dir', 'userinfo'] as const).every((key) => net[key] === undefined || net[key] === fact[key]),
      )) &&
    (feeds === undefined ||
      facts.feeds.some(
        (fact) =>
          (['from', 'into'] as const).every(
            (key) => feeds[key] === undefined || names(feeds[key]).includes(fact[key]),
          ) &&
          (feeds.by === undefined || matches(world, feeds.by, fact.by)),
      )) &&
    (env === undefined ||
      facts.env.some(
        (fact) =>
          (env.kind === undefined || names(env.kind).includes(fact.kind)) &&
          (env.name === undefined || matches(world, env.name, fact.name)),
      )) &&
    (opaque === undefined || facts.opaque.some(({ kind }) => names(opaque).includes(kind))) &&
    (all === undefined || all.every((inner) => plainlyHolds(inner, world, run))) &&
    (any === undefined || any.some((inner) => plainlyHolds(inner, world, run))) &&
    (not === undefined || !plainlyHolds(not, world, run))
  )
}

function runHolds(condition: Condition, world: World, run: Run): boolean {
  const { sub, word, flag, arg, to_branch: branch, via, known } = condition
  const anyOf = (wanted: Many, given: readonly string[]) =>
    wanted === undefined || given.some((one) => matches(world, wanted, one))
  const spoken = run.words.join(' ')
  return (
    (known === undefined || known === run.known) &&
    (sub === undefined ||
      items(world, sub).some((one) => wordMatches(spoken, one) || wordMatches(spoken, `${one} *`))) &&
    anyOf(word, run.words) &&
    (flag === undefined || run.flags.some((given) => items(world, flag).some((one) => isFlag(given, one)))) &&
    anyOf(arg, run.argv) &&
    (branch === undefined ||
      run.to.some((to) => items(world, branch).some((one) => pathsMeet(comparable(to), comparable(one))))) &&
    anyOf(via, run.via)
  )
}

function isFlag(given: string, name: string): boolean {
  const [bare = given] = given.split('=')
  if (name.includes('=') || name.includes('*')) return wordMatches(given, name)
  return bare === name || (bare.startsWith('--') && bare.length >= 5 && name.startsWith(bare))
}

function isPath(test: PathTest, world: World, fact: PathFact, effect: Effect): boolean {
  if (typeof test === 'string' || Array.isArray(test)) return inPaths(test, world, fact, effect)
  return (
    (test.zone === undefined || names(test.zone).includes(fact.zone)) &&
    (test.covers === undefined || (fact.covers !== undefined && names(test.covers).includes(fact.covers))) &&
    (test.recursive === undefined || test.recursive === fact.recursive) &&
    (test.by === undefined || matches(world, test.by, fact.by)) &&
    (test.not_by === undefined || !matches(world, test.not_by, fact.by)) &&
    (test.in === undefined || inPaths(test.in, world, fact, effect)) &&
    (test.not_in === undefined || !inPaths(test.not_in, world, fact, effect))
  )
}

function inPaths(wanted: Many, world: World, fact: PathFact, effect: Effect): boolean {
  const patterns = items(world, wanted)
  const meets = (pattern: string) => expandBraces(pattern).some((one) => meetsOne(one, world, fact, effect))
  if (!patterns.some((pattern) => !pattern.startsWith('!') && meets(written(pattern, world)))) return false
  if (/[*?[]/.test(fact.path) || fact.path.includes(UNKNOWN)) return true
  return !patterns.some(
    (pattern) =>
      pattern.startsWith('!') &&
      expandBraces(written(pattern.slice(1), world)).some((one) =>
        [anywhere(one), ...ownCopy(one, world)].some((parts) => pathsMeet(comparable(fact.path), parts)),
      ),
  )
}

function meetsOne(pattern: string, world: World, { path, recursive }: PathFact, effect: Effect): boolean {
  const floating = !pattern.startsWith('/')
  const parts = comparable(path)
  if (pathsMeet(parts, anywhere(pattern), !floating)) return true
  if (!recursive || effect === 'writes') return false
  const below = [...parts, '**']
  if (!floating) return pathsMeet(below, anywhere(pattern))
  return effect === 'deletes' && ownCopy(pattern, world).some((copy) => pathsMeet(below, copy, false))
}

function anywhere(pattern: string): string[] {
  return comparable(pattern.startsWith('/') || pattern.startsWith('**') ? pattern : `**/${pattern}`)
}

function ownCopy(pattern: string, { where }: World): string[][] {
  return pattern.startsWith('/') || pattern.startsWith('**') ? [] : [comparable(`${where.project}/${pattern}`)]
}

function written(pattern: string, { where }: World): string {
  return pattern
    .replace('{spanseal_home}', where.spansealHome)
    .replace('{project}', where.project)
    .replace(/^~(?=\/|$)/, where.home)
}

const matches = (world: World, wanted: Many, word: string) => items(world, wanted).some((one) => wordMatches(word, one))

const names = (value: Many): readonly string[] => (value === undefined ? [] : [value].flat())

/** A list with its sets filled in. */
function items({ sets }: World, value: Many): readonly string[] {
  return names(value).flatMap((name) => (name.startsWith('$') ? (sets.get(name.slice(1)) ?? []) : [name]))
}
