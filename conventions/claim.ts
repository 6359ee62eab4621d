// A claim: what a sender says happened, as an OTLP span. Adapters write it, the gate endpoint reads it; both use this one table.
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
  event: 'spanseal.claim.event',
  nativeEvent: 'spanseal.claim.native_event',
  agent: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  session: 'gen_ai.conversation.id',
  turn: 'spanseal.claim.turn',
  sub: 'spanseal.claim.subagent',
  subType: 'spanseal.claim.subagent_type',
  tool: 'gen_ai.tool.name',
  callId: 'gen_ai.tool.call.id',
  args: 'gen_ai.tool.call.arguments',
  result: 'gen_ai.tool.call.result',
  prompt: 'spanseal.claim.prompt',
  cwd: 'spanseal.claim.cwd',
  transcript: 'spanseal.claim.transcript',
  permissionMode: 'spanseal.claim.permission_mode',
  reason: 'spanseal.claim.reason',
  file: 'spanseal.claim.file',
  launched: 'spanseal.claim.launched',
} as const
const NUMBERS = { durationMs: 'spanseal.claim.duration_ms', exitCode: 'spanseal.claim.exit_code' } as const
const FLAGS = {
  /** The prompt was made by a program (a finished background task), not typed by a person. */
  machine: 'spanseal.claim.machine',
  /** A sub-agent that works on while the main agent goes on. */
  background: 'spanseal.claim.background',
  interrupted: 'spanseal.claim.interrupted',
  denied: 'spanseal.claim.denied',
} as const

export type Claim = { event: ClaimEvent; agent: string; session: string } & {
  [K in Exclude<keyof typeof FIELDS, 'event' | 'agent' | 'session'>]?: string
} & { [K in keyof typeof NUMBERS]?: number } & { [K in keyof typeof FLAGS]?: boolean }

/** Attributes of a claim, in the table's order. */
export function claimAttributes(claim: Claim): KeyValue[] {
  const out: KeyValue[] = []
  const values = claim as Record<string, string | number | boolean | undefined>
  for (const [field, key] of Object.entries({ ...FIELDS, ...NUMBERS, ...FLAGS })) {
    const value = values[field]
    if (value !== undefined) out.push(attribute(key, value))
  }
  return out
}

export type ClaimResult =
  | { ok: true; claim: Claim; span: Span; scope: string }
  | { ok: false; field: string; message: string }

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
  return { ok: true, claim: claim as Claim, span, scope }
}

function refuse(field: string, message: string): ClaimResult {
  return { ok: false, field, message: `${field} ${message}` }
}
