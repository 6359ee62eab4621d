// What the gate is asked, what it finds out, and what it answers: the types every file of the gate shares.
import type { Constraint } from '../../conventions/constraint.ts'
import type { Decision } from '../../conventions/decision.ts'
import type { Json } from '../../conventions/strict-json.ts'

/** One tool call before it runs, as the agent named it. */
export interface GateCall {
  agent: string
  tool: string
  /** The parsed tool input. */
  args: Json
  cwd: string
  /** The person's home folder. */
  home: string
  project: string
  spansealHome: string
  /** The branch checked out now, where known. */
  branch?: string
  /** Where a path really leads, or null when nothing is there. Without it, symbolic links are not followed. */
  realpath?: (path: string) => string | null
  /** What the person's prompts forbid in this run. */
  constraints?: readonly Constraint[]
  /** There were more than are known. */
  constraintsLost?: boolean
}

/** Where a path lies. `unknown`: the text of the call does not say. */
export const ZONES = ['project', 'temp', 'home', 'outside', 'unknown'] as const
export type Zone = (typeof ZONES)[number]

/** What a path takes with it when it is the top of a tree. */
export const COVERS = ['project', 'home', 'system'] as const
export type Covers = (typeof COVERS)[number]

/** A program that would run. `argv` keeps the words as read; text that is only known at run time is the character UNKNOWN. */
export interface Run {
  program: string
  /** The words that are no options, without the program. */
  words: string[]
  /** Options, clusters taken apart: `-fu` is `-f`, `-u`. A value stays after `=`. */
  flags: string[]
  argv: string[]
  /** Wrappers in front of it, outermost first. */
  via: string[]
  dynamic: boolean
  /** False when no reader knows the program. */
  known: boolean
  /** Branches a push would change. */
  to: string[]
}

export interface PathFact {
  path: string
  zone: Zone
  covers?: Covers
  /** The whole tree below, too. */
  recursive: boolean
  /** Program or tool. */
  by: string
}

export const HOST_KINDS = ['local', 'private', 'metadata', 'public', 'computed', 'unknown'] as const
export type HostKind = (typeof HOST_KINDS)[number]

/** What goes over the line: nothing of ours, a request body, the content of a file, a secret. */
export const CARGO = ['nothing', 'body', 'file', 'secret'] as const
export type Cargo = (typeof CARGO)[number]

export interface NetFact {
  host: string
  kind: HostKind
  dir: 'in' | 'out'
  scheme: string
  port: string
  path: string
  userinfo: boolean
  carries: Cargo
  by: string
}

export const FEED_SOURCES = [
  'network',
  'decoded',
  'dynamic',
  'written',
  'file',
  'stdin',
  'option',
  'config',
  'inline',
] as const
export type FeedSource = (typeof FEED_SOURCES)[number]

/** Text that becomes a program: where it comes from and what runs it. */
export interface Feed {
  from: FeedSource
  into: 'shell' | 'interpreter'
  by: string
}

export const ENV_KINDS = ['code', 'guard', 'hook_off', 'dump', 'secret', 'plain'] as const
export type EnvKind = (typeof ENV_KINDS)[number]

/** An environment variable that is set (code, guard, hook_off, plain) or shown (dump, secret). Never its value. */
export interface EnvFact {
  name: string
  kind: EnvKind
}

export const OPAQUE_KINDS = [
  'syntax',
  'hidden',
  'too_long',
  'too_deep',
  'too_many_steps',
  'reader_failed',
  'dynamic_command',
  'odd_name',
  'foreign_shell',
  'no_command',
  'arguments',
  'oversize',
  'fork_bomb',
  'sandbox_off',
] as const
export type OpaqueKind = (typeof OPAQUE_KINDS)[number]

/** Something the gate could not read or that hides what runs. */
export interface Opaque {
  kind: OpaqueKind
  by: string
}

/** Every effect of a call that the gate can know before it runs. */
export interface Facts {
  tool: string
  /** False when no reader knows the tool's name. */
  knownTool: boolean
  runs: Run[]
  reads: PathFact[]
  writes: PathFact[]
  deletes: PathFact[]
  net: NetFact[]
  feeds: Feed[]
  env: EnvFact[]
  opaque: Opaque[]
  /** `none`: the call holds no shell text. */
  parse: 'ok' | 'partial' | 'failed' | 'none'
  /** UTF-8 bytes of the shell text. */
  bytes: number
}

export interface GateDecision {
  decision: Decision
  /** Ids of all rules that matched, strictest first. */
  rules: string[]
  /** For the model, one per rule that says what was decided, in their order: what, and what to do instead. */
  reasons: string[]
  facts: Facts
  /** SHA-256, lower-case hex. */
  policyHash: string
}

/** Stands in a word for text that is only known at run time. A private-use character that input may not hold. */
export const UNKNOWN = '\u{F0000}'
