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
  requested: readonly Omit<RequestedCall, 'arguments'>[]
  would?: Would
}

/** A record of another collector that came on an item, verified under a configured peer's key: that peer's word. */
export interface ForeignRecord {
  /** Name of the peer, as the configuration has it. */
  peer: string
  kid: string
  log_id: string
  log_seq: number
  /** Base64 of the record's leaf. */
  leaf: string
  type: string
  time: string
  /** What the peer says of itself. */
  tier?: string
  /** The span that the record is about; it need not be the one that it came on. */
  trace_id?: string
  span_id?: string
}

/** What every row tells of where it came from. */
interface Imported {
  foreign?: ForeignRecord
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

/** Keys whose text is an id or a name, of the GenAI conventions, OpenInference, OpenLLMetry and the Vercel AI SDK. Any other text may be content. */
export const NAME_KEYS: ReadonlySet<string> = new Set([
  'gen_ai.operation.name',
  'gen_ai.system',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.response.id',
  'gen_ai.response.finish_reasons',
  'gen_ai.output.type',
  'gen_ai.agent.id',
  'gen_ai.agent.name',
  'gen_ai.conversation.id',
  'gen_ai.tool.name',
  'gen_ai.tool.type',
  'gen_ai.tool.call.id',
  'gen_ai.data_source.id',
  'gen_ai.token.type',
  'openinference.span.kind',
  'llm.model_name',
  'llm.provider',
  'llm.system',
  'llm.request.type',
  'embedding.model_name',
  'agent.name',
  'tool.name',
  'tool_call.id',
  'traceloop.span.kind',
  'traceloop.entity.name',
  'traceloop.workflow.name',
  'ai.operationId',
  'ai.model.id',
  'ai.model.provider',
  'ai.response.id',
  'ai.response.model',
  'ai.response.finishReason',
  'ai.toolCall.id',
  'ai.toolCall.name',
  'mcp.method.name',
  'mcp.session.id',
  'mcp.protocol.version',
  'rpc.system',
  'rpc.service',
  'rpc.method',
  'http.request.method',
  'network.protocol.name',
  'error.type',
  'exception.type',
  'session.id',
  'operation.name',
])

/**
 * Attributes of a resource that say which program it is. Hosts (an instance's id may
 * be one), owners, paths and command lines, which some SDKs put there, do not.
 */
export const RESOURCE_NAME_KEYS: ReadonlySet<string> = new Set([
  'service.name',
  'service.namespace',
  'service.version',
  'telemetry.sdk.name',
  'telemetry.sdk.language',
  'telemetry.sdk.version',
  'deployment.environment',
  'deployment.environment.name',
  'gen_ai.agent.id',
  'gen_ai.agent.name',
  'gen_ai.agent.version',
  'openinference.project.name',
  'session.id',
])
