// Copies of records as OTLP brings them back: out of a backend's answer or a file. Nothing is believed here, only read.
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SPANSEAL_LOG_ID } from '../../conventions/attributes.ts'
import type { Copy } from '../../conventions/copy.ts'
import type { AnyValue, KeyValue } from '../../conventions/otlp.ts'

/** What a place was asked for and gave. */
export interface Found {
  copies: Copy[]
  /** Why something may be there that was not read: a limit, a window, an answer that can't be used. */
  notChecked: string[]
}

/** Copies held in memory at once: a record of each is about a kilobyte. */
export const MAX_COPIES = 100_000

/** A place can't be asked, or answers nothing that can be used. The message is for people. */
export class ReadBackError extends Error {
  override name = 'ReadBackError'
}

/** An answer is larger than is read; a narrower question may have a smaller one. */
export class AnswerTooLarge extends ReadBackError {
  override name = 'AnswerTooLarge'
}

interface Item {
  traceId?: unknown
  spanId?: unknown
  name?: unknown
  attributes?: unknown
}

/**
 * Copies in an OTLP/JSON request, or in what Tempo gives for a trace (`batches`, or `trace` around it): spans and log records of
 * the log `logId`, or of all logs. Anything of another shape is passed over.
 */
export function copiesIn(body: unknown, logId?: string): Copy[] {
  const root = object(object(body).trace ?? body)
  const groups = [...list(root.resourceSpans), ...list(root.batches), ...list(root.resourceLogs)]
  return groups.flatMap((group) => {
    const { resource, scopeSpans, instrumentationLibrarySpans, scopeLogs } = object(group)
    const instance = read(object(resource).attributes, ATTR_SERVICE_INSTANCE_ID)
    return [...list(scopeSpans), ...list(instrumentationLibrarySpans), ...list(scopeLogs)].flatMap((scope) =>
      [...list(object(scope).spans), ...list(object(scope).logRecords)]
        .map((item) => copyOf(object(item)))
        .filter((copy) => logId === undefined || (copy.attribute(ATTR_SPANSEAL_LOG_ID) ?? instance) === logId),
    )
  })
}

function copyOf({ traceId, spanId, name, attributes }: Item): Copy {
  return {
    traceId: hexId(traceId, 32),
    spanId: hexId(spanId, 16),
    name: typeof name === 'string' ? name : '',
    attribute: (key) => read(attributes, key),
  }
}

/** An id in hex, as OTLP/JSON has it, or in base64, as Tempo gives it; empty when it is neither. */
export function hexId(id: unknown, chars: number): string {
  if (typeof id !== 'string') return ''
  if (/^[0-9a-fA-F]+$/.test(id) && id.length === chars) return id.toLowerCase()
  const hex = Buffer.from(id, 'base64').toString('hex')
  return hex.length === chars ? hex : ''
}

function read(attributes: unknown, key: string): string | undefined {
  const value = list(attributes)
    .map((entry) => object(entry) as Partial<KeyValue>)
    .find((entry) => entry.key === key)?.value as AnyValue | undefined
  return value !== undefined && 'stringValue' in value && typeof value.stringValue === 'string'
    ? value.stringValue
    : undefined
}

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
