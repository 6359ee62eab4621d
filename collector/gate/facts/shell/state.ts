// The shell as far as it can be followed without running it: folder, variables, functions, files written so far, and a step budget.
import type { CommandNode } from 'unbash'
import type { Places } from '../paths.ts'
import type { Sink } from '../sink.ts'

/** Where text comes from that is only known at run time. */
export type Taint = 'network' | 'decoded' | 'file' | 'command' | 'secret_env' | 'environ'

/** One word after expansion. `text` holds UNKNOWN where the run decides. */
export interface Field {
  text: string
  taints: ReadonlySet<Taint>
  /** Holds an unquoted wildcard. */
  glob: boolean
  /** Stands for anything below the path (what `find` or `git ls-files` hand on). */
  tree: boolean
  /** A process substitution: what can be read from it. */
  stream?: Out
}

/** What a command writes to standard output, or what another reads from standard input. */
export interface Out {
  /** Null when it can't be known. */
  text: string | null
  taints: ReadonlySet<Taint>
  /** Words it prints, when they are path names. */
  fields: Field[] | null
}

export const NO_TAINTS: ReadonlySet<Taint> = new Set()
export const NOTHING: Out = { text: '', taints: NO_TAINTS, fields: null }

/** Output that can't be known. */
export function unknownOut(...taints: Taint[]): Out {
  return { text: null, taints: new Set(taints), fields: null }
}

/** A word with fixed text. */
export function plain(text: string): Field {
  return { text, taints: NO_TAINTS, glob: false, tree: false }
}

/** Union of several taint sets. */
export function mix(...sets: ReadonlySet<Taint>[]): ReadonlySet<Taint> {
  let only = NO_TAINTS
  let union: Set<Taint> | undefined
  for (const set of sets) {
    if (set.size === 0) continue
    if (only === NO_TAINTS) only = set
    else {
      union ??= new Set(only)
      for (const taint of set) union.add(taint)
    }
  }
  return union ?? only
}

/** A file that an earlier command of the same text made. */
export interface Written {
  from: 'network' | 'decoded' | 'written'
  text: string | null
}

/** Thrown when a budget is used up; caught where reading started, which then asks. */
export class BudgetSpent extends Error {
  readonly kind: 'too_deep' | 'too_many_steps'
  constructor(kind: 'too_deep' | 'too_many_steps') {
    super(kind)
    this.kind = kind
  }
}

/** Steps. One step is a node, a word or a program read; the longest text that is read at all has under half of it. */
const MAX_STEPS = 20_000
/** Levels of text inside text (`sh -c`, eval, substitutions) and of function calls. */
const MAX_DEPTH = 6

export interface Budget {
  steps: number
}

/** Variables, functions and the rest that a subshell copies. */
export interface Scope {
  cwd: string | null
  oldCwd: string | null
  branch: string | null
  vars: Map<string, Field[]>
  functions: Map<string, FunctionEntry>
  aliases: Map<string, string>
  positional: Field[] | null
}

export interface FunctionEntry {
  node: Extract<CommandNode, { type: 'Function' }>
  called: boolean
}

export interface Shell {
  scope: Scope
  sink: Sink
  home: string
  project: string
  budget: Budget
  depth: number
  /** Functions being called with their words, outermost first. */
  calling: { node: FunctionEntry['node']; words: string }[]
  /** Commands run side by side here (pipeline, `&`): a function that calls itself so never ends. */
  parallel: number
  /** Output goes into a pipe or a word, not to the person (count of such places around). */
  captured: number
  written: Map<string, Written>
  /** Folders that a downloaded archive was unpacked into. */
  unpacked: string[]
  links: Map<string, string>
  fds: Map<number, ReadonlySet<Taint>>
  remotes: Set<string>
  /** Every function defined so far. */
  defined: FunctionEntry[]
  places(): Places
  /** Text that traps run when the shell ends, with the variables of that time. */
  atExit: { text: string; scope: Scope }[]
  /** Reads shell text as part of this shell (eval) or of a child (`-c`). */
  readText(shell: Shell, text: string, input: Out): Out
  /** Notes variables set in front of a command, or, alone, for the rest of the shell. */
  assign(shell: Shell, assignments: Field[], forCommand: boolean): void
  /** Runs words as a command. */
  runFields(shell: Shell, fields: Field[], input: Out, via: string[]): Out
}

/** Counts a step, or several for work that grows with a text. */
export function step(shell: Shell, count = 1): void {
  shell.budget.steps += count
  if (shell.budget.steps > MAX_STEPS) throw new BudgetSpent('too_many_steps')
}

/** Runs something one level deeper. */
export function deeper<T>(shell: Shell, work: () => T): T {
  if (shell.depth >= MAX_DEPTH) throw new BudgetSpent('too_deep')
  shell.depth++
  try {
    return work()
  } finally {
    shell.depth--
  }
}

/** The environment as output: shown at once, or on its way to another command. */
export function environmentOut(shell: Shell): Out {
  if (shell.captured === 0) shell.sink.env('*', 'dump')
  return unknownOut('environ')
}

/** Runs something whose output another command or a word takes. */
export function captured<T>(shell: Shell, work: () => T): T {
  shell.captured++
  try {
    return work()
  } finally {
    shell.captured--
  }
}

/** Runs something in a subshell: what it sets is gone afterwards. */
export function subshell<T>(shell: Shell, work: () => T): T {
  const outer = shell.scope
  shell.scope = {
    ...outer,
    vars: new Map(outer.vars),
    functions: new Map(outer.functions),
    aliases: new Map(outer.aliases),
  }
  try {
    return work()
  } finally {
    shell.scope = outer
  }
}
