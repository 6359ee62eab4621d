// A rule's condition as a function of a call's facts. Only comparisons; what the facts mean was decided before.
import type { EnvFact, Facts, Feed, NetFact, PathFact, Run } from './call.ts'
import { comparable, pathsMeet, wordMatches } from './glob.ts'
import { PathList, SplitPath, type Where } from './path-list.ts'
import type { Condition, EnvTest, FeedTest, NetTest, PathTest } from './schema.ts'

type Effect = 'reads' | 'writes' | 'deletes'

/** Path lists of one policy in one place, compiled when they are first needed. */
export type PathLists = Map<readonly string[], PathList>

/** Facts with what is needed to compare them. */
export class View {
  readonly facts: Facts
  private readonly where: Where
  private readonly lists: PathLists
  private readonly paths = new Map<string, SplitPath>()

  constructor(facts: Facts, where: Where, lists: PathLists) {
    this.facts = facts
    this.where = where
    this.lists = lists
  }

  path(text: string): SplitPath {
    let path = this.paths.get(text)
    if (path === undefined) {
      path = new SplitPath(text)
      this.paths.set(text, path)
    }
    return path
  }

  list(names: readonly string[]): PathList {
    let list = this.lists.get(names)
    if (list === undefined) {
      list = new PathList(names, this.where)
      this.lists.set(names, list)
    }
    return list
  }
}

/** True when all keys of a condition hold; `run` is the run an outer condition is about. */
export type Holds = (view: View, run?: Run) => boolean

/** Compiles a condition whose sets are filled in. */
export function compileCondition(condition: Condition): Holds {
  const rest = allOf(testsOf(condition))
  if (condition.run === undefined) return rest
  const isProgram = wordTest(condition.run)
  return (view) => view.facts.runs.some((run) => isProgram(run.program) && rest(view, run))
}

function allOf(tests: readonly Holds[]): Holds {
  const [first, second] = tests
  if (first === undefined) return () => true
  if (second === undefined) return first
  if (tests.length === 2) return (view, run) => first(view, run) && second(view, run)
  return (view, run) => tests.every((test) => test(view, run))
}

function testsOf(condition: Condition): Holds[] {
  const { tool, reads, writes, deletes, net, feeds, env, opaque, all, any, not } = condition
  const tests: Holds[] = runTests(condition).map((test) => (_, run) => run === undefined || test(run))
  if (tool !== undefined) {
    const isTool = wordTest(tool)
    tests.push(({ facts }) => isTool(facts.tool))
  }
  for (const [effect, test] of Object.entries({ reads, writes, deletes }) as [Effect, PathTest | undefined][]) {
    if (test === undefined) continue
    const matches = pathTest(test, effect)
    tests.push((view) => view.facts[effect].some((fact) => matches(view, fact)))
  }
  if (net !== undefined) {
    const matches = netTest(net)
    tests.push(({ facts }) => facts.net.some(matches))
  }
  if (feeds !== undefined) {
    const matches = feedTest(feeds)
    tests.push(({ facts }) => facts.feeds.some(matches))
  }
  if (env !== undefined) {
    const matches = envTest(env)
    tests.push(({ facts }) => facts.env.some(matches))
  }
  if (opaque !== undefined) {
    const kinds = list(opaque)
    tests.push(({ facts }) => facts.opaque.some(({ kind }) => kinds.includes(kind)))
  }
  if (all !== undefined) tests.push(...all.map(compileCondition))
  if (any !== undefined) {
    const inner = any.map(compileCondition)
    tests.push((view, run) => inner.some((test) => test(view, run)))
  }
  if (not !== undefined) {
    const inner = compileCondition(not)
    tests.push((view, run) => !inner(view, run))
  }
  return tests
}

function runTests({ sub, word, flag, arg, to_branch: branch, via, known }: Condition): ((run: Run) => boolean)[] {
  const tests: ((run: Run) => boolean)[] = []
  if (known !== undefined) tests.push((run) => run.known === known)
  if (sub !== undefined) {
    const spoken = list(sub).map(spokenTest)
    tests.push(({ words }) => {
      const text = words.join(' ')
      return spoken.some((test) => test(text))
    })
  }
  if (word !== undefined) tests.push(some(({ words }) => words, wordTest(word)))
  if (flag !== undefined) {
    const flags = list(flag).map(flagTest)
    tests.push((run) => run.flags.some((given) => flags.some((test) => test(given))))
  }
  if (arg !== undefined) tests.push(some(({ argv }) => argv, wordTest(arg)))
  if (branch !== undefined) {
    const names = list(branch).map(comparable)
    tests.push(({ to }) => to.some((name) => names.some((wanted) => pathsMeet(comparable(name), wanted))))
  }
  if (via !== undefined) tests.push(some((run) => run.via, wordTest(via)))
  return tests
}

function some(of: (run: Run) => readonly string[], test: (word: string) => boolean): (run: Run) => boolean {
  return (run) => of(run).some(test)
}

/** Subcommands: the words a program is given begin with these. */
function spokenTest(text: string): (spoken: string) => boolean {
  const begins = `${text} `
  if (!isPattern(text)) return (spoken) => spoken === text || spoken.startsWith(begins)
  return (spoken) => wordMatches(spoken, text) || wordMatches(spoken, `${begins}*`)
}

/** `--forc` means `--force` to many programs; a rule's `--x=*` also looks at the value. */
function flagTest(name: string): (given: string) => boolean {
  if (name.includes('=') || name.includes('*')) return (given) => wordMatches(given, name)
  return (given) => {
    const equals = given.indexOf('=')
    const bare = equals < 0 ? given : given.slice(0, equals)
    return bare === name || (bare.startsWith('--') && bare.length >= 5 && name.startsWith(bare))
  }
}

/** Most words of a list are plain, and one look finds a word among them all. */
function wordTest(wanted: string | string[]): (word: string) => boolean {
  const words = list(wanted)
  const plain = new Set(words.filter((word) => !isPattern(word)))
  const patterns = words.filter(isPattern)
  if (patterns.length === 0) return (word) => plain.has(word)
  return (word) => plain.has(word) || patterns.some((pattern) => wordMatches(word, pattern))
}

/** Words know `*` and `?` only. */
const isPattern = (word: string) => word.includes('*') || word.includes('?')

function list<T>(value: T | T[]): T[] {
  return Array.isArray(value) ? value : [value]
}

type PathMatches = (view: View, fact: PathFact) => boolean

function pathTest(test: PathTest, effect: Effect): PathMatches {
  if (typeof test === 'string' || Array.isArray(test)) return inPaths(list(test), effect)
  const { zone, covers, recursive, by, not_by: notBy, in: inside, not_in: notIn } = test
  const tests: PathMatches[] = []
  if (zone !== undefined) tests.push((_, fact) => list(zone).includes(fact.zone))
  if (covers !== undefined) tests.push((_, fact) => fact.covers !== undefined && list(covers).includes(fact.covers))
  if (recursive !== undefined) tests.push((_, fact) => fact.recursive === recursive)
  if (by !== undefined) {
    const isBy = wordTest(by)
    tests.push((_, fact) => isBy(fact.by))
  }
  if (notBy !== undefined) {
    const isBy = wordTest(notBy)
    tests.push((_, fact) => !isBy(fact.by))
  }
  if (inside !== undefined) tests.push(inPaths(list(inside), effect))
  if (notIn !== undefined) {
    const matches = inPaths(list(notIn), effect)
    tests.push((view, fact) => !matches(view, fact))
  }
  return (view, fact) => tests.every((one) => one(view, fact))
}

function inPaths(names: readonly string[], effect: Effect): PathMatches {
  const deletes = effect === 'deletes'
  const trees = effect !== 'writes'
  return (view, { path, recursive }) => view.list(names).has(view.path(path), recursive && trees, deletes)
}

function netTest(test: NetTest): (fact: NetFact) => boolean {
  const { dir, kind, carries, userinfo } = test
  const tests: ((fact: NetFact) => boolean)[] = []
  if (dir !== undefined) tests.push((fact) => fact.dir === dir)
  if (kind !== undefined) tests.push((fact) => list(kind).includes(fact.kind))
  if (carries !== undefined) tests.push((fact) => list(carries).includes(fact.carries))
  if (userinfo !== undefined) tests.push((fact) => fact.userinfo === userinfo)
  for (const key of ['host', 'scheme', 'port', 'path', 'by'] as const) {
    const wanted = test[key]
    if (wanted === undefined) continue
    const matches = wordTest(wanted)
    tests.push((fact) => matches(fact[key]))
  }
  return (fact) => tests.every((one) => one(fact))
}

function feedTest({ from, into, by }: FeedTest): (fact: Feed) => boolean {
  const isBy = by === undefined ? undefined : wordTest(by)
  return (fact) =>
    (from === undefined || list(from).includes(fact.from)) &&
    (into === undefined || list(into).includes(fact.into)) &&
    (isBy === undefined || isBy(fact.by))
}

function envTest({ kind, name }: EnvTest): (fact: EnvFact) => boolean {
  const isName = name === undefined ? undefined : wordTest(name)
  return (fact) => (kind === undefined || list(kind).includes(fact.kind)) && (isName === undefined || isName(fact.name))
}
