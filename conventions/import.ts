// Third-party telemetry (tier T3) as the index keeps it: receipt only, whatever it says.
import type { Decision } from './decision.ts'
import type { RequestedCall, View } from './dialects/view.ts'
import type { Json } from './strict-json.ts'

export const SIGNALS = ['traces', 'logs', 'metrics'] as const
/** The three kinds of OTLP requests. */
export type Signal = (typeof SIGNALS)[number]

/** What a policy says of a call after the fact: it stopped nothing, it would have decided so. */
export interface Would {
  decision: Decision
  rules: string[]
  /** SHA-256, lower-case hex. */
  policyHash: string
}

/** What an item was taken for, without its content. */
export interface ImportedView extends Omit<View, 'content' | 'cut' | 'requested'> {
  requested: Omit<RequestedCall, 'arguments'>[]
  would?: Would
}

/** What every row tells of where it came from. */
interface Imported {
  service?: string
  scope?: string
  attributes: { [key: string]: Json }
  /** Absent where nobody classified it. */
  view?: ImportedView
}

export interface ImportedSpan extends Imported {
  signal: 'traces'
  trace_id: string
  span_id: string
  parent_span_id?: string
  name: string
  kind: number
  /** Nanoseconds since 1970, decimal. */
  start_ns: string
  end_ns: string
  /** StatusCode: 0 unset (nothing was reported, which is not success), 1 ok, 2 error. */
  status: number
  /** False: ids or name are not what OTLP asks; counted, kept in the body, absent from views. */
  valid: boolean
}

export interface ImportedLog extends Imported {
  signal: 'logs'
  /** Nanoseconds since 1970, decimal; the time it was observed where it has none of its own. '0': neither. */
  time_ns: string
  severity: number
  /** Name of the event, where it is one: `eventName`, else the attribute `event.name`. */
  event?: string
  trace_id?: string
  span_id?: string
}

export interface ImportedPoint extends Imported {
  signal: 'metrics'
  metric: string
  unit?: string
  kind: string
  /** AggregationTemporality: 0 unspecified, 1 delta, 2 cumulative. */
  temporality: number
  /** Nanoseconds since 1970, decimal. */
  start_ns: string
  time_ns: string
  /** Of a gauge or a sum. */
  value?: number
  /** Of a histogram or a summary. */
  count?: string
  sum?: number
}

export type ImportedItem = ImportedSpan | ImportedLog | ImportedPoint

/** Attributes, of an item or of its resource, whose text says which conversation of an agent it belongs to. */
export const SESSION_KEYS: readonly string[] = [
  'gen_ai.conversation.id',
  'session.id',
  'conversation.id',
  'langfuse.session.id',
  'langsmith.trace.session_id',
  'ai.telemetry.metadata.sessionId',
  'traceloop.association.properties.session_id',
  'gcp.vertex.agent.session_id',
]

/** Characters. Longer text under a session key is content by mistake. */
const MAX_SESSION_CHARS = 256

/** Whether a text can name a session. */
export function isSession(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text.length <= MAX_SESSION_CHARS
}
