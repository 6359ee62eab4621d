// Whether a call does what the person said not to do in this run. Judged on the same effects as the rules.

import type { Constraint } from '../../../conventions/constraint.ts'
import { type Facts, type GateCall, type PathFact, type Run, UNKNOWN } from '../call.ts'
import { comparable, expandBraces, pathsMeet } from '../glob.ts'
import { changes, commits, installs, opensRequest, pushes, rewritten, talks } from './commands.ts'

/** Constraints that a call breaks: it waits for a person. */
export function broken(constraints: readonly Constraint[], call: GateCall, facts: Facts): Constraint[] {
  return constraints.filter((constraint) => breaks(constraint, call, facts))
}

/** True when the person named what may be changed and the call changes something else. Never a reason to hold it. */
export function beyondScope(constraints: readonly Constraint[], call: GateCall, facts: Facts): boolean {
  const scopes = constraints.filter(({ kind }) => kind === 'scope').map(({ target }) => target ?? '')
  if (scopes.length === 0) return false
  return [...facts.writes, ...facts.deletes].some(
    (path) => path.zone !== 'temp' && path.zone !== 'unknown' && !scopes.some((target) => meets(target, path, call)),
  )
}

function breaks({ kind, target }: Constraint, call: GateCall, facts: Facts): boolean {
  switch (kind) {
    case 'no-modify':
      return (
        target !== null &&
        (touched(target, [...facts.writes.map((path) => spread(path, facts)), ...facts.deletes], call) ||
          rewrites(target, facts))
      )
    case 'read-only':
      return [...facts.writes, ...facts.deletes].some(({ zone }) => zone !== 'temp') || changes(facts)
    case 'no-push':
      return pushes(facts)
    case 'no-commit':
      return commits(facts)
    case 'no-network':
      return talks(facts)
    case 'no-install':
      return installs(facts, target)
    case 'no-run':
      return target !== null && facts.runs.some((run) => runsIt(target, run))
    case 'no-delete':
      if (target !== null) return touched(target, facts.deletes, call) || removedByGit(facts, target)
      return facts.deletes.some(({ zone }) => zone !== 'temp') || removedByGit(facts, null)
    case 'no-read':
      // Staging a file for a commit shows it to nobody.
      return (
        target !== null &&
        touched(
          target,
          facts.reads.filter(({ by, zone }) => by !== 'git' && zone !== 'unknown'),
          call,
        )
      )
    case 'scope':
      return false
  }
}

/** Programs that fill a folder with files their words don't name. */
const FILLS = new Set(['tar', 'bsdtar', 'unzip', '7z', 'cpio', 'rsync'])
const COPIES_TREES = /^(?:-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive)$/

/** What fills a folder may change whatever is in it. */
function spread(path: PathFact, { runs }: Facts): PathFact {
  if (path.zone === 'temp') return path
  const fills =
    FILLS.has(path.by) ||
    (path.by === 'cp' &&
      runs.some(({ program, flags }) => program === 'cp' && flags.some((flag) => COPIES_TREES.test(flag))))
  return fills ? { ...path, recursive: true } : path
}

function touched(target: string, paths: readonly PathFact[], call: GateCall): boolean {
  return paths
    .filter((path) => !supposed(path, paths, call))
    .some(
      (path) =>
        (path.zone === 'unknown' && path.path.includes(UNKNOWN)) ||
        meets(target, path, call) ||
        takesAlong(target, path, call),
    )
}

/** `cp a b` writes `b`, or `b/a` where `b` is a folder; which, the file system says. */
function supposed({ path, by }: PathFact, paths: readonly PathFact[], { realpath }: GateCall): boolean {
  const folder = path.slice(0, path.lastIndexOf('/'))
  return (
    realpath !== undefined &&
    paths.some((other) => other.path === folder && other.by === by) &&
    realpath(folder) === null
  )
}

/** "the tests": folders and files that are named like tests. */
const TESTS = /(?:^|\/)(?:tests?|__tests__|specs?|e2e)\/|[._-](?:test|tests|spec)\.[^/]+$|(?:^|\/)test_[^/]+$/i

function meets(target: string, { path, zone }: PathFact, { home, project }: GateCall): boolean {
  if (target === 'tests') return TESTS.test(path)
  if (zone === 'temp' && !path.startsWith(`${project}/`)) return false
  const wanted = target.startsWith('~/') ? home + target.slice(1) : target.replace(/^\.\//, '')
  const below = target.endsWith('/')
  return expandBraces(wanted).some((one) => {
    const parts = comparable(one)
    // A name without a folder in front holds everywhere, as the person can't know where the agent looks.
    const anchored = one.startsWith('/') ? parts : ['**', ...parts]
    const given = comparable(path)
    return pathsMeet(given, [...anchored, '**']) || (!below && pathsMeet(given, anchored))
  })
}

/** A whole tree that is moved or deleted takes along what is in it. */
function takesAlong(target: string, { path, recursive, covers }: PathFact, { project, realpath }: GateCall): boolean {
  if (!recursive) return false
  if (covers !== undefined) return true
  const clean = target.replace(/^\.\//, '').replace(/\/?(?:\*\*?)?$/, '')
  if (clean.startsWith('/')) return clean.startsWith(`${path}/`)
  return `${project}/${clean}`.startsWith(`${path}/`) && clean.includes('/')
    ? true
    : realpath !== undefined && (realpath(`${path}/${clean}`) ?? null) !== null
}

function rewrites(target: string, facts: Facts): boolean {
  const { names, anything } = rewritten(facts)
  if (anything) return true
  const wanted = comparable(target.replace(/^\.\//, ''))
  return names.some((name) => {
    const given = comparable(name)
    return pathsMeet(given, ['**', ...wanted]) || pathsMeet(given, ['**', ...wanted, '**'])
  })
}

function removedByGit(facts: Facts, target: string | null): boolean {
  return facts.runs.some((run) => {
    if (run.program !== 'git' || !/^(?:rm|mv|clean)$/.test(run.words[0] ?? '')) return false
    if (target === null || run.words[0] === 'clean') return true
    const wanted = comparable(target)
    return run.words
      .slice(1)
      .some(
        (word) =>
          pathsMeet(comparable(word), ['**', ...wanted]) || pathsMeet(comparable(word), ['**', ...wanted, '**']),
      )
  })
}

/** What people call a program, and the words it is run by. */
const CALLED: Record<string, RegExp> = {
  server: /^(?:serve|server|dev|start|runserver|run-server)/,
  tests: /^(?:tests?|pytest|jest|vitest|mocha|rspec|tox|nose|ctest|phpunit|karma)/,
  build: /^(?:build|compile|make|webpack|tsc)/,
  app: /^(?:dev|start|serve|runserver)/,
  linter: /^(?:lint|eslint|ruff|flake8|pylint|biome|clippy)/,
  deploy: /^(?:deploy|rollout|release)/,
}

/** Programs that look at what they name and don't run it. */
const LOOKS = new Set(
  'ls cat head tail less more grep rg find fd wc stat file diff cd echo printf mkdir touch cp mv rm tree git'.split(
    ' ',
  ),
)

function runsIt(target: string, run: Run): boolean {
  if (target === 'open a PR') return opensRequest(run)
  const given = [run.program, ...run.words]
    .flatMap((word) => word.toLowerCase().split(/[^a-z0-9]+/))
    .filter((word) => word !== '')
  const wanted = target
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !/^(?:script|command|suite|tool)s?$/.test(word))
  if (LOOKS.has(run.program) && wanted[0] !== run.program) return false
  return wanted.length > 0 && wanted.every((word) => given.some((one) => alike(word, one)))
}

function alike(wanted: string, given: string): boolean {
  const called = CALLED[wanted] ?? CALLED[`${wanted}s`]
  if (called?.test(given)) return true
  const stem = stemOf(wanted)
  return stem === stemOf(given) || (stem.length >= 5 && given.startsWith(stem))
}

function stemOf(word: string): string {
  return word.length > 5 ? word.replace(/(?:ions?|ings?|ers?|es?|s)$/, '') : word.replace(/s$/, '')
}
