// A claim: what a sender says happened, as an OTLP span. Adapters write it, the gate endpoint reads it; both use this one table.
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_AGENT_VERSION,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_SPANSEAL_CLAIM_APPROVAL,
  ATTR_SPANSEAL_CLAIM_BACKGROUND,
  ATTR_SPANSEAL_CLAIM_CWD,
  ATTR_SPANSEAL_CLAIM_DURATION_MS,
  ATTR_SPANSEAL_CLAIM_EVENT,
  ATTR_SPANSEAL_CLAIM_EXIT_CODE,
  ATTR_SPANSEAL_CLAIM_FILE,
  ATTR_SPANSEAL_CLAIM_INTERRUPTED,
  ATTR_SPANSEAL_CLAIM_LAUNCHED,
  ATTR_SPANSEAL_CLAIM_MACHINE,
  ATTR_SPANSEAL_CLAIM_NATIVE_EVENT,
  ATTR_SPANSEAL_CLAIM_PERMISSION_MODE,
  ATTR_SPANSEAL_CLAIM_PROMPT,
  ATTR_SPANSEAL_CLAIM_REASON,
  ATTR_SPANSEAL_CLAIM_SUBAGENT,
  ATTR_SPANSEAL_CLAIM_SUBAGENT_TYPE,
  ATTR_SPANSEAL_CLAIM_TRANSCRIPT,
  ATTR_SPANSEAL_CLAIM_TURN,
} from './attributes.ts'
import type { ExportTraceServiceRequest, KeyValue, Span } from './otlp.ts'
import { attribute } from './otlp.ts'

/** What happened, in words that every agent shares. */
export const CLAIM_EVENTS = [
  'session.start',
  'session.end',
  'prompt',
  'tool.before',
  'tool.after',
  'tool.failed',
  'tool.reported',
  'turn.end',
  'subagent.start',
  'subagent.end',
  'compact.before',
  'compact.after',
  'settings.change',
  'permission',
] as const
export type ClaimEvent = (typeof CLAIM_EVENTS)[number]

/** Each field and the span attribute that carries it. Content fields hold the sender's exact text. */
const FIELDS = {
  event: ATTR_SPANSEAL_CLAIM_EVENT,
  nativeEvent: ATTR_SPANSEAL_CLAIM_NATIVE_EVENT,
  agent: ATTR_GEN_AI_AGENT_NAME,
  agentVersion: ATTR_GEN_AI_AGENT_VERSION,
  session: ATTR_GEN_AI_CONVERSATION_ID,
  turn: ATTR_SPANSEAL_CLAIM_TURN,
  sub: ATTR_SPANSEAL_CLAIM_SUBAGENT,
  subType: ATTR_SPANSEAL_CLAIM_SUBAGENT_TYPE,
  tool: ATTR_GEN_AI_TOOL_NAME,
  callId: ATTR_GEN_AI_TOOL_CALL_ID,
  args: ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  /** An approval that the sender was told to wait for, and now comes to use. */
  approval: ATTR_SPANSEAL_CLAIM_APPROVAL,
  result: ATTR_GEN_AI_TOOL_CALL_RESULT,
  prompt: ATTR_SPANSEAL_CLAIM_PROMPT,
  cwd: ATTR_SPANSEAL_CLAIM_CWD,
  transcript: ATTR_SPANSEAL_CLAIM_TRANSCRIPT,
  permissionMode: ATTR_SPANSEAL_CLAIM_PERMISSION_MODE,
  reason: ATTR_SPANSEAL_CLAIM_REASON,
  file: ATTR_SPANSEAL_CLAIM_FILE,
  launched: ATTR_SPANSEAL_CLAIM_LAUNCHED,
} as const
const NUMBERS = { durationMs: ATTR_SPANSEAL_CLAIM_DURATION_MS, exitCode: ATTR_SPANSEAL_CLAIM_EXIT_CODE } as const
const FLAGS = {
  /** The prompt was made by a program (a finished background task), not typed by a person. */
  machine: ATTR_SPANSEAL_CLAIM_MACHINE,
  /** A sub-agent that works on while the main agent goes on. */
  background: ATTR_SPANSEAL_CLAIM_BACKGROUND,
  interrupted: ATTR_SPANSEAL_CLAIM_INTERRUPTED,
} as const

export type Claim = { event: ClaimEvent; agent: string; session: string } & {
  [K in Exclude<keyof typeof FIELDS, 'event' | 'agent' | 'session'>]?: string
} & { [K in keyof typeof NUMBERS]?: number } & { [K in keyof typeof FLAGS]?: boolean } & {
  /** The sender's own span, where it has a telemetry of its own: linked to, never a parent. */
  agentSpan?: { traceId: string; spanId: string }
}

/** Attributes of a claim, in the table's order. */
export function claimAttributes(claim: Claim): KeyValue[] {
  const out: KeyValue[] = []
  const values: Record<string, unknown> = claim
  for (const [field, key] of Object.entries({ ...FIELDS, ...NUMBERS, ...FLAGS })) {
    const value = values[field]
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      out.push(attribute(key, value))
  }
  return out
}

export type ClaimResult = { ok: true; claim: Claim } | { ok: false; field: string; message: string }

/** Scopes of our own adapters: the ids on their spans are derived and lead to no telemetry. */
const OWN_SCOPES = 'spanseal.'

/** Reads each span of a request as a claim. A span that is none is a refusal that names the attribute, in the span's place. */
export function readClaims(request: ExportTraceServiceRequest): ClaimResult[] {
  const out: ClaimResult[] = []
  for (const resource of request.resourceSpans) {
    for (const scope of resource.scopeSpans ?? []) {
      for (const span of scope.spans ?? []) out.push(readClaim(span, scope.scope?.name ?? ''))
    }
  }
  return out
}

function readClaim(span: Span, scope: string): ClaimResult {
  const values = new Map((span.attributes ?? []).map(({ key, value }) => [key, value]))
  const claim: Record<string, unknown> = {}
  for (const [field, key] of Object.entries(FIELDS)) {
    const value = values.get(key)
    if (value === undefined) continue
    if (!('stringValue' in value)) return refuse(key, 'must be a string')
    claim[field] = value.stringValue
  }
  for (const [field, key] of Object.entries(NUMBERS)) {
    const value = values.get(key)
    if (value === undefined) continue
    const number =
      'intValue' in value ? Number(value.intValue) : 'doubleValue' in value ? value.doubleValue : Number.NaN
    if (!Number.isSafeInteger(number)) return refuse(key, 'must be a whole number')
    claim[field] = number
  }
  for (const [field, key] of Object.entries(FLAGS)) {
    const value = values.get(key)
    if (value === undefined) continue
    if (!('boolValue' in value)) return refuse(key, 'must be true or false')
    claim[field] = value.boolValue
  }
  if (!CLAIM_EVENTS.some((event) => event === claim.event)) {
    return refuse(FIELDS.event, `must be one of ${CLAIM_EVENTS.join(', ')}`)
  }
  for (const field of ['agent', 'session'] as const) {
    if (!claim[field]) return refuse(FIELDS[field], 'is missing; it is needed to know which run this belongs to')
  }
  if (!scope.startsWith(OWN_SCOPES) && /[1-9a-f]/.test(span.traceId)) {
    claim.agentSpan = { traceId: span.traceId, spanId: span.spanId }
  }
  return { ok: true, claim: claim as Claim }
}

function refuse(field: string, message: string): ClaimResult {
  return { ok: false, field, message: `${field} ${message}` }
}
