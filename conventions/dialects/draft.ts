// What a dialect hands over, and what every dialect says alike: how a span ended, how long it took.
import type { Span, SpanEvent } from '../otlp.ts'
import type { Item, LogItem, PointItem, SpanItem } from './item.ts'
import { readMessages } from './messages.ts'
import { parse, Reader } from './reader.ts'
import type { Content, Dialect, Operation, Outcome, RequestedCall, Tokens, View } from './view.ts'

/** A view in the making: what is undefined was not said. */
export type Draft = { dialect: Dialect; operation: Operation | null } & {
  [Key in
    | 'agent'
    | 'session'
    | 'model'
    | 'provider'
    | 'response'
    | 'tool'
    | 'call'
    | 'decision'
    | 'finish'
    | 'error_type']?: string | undefined
} & {
  tokens?: { [Key in keyof Tokens]?: number | undefined } | undefined
  outcome?: Outcome | undefined
  duration_ms?: number | undefined
  requested?: RequestedCall[]
  metric?: NonNullable<View['metric']>
  content?: { [Key in keyof Content]?: string | undefined }
}

/** Reads one dialect; null where the item is none of it. */
export type DialectReader = (read: Reader, item: Item) => Draft | null

/** What a span's status and error.type say; what only the text of an exception says is content. */
export function ending(
  read: Reader,
  { span }: SpanItem,
): Pick<Draft, 'outcome' | 'error_type' | 'duration_ms'> & {
  error: string | undefined
} {
  const type = read.text('error.type')
  const code = span.status?.code
  const failed = code === 2 || type !== undefined
  const exception = exceptionOf(span)
  return {
    outcome: failed ? 'error' : code === 1 ? 'success' : undefined,
    error_type: failed ? (type ?? exception?.text('exception.type')) : undefined,
    error: failed ? (span.status?.message ?? exception?.content('exception.message')) : undefined,
    duration_ms: lengthOf(span),
  }
}

/** Reader of the last exception event. */
function exceptionOf(span: Span): Reader | undefined {
  const event = span.events?.findLast(({ attributes = [] }) =>
    attributes.some(({ key }) => key.startsWith('exception.')),
  )
  return event && eventReader(event)
}

export function eventReader(event: SpanEvent): Reader {
  return new Reader(event.attributes ?? [])
}

const NANOS_PER_MS = 1e6

function lengthOf({ startTimeUnixNano, endTimeUnixNano }: Span): number | undefined {
  const start = nanos(startTimeUnixNano)
  const end = nanos(endTimeUnixNano)
  if (start === undefined || end === undefined || end < start) return undefined
  return Number(end - start) / NANOS_PER_MS
}

/** Exact nanoseconds; undefined for none. */
export function nanos(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return undefined
  const value = BigInt(text)
  return value === 0n ? undefined : value
}

/** Calls asked for and reasoning in an answer that came as JSON text. */
export function said(output: string | undefined): { requested: RequestedCall[]; reasoning: string | undefined } {
  if (output === undefined) return { requested: [], reasoning: undefined }
  const found = readMessages(parse(output))
  return { requested: found.requested, reasoning: found.reasoning }
}

/** The outcome a flag reports. */
export function outcomeOf(success: boolean | undefined): Outcome | undefined {
  return success === undefined ? undefined : success ? 'success' : 'error'
}

/** Name of a log record's event: the attribute, else the field of newer SDKs (Codex has a place in its source there). */
export function eventName(read: Reader, { log }: LogItem): string {
  return read.peek('event.name') ?? log.eventName ?? ''
}

/** The entry of a table under a name somebody else chose. */
export function entry<T>(table: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

/** A text of the item's resource. */
export function ofResource({ resource }: Item, name: string): string | undefined {
  const value = resource.findLast(({ key }) => key === name)?.value
  return value !== undefined && 'stringValue' in value ? value.stringValue : undefined
}

/** The view of a metric's point is the same for all dialects: a name, a value and what it is about. */
export function pointDraft(dialect: Dialect, read: Reader, { metric, point }: PointItem): Draft {
  const value = point.asDouble ?? point.asInt ?? point.sum ?? point.count
  const number = value === undefined ? undefined : Number(value)
  // Elsewhere `type` is another matter: lines that were added, time that was spent.
  const token_type = metric.name.includes('token') ? read.text('gen_ai.token.type', 'token_type', 'type') : undefined
  read.known('gen_ai.operation.name', 'gen_ai.tool.type', 'server.address', 'server.port')
  return {
    dialect,
    operation: 'metric',
    session: read.text('gen_ai.conversation.id', 'session.id', 'conversation.id'),
    agent: read.text('gen_ai.agent.name', 'agent_name'),
    model: read.text('gen_ai.response.model', 'gen_ai.request.model', 'model'),
    provider: read.text('gen_ai.provider.name', 'gen_ai.system'),
    tool: read.text('gen_ai.tool.name', 'function_name', 'tool_name', 'tool'),
    decision: read.text('decision'),
    outcome: outcomeOf(read.flag('success')),
    metric: {
      name: metric.name,
      ...(metric.unit && { unit: metric.unit }),
      ...(number !== undefined && Number.isFinite(number) && { value: number }),
      ...(token_type !== undefined && { token_type }),
    },
  }
}
