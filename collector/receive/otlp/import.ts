// A body that was recorded -> the rows the index keeps. Receipt only: nothing here says that what an item tells is true.
import { classified } from '../../../conventions/dialects/classify.ts'
import { type Item, logItems, pointItems, spanItems } from '../../../conventions/dialects/item.ts'
import type { RequestedCall, View } from '../../../conventions/dialects/view.ts'
import type {
  ForeignRecord,
  ImportedItem,
  ImportedSpan,
  ImportedView,
  Signal,
  Would,
} from '../../../conventions/import.ts'
import type { KeyValue } from '../../../conventions/otlp.ts'
import { plainObject } from '../../../conventions/plain.ts'
import { decodeLogs, decodeMetrics, decodeTraces, type Encoding, type Malformed } from './decode.ts'
import { attributesOf, isOwn } from './own.ts'
import { stripReserved } from './strip.ts'

/** What the policy in force says of a tool call; undefined where the call does not say enough. */
export type Judge = (view: View) => Would | undefined

export interface Lookers {
  judge?: Judge
  /** The record a peer signed that an item carries, where it verifies; asked before reserved attributes are taken out. */
  foreign?: (read: (key: string) => unknown) => ForeignRecord | undefined
}

/**
 * All items of a recorded body, in order, invalid ones marked, `spanseal.*` attributes taken out, and this collector's own (by `logId`)
 * left out. Throws when the body does not decode: it did when it was recorded.
 */
export function readImport(
  body: Uint8Array,
  encoding: Encoding,
  signal: Signal,
  logId: string,
  { judge, foreign }: Lookers = {},
): ImportedItem[] {
  const { request, items, invalid } = itemsOf(body, encoding, signal)
  const own = items.map((item) => isOwn(item, logId))
  const records = foreign && items.map((item) => foreign((key) => textOf(attributesOf(item), key)))
  stripReserved(request)
  const rows: ImportedItem[] = []
  for (const [index, item] of items.entries()) {
    if (own[index]) continue
    const row = rowOf(item, !invalid.has(index), judge)
    const record = records?.[index]
    if (record !== undefined) row.foreign = record
    rows.push(row)
  }
  return rows
}

/** What an item is taken for. Its content is looked at by the judge only, and left behind. */
function viewOf(item: Item, judge: Judge | undefined): ImportedView {
  const { facts, content, cut } = classified(item)
  const would = content.arguments === undefined ? undefined : judge?.({ ...facts, content, cut })
  if (facts.requested.length > 0) facts.requested = facts.requested.map(nameOf)
  const view: ImportedView = facts
  if (would !== undefined) view.would = would
  return view
}

function nameOf({ name, id }: RequestedCall): RequestedCall {
  return id === undefined ? { name } : { name, id }
}

function itemsOf(
  body: Uint8Array,
  encoding: Encoding,
  signal: Signal,
): { request: object; items: Item[]; invalid: ReadonlySet<number> } {
  switch (signal) {
    case 'traces': {
      const { request, spans } = decoded(decodeTraces(body, encoding))
      const invalid = new Set(spans.invalid.map(({ index }) => index))
      return { request, items: [...spanItems(request)], invalid }
    }
    case 'logs': {
      const { request } = decoded(decodeLogs(body, encoding))
      return { request, items: [...logItems(request)], invalid: new Set() }
    }
    case 'metrics': {
      const { request } = decoded(decodeMetrics(body, encoding))
      return { request, items: [...pointItems(request)], invalid: new Set() }
    }
  }
}

function decoded<T extends { ok: true }>(result: T | Malformed): T {
  if (!result.ok) throw new Error(`a recorded OTLP body does not decode: ${result.message}`)
  return result
}

function rowOf(item: Item, valid: boolean, judge: Judge | undefined): ImportedItem {
  const row = bareRow(item, valid, plainObject(attributesOf(item)), viewOf(item, judge))
  const service = textOf(item.resource, 'service.name')
  if (service !== undefined) row.service = service
  if (item.scope.name !== undefined) row.scope = item.scope.name
  return row
}

/** What there is beside where it came from. */
function bareRow(item: Item, valid: boolean, attributes: ImportedItem['attributes'], view: ImportedView): ImportedItem {
  switch (item.signal) {
    case 'span': {
      const { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, status } = item.span
      // Filled in, not copied together: there may be millions.
      const row: ImportedSpan = {
        signal: 'traces',
        trace_id: traceId,
        span_id: spanId,
        name,
        kind: kind ?? 0,
        start_ns: startTimeUnixNano,
        end_ns: endTimeUnixNano,
        attributes,
        view,
        status: status?.code ?? 0,
        valid,
      }
      if (parentSpanId !== undefined) row.parent_span_id = parentSpanId
      return row
    }
    case 'log': {
      const {
        timeUnixNano = '0',
        observedTimeUnixNano = '0',
        severityNumber = 0,
        traceId,
        spanId,
        eventName,
      } = item.log
      const event = eventName ?? textOf(attributesOf(item), 'event.name')
      return {
        signal: 'logs',
        time_ns: timeUnixNano === '0' ? observedTimeUnixNano : timeUnixNano,
        severity: severityNumber,
        ...(event !== undefined && { event }),
        ...(traceId !== undefined && { trace_id: traceId }),
        ...(spanId !== undefined && { span_id: spanId }),
        attributes,
        view,
      }
    }
    case 'metric': {
      const { metric, point } = item
      const value = point.asInt === undefined ? point.asDouble : Number(point.asInt)
      return {
        signal: 'metrics',
        metric: metric.name,
        ...(metric.unit !== undefined && { unit: metric.unit }),
        kind: metric.kind,
        temporality: metric.temporality ?? 0,
        start_ns: point.startTimeUnixNano ?? '0',
        time_ns: point.timeUnixNano ?? '0',
        ...(value !== undefined && { value }),
        ...(point.count !== undefined && { count: String(point.count) }),
        ...(point.sum !== undefined && { sum: point.sum }),
        attributes,
        view,
      }
    }
  }
}

/** Text under a key, where it is a text: of equal keys the last one. */
function textOf(attributes: readonly KeyValue[], name: string): string | undefined {
  const value = attributes.findLast(({ key }) => key === name)?.value
  return value !== undefined && 'stringValue' in value ? value.stringValue : undefined
}
