// What a run's tree is made of.
import type { Constraint } from '../../conventions/constraint.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { RunUsage } from './cost.ts'

/** A record of the run, as the index has it. */
export interface Entry {
  seq: number
  type: string
  time: string
  part: number
  turn: string | null
  sub: string | null
  call: string | null
  attempt: number | null
  body: { [key: string]: Json }
}

export interface Said {
  kind: 'prompt' | 'message'
  seq: number
  time: string
  /** `prompt` by a person, `machine` by a program; else what the model did: reasoning, text, tool_use. */
  what: string
  tool?: string
  /** Call that a tool_use asks for. */
  callId?: string
  text?: string
}

export interface Approval {
  id: string
  /** pending, approved, rejected, expired, used. */
  state: string
  waitedMs?: number
  authentication?: string
}

export interface Call {
  kind: 'call'
  seq: number
  time: string
  id: string
  attempt: number
  tool: string
  /** Null: nobody asked for a decision. */
  decision: string | null
  rules: string[]
  enforced: boolean
  /** Null: no result yet. */
  status: string | null
  exitCode?: number
  durationMs?: number
  approval?: Approval
  args?: string
  result?: string
  inside: Node[]
}

export interface Sub {
  kind: 'subagent'
  seq: number
  time: string
  id: string
  type: string
  background: boolean
  /** Null: still at work. */
  finished: boolean | null
  inside: Node[]
}

/** Something that is worth one line: a gap, a violation, a compaction, a settings change. */
export interface Note {
  kind: 'gap' | 'violation' | 'note'
  seq: number
  time: string
  text: string
}

export type Node = Said | Call | Sub | Note

export interface Turn {
  id: string
  /** Of its first record. */
  seq: number
  opened: string
  /** Why it closed; null while it is open. */
  closed: string | null
  finished: boolean
  inside: Node[]
}

export interface Part {
  part: number
  opened: string
  reason: string
  mode: string
  failMode: string
  closed: string | null
  closeReason: string | null
}

export interface RunTree {
  id: string
  agent: string
  session: string
  parts: Part[]
  turns: Turn[]
  /** What belongs to no turn. */
  inside: Node[]
  /** What the person's prompts forbid, in the order they were said. */
  constraints: Constraint[]
  /** More was forbidden than the run keeps. */
  constraintsLost: boolean
  /** Tokens and their estimated cost; absent where nobody looked. */
  usage?: RunUsage
  records: number
}
