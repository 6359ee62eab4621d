// What the recording functions share: where records go, the live state, and who reported.

import type { Claim } from '../../conventions/claim.ts'
import type { WayIn } from '../../conventions/decision.ts'
import { canonicalBytes } from '../../conventions/jcs.ts'
import type { AnyDraft, Content, Source, SpanRef, Written } from '../../conventions/record.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { Ids } from './ids.ts'
import { redactText } from './redact.ts'
import { type Run, type State, spanRef } from './state.ts'

export interface Context {
  append(draft: AnyDraft): Written
  state: State
  ids: Ids
  /** Commitment to named bytes under a salt, base64. */
  commitment(salt: Uint8Array, name: string, bytes: Uint8Array): string
}

/** Who reported a claim, by listener and credential; `mode` and `failMode` were fixed when the hook was installed. */
export interface Reporter {
  kind: 'hook' | 'sdk' | 'gateway'
  adapter: string
  version: string
  /** Of a hook: the way its event came. */
  way?: WayIn | undefined
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
}

export const COLLECTOR: Source = { kind: 'collector' }

/** Source of a record made from a claim. */
export function sourceOf(reporter: Reporter, claim: Claim): Source {
  const { kind, way, adapter, version } = reporter
  return {
    kind,
    ...(way === undefined ? {} : { way }),
    adapter,
    version,
    ...(claim.nativeEvent === undefined ? {} : { event: claim.nativeEvent }),
  }
}

/** Where in a run something happens: body fields, and the trace and parent its span hangs on. */
export interface Place {
  body: { turn?: string; sub?: string }
  trace: string
  parent: string
}

/** The turn a claim belongs to: as the agent says, else the prompt counted by the collector. */
export function turnIdOf(run: Run, claim: Claim): string {
  return claim.turn ?? run.currentTurn ?? `t${run.prompts}`
}

/** The turn of an event that has no span of its own: named only while it is open, since nothing would close it. */
export function openTurn(run: Run, claim: Claim): { turn?: string } {
  const turn = turnIdOf(run, claim)
  return run.turns.get(turn)?.open ? { turn } : {}
}

/** Place of a turn's activity: inside its sub-agent's span while that is open, else under the turn's root. */
export function placeOf(ctx: Context, run: Run, turn: string, subId?: string): Place {
  const body = subId === undefined ? { turn } : { turn, sub: subId }
  const sub = subId === undefined ? undefined : run.subs.get(subId)
  if (sub?.open) return { body, trace: sub.trace, parent: sub.span }
  const { trace, root } = ctx.state.turnOf(run, turn)
  return { body, trace, parent: root }
}

/** Content of a text: kept as it is, or, when it holds secrets, committed to exactly and kept redacted. */
export function textContents(name: string, text: string): Content[] {
  const { text: redacted, found } = redactText(text)
  if (found === 0) return [{ name, bytes: Buffer.from(text), keep: true }]
  return [
    { name, bytes: Buffer.from(text), keep: false },
    { name: `${name}.redacted`, bytes: Buffer.from(redacted), keep: true },
  ]
}

/** Content of a JSON value whose exact bytes nobody sent: canonical, secrets cut out. */
export function jsonContent(name: string, value: Json): Content {
  const text = redactText(Buffer.from(canonicalBytes(wellFormed(value))).toString()).text
  return { name, bytes: Buffer.from(text), keep: true }
}

/** Text that was cut between the halves of a surrogate pair has no canonical form; the half becomes U+FFFD. */
function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), wellFormed(member)]))
}

export const runRef = (run: Run) => ({ id: run.id, part: run.part })

/** A short span of its own for a gap or violation: under the turn's root while that is open, else a trace of its own. */
export function asideRef(ctx: Context, run: Run, turnId: string | undefined, kind: string): SpanRef {
  const turn = turnId === undefined ? undefined : run.turns.get(turnId)
  if (turn?.open) return spanRef(turn.trace, ctx.ids.span(turn.trace, kind, String(run.seq)), turn.root)
  const trace = ctx.ids.trace('gap', run.id, run.part, kind, run.seq)
  return spanRef(trace, ctx.ids.span(trace, kind))
}
