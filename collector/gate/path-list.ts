// Lists of path patterns: compiled for one place (home, project), and indexed so that a path meets only patterns that could match it.
import type { GateCall } from './call.ts'
import { UNKNOWN } from './call.ts'
import { comparable, expandBraces, isWild, pathsMeet } from './glob.ts'

/** What patterns are written relative to. */
export type Where = Pick<GateCall, 'home' | 'project' | 'spansealHome'>

/** A path of a call, taken apart once for all patterns. */
export class SplitPath {
  readonly parts: readonly string[]
  /** The path and whatever lies below. */
  readonly below: readonly string[]
  /** One path, not a pattern or something nobody knows yet. */
  readonly concrete: boolean
  /** Without a wildcard: a pattern's literal part must then be one of these. Null with one. */
  readonly literals: ReadonlySet<string> | null

  constructor(path: string) {
    this.parts = comparable(path)
    this.below = [...this.parts, '**']
    this.literals = isWild(path) ? null : new Set(this.parts)
    this.concrete = this.literals !== null && !path.includes(UNKNOWN)
  }
}

interface PathPattern {
  parts: readonly string[]
  /** May start at any depth. */
  floating: boolean
  /** The project's own copy of a floating pattern: only a deletion of a folder above it counts. */
  ownCopy: boolean
}

/** The patterns of one list; those that begin with `!` take away. */
export class PathList {
  private readonly excludes: PathPattern[] = []
  /** Patterns that a path itself may meet, by their last literal part; under '' those without one. */
  private readonly byPart = new Map<string, PathPattern[]>()
  /** Patterns that start at the root, by the literal folders they start with: whole, and cut short anywhere. */
  private readonly byStart = new Map<string, PathPattern[]>()
  private readonly byShorterStart = new Map<string, PathPattern[]>()
  /** Parts of the longest key of `byStart`. */
  private longestStart = 0

  constructor(names: readonly string[], where: Where) {
    for (const name of names) {
      if (name.startsWith('!')) this.excludes.push(...compilePattern(name.slice(1), where))
      else for (const pattern of compilePattern(name, where)) this.include(pattern)
    }
  }

  /** Is the path one of the list? `tree`: with everything below it; `deletes`: it would be gone. */
  has(path: SplitPath, tree: boolean, deletes: boolean): boolean {
    if (!this.includes(path, tree, deletes)) return false
    return !(path.concrete && this.excludes.some(({ parts }) => pathsMeet(path.parts, parts)))
  }

  private includes(path: SplitPath, tree: boolean, deletes: boolean): boolean {
    const itself = (patterns: readonly PathPattern[] | undefined) =>
      patterns?.some(({ parts, floating }) => pathsMeet(path.parts, parts, !floating)) === true
    if (path.literals === null) {
      for (const patterns of this.byPart.values()) if (itself(patterns)) return true
    } else {
      if (itself(this.byPart.get(''))) return true
      for (const part of path.literals) if (itself(this.byPart.get(part))) return true
    }
    return tree && this.includesBelow(path, deletes)
  }

  /** A whole tree takes what lies below with it. */
  private includesBelow(path: SplitPath, deletes: boolean): boolean {
    const meets = (patterns: readonly PathPattern[] | undefined) =>
      patterns?.some(({ parts, ownCopy }) => (deletes || !ownCopy) && pathsMeet(path.below, parts, !ownCopy)) === true
    if (path.literals === null) {
      for (const patterns of this.byStart.values()) if (meets(patterns)) return true
      return false
    }
    // A pattern's literal start and the path must agree as far as both go.
    let start = ''
    if (meets(this.byStart.get(start))) return true
    for (const part of path.parts.slice(0, this.longestStart)) {
      start += `/${part}`
      if (meets(this.byStart.get(start))) return true
    }
    return path.parts.length < this.longestStart && meets(this.byShorterStart.get(start))
  }

  private include(pattern: PathPattern): void {
    const { parts, floating, ownCopy } = pattern
    if (!ownCopy) add(this.byPart, parts.findLast((part) => !isWild(part)) ?? '', pattern)
    if (floating) return
    const firstWild = parts.findIndex(isWild)
    const literal = firstWild < 0 ? parts : parts.slice(0, firstWild)
    let start = ''
    for (const part of literal) {
      add(this.byShorterStart, start, pattern)
      start += `/${part}`
    }
    add(this.byStart, start, pattern)
    this.longestStart = Math.max(this.longestStart, literal.length)
  }
}

function add(map: Map<string, PathPattern[]>, key: string, pattern: PathPattern): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [pattern])
  else known.push(pattern)
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
