// Records to spans: a pure fold over the log, in order. The same log always gives the same spans with the same bodies, and no
// span id twice, so that a destination may be sent any part of it again.
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  ATTR_SPANSEAL_APPROVAL_ANSWER,
  ATTR_SPANSEAL_APPROVAL_AUTHENTICATION,
  ATTR_SPANSEAL_APPROVAL_ID,
  ATTR_SPANSEAL_CHECKPOINT,
  ATTR_SPANSEAL_DECISION,
  ATTR_SPANSEAL_GAP_COUNT,
  ATTR_SPANSEAL_GAP_KIND,
  ATTR_SPANSEAL_MACHINE_PROMPT,
  ATTR_SPANSEAL_MESSAGE_KIND,
  ATTR_SPANSEAL_POLICY_HASH,
  ATTR_SPANSEAL_SUBAGENT_TYPE,
  ATTR_SPANSEAL_TURN_PART,
  ATTR_SPANSEAL_UNFINISHED,
  ATTR_SPANSEAL_VIOLATION_KIND,
} from '../../conventions/attributes.ts'
import type { Decision } from '../../conventions/decision.ts'
import type { LogEntry } from '../../conventions/log.ts'
import type { Span } from '../../conventions/otlp.ts'
import type { Body, Envelope, RecordOf, SpanRef } from '../../conventions/record.ts'
import { MAX_RECORD_ATTRIBUTE_CHARS } from '../../conventions/record-attribute.ts'
import { type Call, callSpan, completedSpan, openCall } from './call-spans.ts'
import { OpenCalls } from './open-calls.ts'
import {
  agentOf,
  buildSpan,
  commonValues,
  KIND_CLIENT,
  milliseconds,
  type RunFacts,
  recordValues,
  type SpanParts,
  type Values,
} from './span-builder.ts'

/** Span ids. Enough to refuse a second body for any span of the last days; the oldest is forgotten first. */
const MAX_REMEMBERED_SPANS = 65_536

/** An entry of one known type whose record belongs to a span. */
type Entry<R> = { entry: LogEntry; record: R; trace: SpanRef; run: RunFacts | undefined; end: number }

interface Run {
  facts: RunFacts
  /** Turns whose prompt a program wrote. */
  machineTurns: Set<string>
}

export class SpanFold {
  readonly #runs = new Map<string, Run>()
  readonly #calls = new OpenCalls()
  readonly #sent = new Set<string>()

  /**
   * Spans of the next entry, children before their root. `newestCheckpoint` goes onto a turn's root; give the same one whenever
   * the same entry is folded for sending again.
   */
  apply(entry: LogEntry, newestCheckpoint?: string): Span[] {
    return this.#spans(entry, newestCheckpoint)
      .filter(({ spanId }) => this.#isNew(spanId))
      .map(buildSpan)
  }

  /** Like `apply` for an entry whose spans were sent before. */
  skip(entry: LogEntry): void {
    for (const { spanId } of this.#spans(entry, undefined)) this.#isNew(spanId)
  }

  #isNew(spanId: string): boolean {
    if (this.#sent.has(spanId)) return false
    this.#sent.add(spanId)
    if (this.#sent.size > MAX_REMEMBERED_SPANS) {
      for (const oldest of this.#sent) {
        this.#sent.delete(oldest)
        break
      }
    }
    return true
  }

  #spans(entry: LogEntry, newestCheckpoint: string | undefined): SpanParts[] {
    const { record } = entry
    const key = runKey(record.run)
    const end = milliseconds(record.time)
    if (record.type === 'run.opened') {
      this.#runs.set(key, { facts: record.body, machineTurns: new Set() })
      return []
    }
    if (record.type === 'run.closed') {
      this.#runs.delete(key)
      return this.#calls.end(key, end)
    }
    if (record.type === 'approval.consumed') {
      // From here on the approval can't end the call any more.
      const call = this.#calls.find((open) => open.approval === record.body.approval)
      if (call !== undefined) delete call.approval
      return []
    }
    const { trace } = record
    const run = this.#runs.get(key)
    if (record.type === 'prompt.submitted' && record.body.machine && record.body.turn !== undefined) {
      run?.machineTurns.add(record.body.turn)
    }
    if (trace === undefined) return []
    const context = { entry, trace, run: run?.facts, end }
    switch (record.type) {
      case 'tool.decided':
        return this.#decided({ ...context, record })
      case 'tool.completed':
        return this.#completed({ ...context, record })
      case 'approval.requested':
        return this.#approvalRequested({ ...context, record })
      case 'approval.answered':
      case 'approval.expired':
        return this.#approvalClosed({ ...context, record })
      case 'model.message':
        return [messageSpan({ ...context, record })]
      case 'subagent.ended':
        return this.#subagentEnded({ ...context, record })
      case 'turn.closed':
        return this.#turnClosed({ ...context, record }, run, newestCheckpoint)
      case 'gap':
        return [gapSpan({ ...context, record })]
      case 'violation':
        return [violationSpan({ ...context, record })]
      default:
        return []
    }
  }

  #decided(at: Entry<RecordOf<'tool.decided'>>): SpanParts[] {
    const call = openCall(at.entry, at.record, at.run, runKey(at.record.run))
    const gate = span(at, { name: 'spanseal.gate', values: call?.decision ?? {} })
    if (call === null) return [gate]
    if (at.record.body.decision === 'deny' && at.record.body.enforced) {
      return [gate, callSpan(call, at.entry, { end: at.end, errorType: 'policy_denied' })]
    }
    this.#calls.add(call)
    return [gate]
  }

  #completed(at: Entry<RecordOf<'tool.completed'>>): SpanParts[] {
    const call = this.#calls.take(at.trace.span_id, at.record.body.decision)
    return [completedSpan(at.entry, at.record, at.trace, at.run, call)]
  }

  #approvalRequested(at: Entry<RecordOf<'approval.requested'>>): SpanParts[] {
    const { approval, decision, policy_hash } = at.record.body
    const call = this.#calls.find((open) => open.leaf === decision)
    if (call !== undefined) call.approval = approval
    const values = { [ATTR_SPANSEAL_APPROVAL_ID]: approval, [ATTR_SPANSEAL_POLICY_HASH]: policy_hash }
    return [span(at, { name: 'spanseal.approval', values: { ...call?.decision, ...values } })]
  }

  #approvalClosed(at: Entry<RecordOf<'approval.answered'> | RecordOf<'approval.expired'>>): SpanParts[] {
    const { body, type } = at.record
    const call = this.#calls.find((open) => open.approval === body.approval)
    const values: Values = {
      ...call?.tool,
      ...call?.decision,
      [ATTR_SPANSEAL_APPROVAL_ID]: body.approval,
      [ATTR_SPANSEAL_APPROVAL_ANSWER]: 'answer' in body ? body.answer : body.reason,
      [ATTR_SPANSEAL_APPROVAL_AUTHENTICATION]: 'answer' in body ? body.authentication : undefined,
    }
    const spans = [span(at, { name: 'spanseal.approval', values })]
    if (call === undefined || ('answer' in body && body.answer === 'approve')) return spans
    this.#calls.remove(call)
    const errorType = type === 'approval.expired' ? 'approval_expired' : 'approval_rejected'
    return [...spans, callSpan(call, at.entry, { end: at.end, errorType })]
  }

  #subagentEnded(at: Entry<RecordOf<'subagent.ended'>>): SpanParts[] {
    const { sub, sub_type, opened, finished } = at.record.body
    const name = `invoke_agent ${sub_type ?? 'subagent'}`
    const values = {
      [ATTR_GEN_AI_OPERATION_NAME]: 'invoke_agent',
      [ATTR_SPANSEAL_SUBAGENT_TYPE]: sub_type,
      [ATTR_SPANSEAL_UNFINISHED]: finished ? undefined : true,
    }
    const root = span(at, { name, start: milliseconds(opened), values })
    if (finished) return [root]
    // A background sub-agent is the root of its own trace and takes all of it along; a foreground one only its own calls.
    const inside = (call: Call) =>
      call.traceId === at.trace.trace_id && (at.trace.parent === undefined || call.sub === sub)
    return [...this.#calls.leave(inside, at.end), root]
  }

  #turnClosed(
    at: Entry<RecordOf<'turn.closed'>>,
    run: Run | undefined,
    newestCheckpoint: string | undefined,
  ): SpanParts[] {
    const { turn, part, opened, finished } = at.record.body
    const machine = run?.machineTurns.delete(turn) === true
    const values = {
      [ATTR_GEN_AI_OPERATION_NAME]: 'invoke_agent',
      [ATTR_SPANSEAL_TURN_PART]: part,
      [ATTR_SPANSEAL_MACHINE_PROMPT]: machine ? true : undefined,
      [ATTR_SPANSEAL_UNFINISHED]: finished ? undefined : true,
      [ATTR_SPANSEAL_CHECKPOINT]: fitting(newestCheckpoint),
    }
    const root = span(at, { name: `invoke_agent ${agentOf(at.record, at.run)}`, start: milliseconds(opened), values })
    if (finished) return [root]
    return [...this.#calls.leave((call) => call.traceId === at.trace.trace_id, at.end), root]
  }
}

function runKey(run: Envelope['run']): string {
  return run === undefined ? '' : `${run.id}/${run.part}`
}

type OwnParts = Pick<SpanParts, 'name' | 'kind' | 'start' | 'failed'> & { values: Values }

/** A span with the record's own ids; it ends when the record was made. */
function span(at: Entry<LogEntry['record']>, parts: OwnParts): SpanParts {
  const values = () => ({ ...commonValues(at.record, at.run), ...parts.values, ...recordValues(at.entry) })
  const { trace_id, span_id, parent } = at.trace
  return { ...parts, traceId: trace_id, spanId: span_id, parent, end: at.end, values }
}

function messageSpan(at: Entry<RecordOf<'model.message'>>): SpanParts {
  const { kind, model, usage } = at.record.body
  const values = {
    [ATTR_GEN_AI_OPERATION_NAME]: 'chat',
    [ATTR_GEN_AI_REQUEST_MODEL]: model,
    [ATTR_SPANSEAL_MESSAGE_KIND]: kind,
    [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: usage?.input,
    [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: usage?.output,
    [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: usage?.cache_read,
    [ATTR_GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS]: usage?.cache_write,
  }
  return span(at, { name: model === undefined ? 'chat' : `chat ${model}`, kind: KIND_CLIENT, values })
}

function gapSpan(at: Entry<RecordOf<'gap'>>): SpanParts {
  const { kind, count } = at.record.body
  return span(at, {
    name: 'spanseal.gap',
    values: { [ATTR_SPANSEAL_GAP_KIND]: kind, [ATTR_SPANSEAL_GAP_COUNT]: count },
  })
}

/** The decision that a violation went against; for other arguments it may have been any. */
const VIOLATED: Partial<Record<Body<'violation'>['kind'], Decision>> = {
  executed_against_policy: 'deny',
  executed_without_approval: 'ask',
}

function violationSpan(at: Entry<RecordOf<'violation'>>): SpanParts {
  const { kind } = at.record.body
  const values = { [ATTR_SPANSEAL_VIOLATION_KIND]: kind, [ATTR_SPANSEAL_DECISION]: VIOLATED[kind] }
  return span(at, { name: 'spanseal.violation', failed: true, values })
}

function fitting(checkpoint: string | undefined): string | undefined {
  if (checkpoint === undefined) return undefined
  return new TextEncoder().encode(checkpoint).length <= MAX_RECORD_ATTRIBUTE_CHARS ? checkpoint : undefined
}
