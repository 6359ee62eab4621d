// The execute_tool span of a call: sent exactly once, when the call is denied, refused, completed, or can't be any more.
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_SPANSEAL_AGENT_TRACE_ID,
  ATTR_SPANSEAL_CALL_ATTEMPT,
  ATTR_SPANSEAL_DUPLICATES,
  ATTR_SPANSEAL_EXECUTED,
  ATTR_SPANSEAL_STATUS,
  ATTR_SPANSEAL_UNFINISHED,
} from '../../conventions/attributes.ts'
import type { LogEntry } from '../../conventions/log.ts'
import type { Body, RecordOf, SpanRef } from '../../conventions/record.ts'
import {
  commonValues,
  decisionValues,
  milliseconds,
  type RunFacts,
  recordValues,
  type SpanParts,
  type Values,
} from './span-builder.ts'

/** A decided call whose execute_tool span has not been sent. Holds no record bytes: they would pin the chunk they were read in. */
export interface Call {
  runKey: string
  traceId: string
  /** Of the execute_tool span. */
  spanId: string
  parent: string | undefined
  name: string
  sub: string | undefined
  /** Leaf of the decision. */
  leaf: string
  /** Milliseconds since 1970 of the decision. */
  start: number
  /** The sender's own span of the call. */
  link: { traceId: string; spanId: string } | undefined
  /** Which approval it waits for. */
  approval?: string
  /** Attributes: who and where, the tool and call id alone, the decision, the decision's record. */
  common: Values
  tool: Values
  decision: Values
  record: Values
}

/** Why a call did not run. */
type RefusedBy = 'policy_denied' | 'approval_rejected' | 'approval_expired'

/** The call that a decision opens; null when the record names no execute_tool span. */
export function openCall(
  entry: LogEntry,
  record: RecordOf<'tool.decided'>,
  run: RunFacts | undefined,
  runKey: string,
): Call | null {
  const { trace, body } = record
  if (trace?.parent === undefined) return null
  return {
    runKey,
    traceId: trace.trace_id,
    spanId: trace.parent,
    parent: body.span_parent,
    name: toolSpanName(body),
    sub: body.sub,
    leaf: entry.leaf,
    start: milliseconds(record.time),
    link: linkOf(body),
    common: { ...commonValues(record, run), [ATTR_SPANSEAL_AGENT_TRACE_ID]: body.agent_trace },
    tool: {
      [ATTR_GEN_AI_TOOL_NAME]: body.tool,
      [ATTR_GEN_AI_TOOL_CALL_ID]: record.call?.id,
      [ATTR_SPANSEAL_CALL_ATTEMPT]: record.call?.attempt,
    },
    decision: decisionValues(body),
    record: recordValues(entry),
  }
}

/** A call that was not let through: by the decision itself or by the end of its approval. `entry` holds the record that says so. */
export function callSpan(call: Call, entry: LogEntry, closing: { end: number; errorType: RefusedBy }): SpanParts {
  return buildCall(call, {
    end: closing.end,
    failed: true,
    values: () => ({
      [ATTR_SPANSEAL_STATUS]: 'denied',
      [ATTR_SPANSEAL_EXECUTED]: false,
      [ATTR_ERROR_TYPE]: closing.errorType,
      ...recordValues(entry),
    }),
  })
}

/** A call that never got a result; the decision is the last thing known of it. */
export function unfinishedSpan(call: Call, end: number): SpanParts {
  return buildCall(call, { end, values: () => ({ ...unreportedValues(), ...call.record }) })
}

/** A call as `tool.completed` tells it; `call` is its decision, where one was asked for. */
export function completedSpan(
  entry: LogEntry,
  record: RecordOf<'tool.completed'>,
  trace: SpanRef,
  run: RunFacts | undefined,
  call: Call | undefined,
): SpanParts {
  const { body } = record
  const end = milliseconds(record.time)
  const guessed = call === undefined && body.duration_ms !== undefined
  return {
    traceId: trace.trace_id,
    spanId: trace.span_id,
    // The result of a call that went out as unfinished hangs in the turn's next part, where the record says.
    parent: call?.spanId === trace.span_id ? call.parent : trace.parent,
    name: toolSpanName(body),
    start: call?.start ?? end - (body.duration_ms ?? 0),
    end,
    timeSource: guessed ? 'agent' : 'collector',
    failed: body.status === 'error',
    link: call?.link,
    values: () => ({
      ...call?.common,
      ...commonValues(record, run),
      ...call?.decision,
      [ATTR_GEN_AI_OPERATION_NAME]: 'execute_tool',
      ...outcomeValues(body.status),
      [ATTR_SPANSEAL_DUPLICATES]: body.duplicates,
      ...recordValues(entry),
    }),
  }
}

function buildCall(call: Call, parts: Pick<SpanParts, 'end' | 'failed' | 'values'>): SpanParts {
  const { traceId, spanId, parent, name, start, link } = call
  const values = () => ({
    ...call.common,
    ...call.decision,
    [ATTR_GEN_AI_OPERATION_NAME]: 'execute_tool',
    ...parts.values(),
  })
  return { ...parts, traceId, spanId, parent, name, start, link, values }
}

function linkOf({ agent_trace, agent_span }: Body<'tool.decided'>): Call['link'] {
  return agent_trace === undefined || agent_span === undefined
    ? undefined
    : { traceId: agent_trace, spanId: agent_span }
}

function outcomeValues(status: Body<'tool.completed'>['status']): Values {
  switch (status) {
    case 'ok':
    case 'launched':
      return { [ATTR_SPANSEAL_STATUS]: status, [ATTR_SPANSEAL_EXECUTED]: true }
    case 'error':
      return { [ATTR_SPANSEAL_STATUS]: status, [ATTR_SPANSEAL_EXECUTED]: true, [ATTR_ERROR_TYPE]: 'tool_error' }
    case 'denied':
      return { [ATTR_SPANSEAL_STATUS]: status, [ATTR_SPANSEAL_EXECUTED]: false }
    case 'interrupted':
      return { [ATTR_SPANSEAL_STATUS]: status }
    case 'unreported':
      return unreportedValues()
  }
}

/** Nothing was reported: whether it ran is not known, and that is neither success nor error. */
function unreportedValues(): Values {
  return {
    [ATTR_SPANSEAL_STATUS]: 'unreported',
    [ATTR_SPANSEAL_UNFINISHED]: true,
    [ATTR_ERROR_TYPE]: 'unfinished',
  }
}

function toolSpanName(body: { tool: string }): string {
  return `execute_tool ${body.tool}`
}
