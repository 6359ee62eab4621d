// One forwarded span from one record: ids, times, and the attributes that every span carries, so that no reader needs the root.
// Content can't get in here: it is not in records, and nothing else is read (content.ts adds it where a destination asked for it).
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_AGENT_VERSION,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_SESSION_ID,
  ATTR_SPANSEAL_CALL_ATTEMPT,
  ATTR_SPANSEAL_DECISION,
  ATTR_SPANSEAL_LOG_ID,
  ATTR_SPANSEAL_MODE,
  ATTR_SPANSEAL_POLICY_HASH,
  ATTR_SPANSEAL_RECEIPT_ONLY,
  ATTR_SPANSEAL_RULE_IDS,
  ATTR_SPANSEAL_RUN_ID,
  ATTR_SPANSEAL_RUN_PART,
  ATTR_SPANSEAL_SEQ,
  ATTR_SPANSEAL_SOURCE,
  ATTR_SPANSEAL_SUBAGENT_ID,
  ATTR_SPANSEAL_TIER,
  ATTR_SPANSEAL_TIME_CLAMPED,
  ATTR_SPANSEAL_TIME_SOURCE,
  ATTR_SPANSEAL_TURN_ID,
} from '../../conventions/attributes.ts'
import type { KeyValue, Span } from '../../conventions/otlp.ts'
import { attribute } from '../../conventions/otlp.ts'
import type { AnyRecord, Body, Receipt } from '../../conventions/record.ts'
import { recordAttributes } from '../../conventions/record-attribute.ts'

/** Attribute values by key; undefined ones are left out. */
export type Values = Record<string, string | number | boolean | string[] | undefined>

/** What `run.opened` says of every later record of the run part. */
export type RunFacts = Pick<Body<'run.opened'>, 'session' | 'agent' | 'agent_version' | 'mode'>

const KIND_INTERNAL = 1
export const KIND_CLIENT = 3

/** Name of the agent on spans of a run whose opening is not in the log. */
const UNKNOWN_AGENT = 'unknown'

/** A span still to be built. */
export interface SpanParts {
  traceId: string
  spanId: string
  parent?: string | undefined
  name: string
  kind?: number
  /** Milliseconds since 1970; a start after the end is moved to it. Default: the end. */
  start?: number
  end: number
  /** `agent`: one of the times comes from what the agent said. Default: collector, the time of the record. */
  timeSource?: 'agent' | 'collector'
  /** A span of the sender's own telemetry. */
  link?: { traceId: string; spanId: string } | undefined
  /** Status ERROR. Otherwise UNSET: no error reported is not success. */
  failed?: boolean
  /** Made only when the span is built: what was sent before a restart is folded again, but not built. */
  values: () => Values
}

/** The span itself, its attributes in the order of `values`. */
export function buildSpan(parts: SpanParts): Span {
  const reported = parts.start ?? parts.end
  const start = Math.max(0, Math.min(reported, parts.end))
  const times = {
    [ATTR_SPANSEAL_TIME_SOURCE]: parts.timeSource ?? 'collector',
    [ATTR_SPANSEAL_TIME_CLAMPED]: start === reported ? undefined : true,
  }
  return {
    traceId: parts.traceId,
    spanId: parts.spanId,
    ...(parts.parent === undefined ? {} : { parentSpanId: parts.parent }),
    name: parts.name,
    kind: parts.kind ?? KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(parts.end),
    attributes: keyValues({ ...parts.values(), ...times }),
    ...(parts.link === undefined ? {} : { links: [parts.link] }),
    status: parts.failed === true ? { code: 2 } : {},
  }
}

/** Milliseconds since 1970 of a record's time. */
export function milliseconds(time: string): number {
  return Date.parse(time)
}

/** Milliseconds since 1970 as OTLP writes them. */
export function nanoseconds(ms: number): string {
  return ms === 0 ? '0' : `${ms}000000`
}

function keyValues(values: Values): KeyValue[] {
  const out: KeyValue[] = []
  for (const key in values) {
    const value = values[key]
    if (value === undefined) continue
    if (Array.isArray(value)) {
      out.push({ key, value: { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } } })
    } else {
      out.push(attribute(key, value))
    }
  }
  return out
}

const base64Url = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64url')

/** Which record a span is made from: its position and the signed record itself. */
export function recordValues(receipt: Receipt): Values {
  const { log } = receipt.record
  return {
    [ATTR_SPANSEAL_LOG_ID]: log.id,
    [ATTR_SPANSEAL_SEQ]: log.seq,
    ...recordAttributes(receipt, base64Url),
  }
}

/** The agent's name, known from the run or else from the adapter that reported the record. */
export function agentOf(record: AnyRecord, run: RunFacts | undefined): string {
  return run?.agent ?? record.source.adapter ?? UNKNOWN_AGENT
}

/** Who, where, how far to trust it: what the envelope, the record's place and its run say. */
export function commonValues(record: AnyRecord, run: RunFacts | undefined): Values {
  const { body } = record
  return {
    [ATTR_SESSION_ID]: run?.session,
    [ATTR_GEN_AI_CONVERSATION_ID]: run?.session,
    [ATTR_GEN_AI_AGENT_NAME]: agentOf(record, run),
    [ATTR_GEN_AI_AGENT_VERSION]: run?.agent_version,
    [ATTR_SPANSEAL_MODE]: run?.mode,
    [ATTR_SPANSEAL_RUN_ID]: record.run?.id,
    [ATTR_SPANSEAL_RUN_PART]: record.run?.part,
    [ATTR_SPANSEAL_TURN_ID]: 'turn' in body ? body.turn : undefined,
    [ATTR_SPANSEAL_SUBAGENT_ID]: 'sub' in body ? body.sub : undefined,
    [ATTR_SPANSEAL_TIER]: record.tier,
    [ATTR_SPANSEAL_RECEIPT_ONLY]: record.tier === 'T3' ? true : undefined,
    [ATTR_SPANSEAL_SOURCE]: record.source.kind,
    [ATTR_GEN_AI_TOOL_NAME]: 'tool' in body ? body.tool : undefined,
    [ATTR_GEN_AI_TOOL_CALL_ID]: record.call?.id,
    [ATTR_SPANSEAL_CALL_ATTEMPT]: record.call?.attempt,
  }
}

/** What was decided of a call. */
export function decisionValues(body: Body<'tool.decided'>): Values {
  return {
    [ATTR_SPANSEAL_DECISION]: body.decision,
    [ATTR_SPANSEAL_RULE_IDS]: body.rules,
    [ATTR_SPANSEAL_POLICY_HASH]: body.policy_hash,
  }
}
