// Does a rule's condition hold for the facts of a call? Only comparisons; what the facts mean was decided before.
import type { Facts, GateCall, PathFact, Run } from './call.ts'
import { UNKNOWN } from './call.ts'
import { comparable, expandBraces, pathsMeet, wordMatches } from './glob.ts'
import type { Condition, EnvTest, FeedTest, NetTest, PathTest } from './schema.ts'

type Where = Pick<GateCall, 'home' | 'project' | 'spansealHome'>
type Effect = 'reads' | 'writes' | 'deletes'

/** Facts with what is needed to compare them. */
export interface Matcher {
  facts: Facts
  where: Where
  patterns: PatternCache
  /** Parts of the paths that were compared so far. */
  paths: Map<string, SplitPath>
}

/** Compiled path patterns of one policy in one place (home, project). */
export type PatternCache = Map<readonly string[], PatternList>

interface PatternList {
  includes: PathPattern[]
  excludes: PathPattern[]
}

interface SplitPath {
  parts: string[]
  /** The same and whatever lies below. */
  below: string[]
  /** One path, not a pattern or something nobody knows yet. */
  concrete: boolean
}

interface PathPattern {
  parts: string[]
  /** May start at any depth. */
  floating: boolean
  /** The project's own copy of a floating pattern: only a deletion of a folder above it counts. */
  ownCopy: boolean
}

/** True when all keys of the condition hold; `run` is the run an outer condition is about. */
export function holds(condition: Condition, matcher: Matcher, run?: Run): boolean {
  if (condition.run !== undefined) {
    const programs = wordsOf(list(condition.run))
    return matcher.facts.runs.some((one) => isOneOf(one.program, programs) && restHolds(condition, matcher, one))
  }
  return restHolds(condition, matcher, run)
}

function restHolds(condition: Condition, matcher: Matcher, run: Run | undefined): boolean {
  const { facts } = matcher
  if (run !== undefined && !runHolds(condition, run)) return false
  if (condition.tool !== undefined && !anyMatches([facts.tool], list(condition.tool))) return false
  for (const effect of ['reads', 'writes', 'deletes'] as const) {
    const test = condition[effect]
    if (test !== undefined && !facts[effect].some((fact) => pathHolds(test, matcher, fact, effect))) return false
  }
  const { net, feeds, env, opaque, all, any, not } = condition
  if (net !== undefined && !facts.net.some((fact) => netHolds(net, fact))) return false
  if (feeds !== undefined && !facts.feeds.some((fact) => feedHolds(feeds, fact))) return false
  if (env !== undefined && !facts.env.some((fact) => envHolds(env, fact))) return false
  if (opaque !== undefined && !facts.opaque.some(({ kind }) => list(opaque).includes(kind))) return false
  if (all !== undefined && !all.every((inner) => holds(inner, matcher, run))) return false
  if (any !== undefined && !any.some((inner) => holds(inner, matcher, run))) return false
  return not === undefined || !holds(not, matcher, run)
}

function runHolds(condition: Condition, run: Run): boolean {
  const { sub, word, flag, arg, to_branch: branch, via, known } = condition
  if (known !== undefined && known !== run.known) return false
  if (sub !== undefined) {
    const spoken = run.words.join(' ')
    if (!list(sub).some((text) => wordMatches(spoken, text) || wordMatches(spoken, `${text} *`))) return false
  }
  if (word !== undefined && !anyMatches(run.words, list(word))) return false
  if (flag !== undefined && !run.flags.some((given) => list(flag).some((name) => flagMatches(given, name))))
    return false
  if (arg !== undefined && !anyMatches(run.argv, list(arg))) return false
  if (
    branch !== undefined &&
    !run.to.some((to) => list(branch).some((name) => pathsMeet(comparable(to), comparable(name))))
  )
    return false
  return via === undefined || anyMatches(run.via, list(via))
}

/** `--forc` means `--force` to many programs; a rule's `--x=*` also looks at the value. */
function flagMatches(given: string, name: string): boolean {
  const [bare = given] = given.split('=')
  if (name.includes('=') || name.includes('*')) return wordMatches(given, name)
  return bare === name || (bare.startsWith('--') && bare.length >= 5 && name.startsWith(bare))
}

function anyMatches(given: readonly string[], wanted: readonly string[]): boolean {
  const words = wordsOf(wanted)
  return given.some((word) => isOneOf(word, words))
}

interface Words {
  plain: ReadonlySet<string>
  wild: readonly string[]
}

/** Lists of a compiled policy, which live as long as it does. */
const wordLists = new WeakMap<readonly string[], Words>()

/** A list of patterns as `isOneOf` reads it: most are plain words, and one look finds a word among them all. */
function wordsOf(wanted: readonly string[]): Words {
  const known = wordLists.get(wanted)
  if (known !== undefined) return known
  const isWild = (word: string) => /[*?]/.test(word)
  const made = { plain: new Set(wanted.filter((word) => !isWild(word))), wild: wanted.filter(isWild) }
  wordLists.set(wanted, made)
  return made
}

function isOneOf(word: string, { plain, wild }: Words): boolean {
  return plain.has(word) || wild.some((pattern) => wordMatches(word, pattern))
}

function list<T>(value: T | T[]): T[] {
  return Array.isArray(value) ? value : [value]
}

function pathHolds(test: PathTest, matcher: Matcher, fact: PathFact, effect: Effect): boolean {
  if (typeof test === 'string' || Array.isArray(test)) return inPaths(list(test), matcher, fact, effect)
  if (test.zone !== undefined && !list(test.zone).includes(fact.zone)) return false
  if (test.covers !== undefined && (fact.covers === undefined || !list(test.covers).includes(fact.covers))) return false
  if (test.recursive !== undefined && test.recursive !== fact.recursive) return false
  if (test.by !== undefined && !anyMatches([fact.by], list(test.by))) return false
  if (test.not_by !== undefined && anyMatches([fact.by], list(test.not_by))) return false
  if (test.in !== undefined && !inPaths(list(test.in), matcher, fact, effect)) return false
  return test.not_in === undefined || !inPaths(list(test.not_in), matcher, fact, effect)
}

function inPaths(names: string[], matcher: Matcher, fact: PathFact, effect: Effect): boolean {
  const path = splitPath(fact.path, matcher)
  const { includes, excludes } = compiled(names, matcher)
  return (
    includes.some((pattern) => includesPath(pattern, path, fact, effect)) &&
    !(path.concrete && excludes.some((pattern) => pathsMeet(path.parts, pattern.parts)))
  )
}

function includesPath(pattern: PathPattern, path: SplitPath, { recursive }: PathFact, effect: Effect): boolean {
  if (!pattern.ownCopy && pathsMeet(path.parts, pattern.parts, !pattern.floating)) return true
  // A whole tree that is read or deleted takes what lies below with it.
  return (
    recursive &&
    effect !== 'writes' &&
    !pattern.floating &&
    (effect === 'deletes' || !pattern.ownCopy) &&
    pathsMeet(path.below, pattern.parts, !pattern.ownCopy)
  )
}

function splitPath(path: string, { paths }: Matcher): SplitPath {
  const known = paths.get(path)
  if (known !== undefined) return known
  const parts = comparable(path)
  const made = { parts, below: [...parts, '**'], concrete: !/[*?[]/.test(path) && !path.includes(UNKNOWN) }
  paths.set(path, made)
  return made
}

function compiled(names: readonly string[], matcher: Matcher): PatternList {
  const known = matcher.patterns.get(names)
  if (known !== undefined) return known
  const made: PatternList = { includes: [], excludes: [] }
  for (const name of names) {
    const excludes = name.startsWith('!')
    made[excludes ? 'excludes' : 'includes'].push(...compilePattern(excludes ? name.slice(1) : name, matcher.where))
  }
  matcher.patterns.set(names, made)
  return made
}

function compilePattern(text: string, { home, project, spansealHome }: Where): PathPattern[] {
  const path = text
    .replace('{spanseal_home}', spansealHome)
    .replace('{project}', project)
    .replace(/^~(?=\/|$)/, home)
  return expandBraces(path).flatMap((one) => {
    const anchored = one.startsWith('/')
    const floating = !anchored
    const parts = comparable(anchored || one.startsWith('**') ? one : `**/${one}`)
    const copy = { parts: comparable(`${project}/${one}`), floating: false, ownCopy: true }
    return [{ parts, floating, ownCopy: false }, ...(floating && !one.startsWith('**') ? [copy] : [])]
  })
}

function netHolds(test: NetTest, fact: Facts['net'][number]): boolean {
  const texts = { host: fact.host, scheme: fact.scheme, port: fact.port, path: fact.path, by: fact.by }
  for (const key of ['host', 'scheme', 'port', 'path', 'by'] as const) {
    const wanted = test[key]
    if (wanted !== undefined && !anyMatches([texts[key]], list(wanted))) return false
  }
  if (test.dir !== undefined && test.dir !== fact.dir) return false
  if (test.kind !== undefined && !list(test.kind).includes(fact.kind)) return false
  if (test.carries !== undefined && !list(test.carries).includes(fact.carries)) return false
  return test.userinfo === undefined || test.userinfo === fact.userinfo
}

function feedHolds(test: FeedTest, fact: Facts['feeds'][number]): boolean {
  if (test.from !== undefined && !list(test.from).includes(fact.from)) return false
  if (test.into !== undefined && !list(test.into).includes(fact.into)) return false
  return test.by === undefined || anyMatches([fact.by], list(test.by))
}

function envHolds(test: EnvTest, fact: Facts['env'][number]): boolean {
  if (test.kind !== undefined && !list(test.kind).includes(fact.kind)) return false
  return test.name === undefined || anyMatches([fact.name], list(test.name))
}
