// What the door must know of a body before it answers: is it OTLP, how many items count, which are invalid, what a sender had no
// right to set, and whose sessions it speaks of. Pure, and the expensive part of receiving: it runs off the thread that answers hooks.
import { type Item, logItems, pointItems, spanItems } from '../../../conventions/dialects/item.ts'
import { isSession, SESSION_KEYS, type Signal } from '../../../conventions/import.ts'
import type { KeyValue } from '../../../conventions/otlp.ts'
import { decodeLogs, decodeMetrics, decodeTraces, type Encoding, type InvalidSpan, type Malformed } from './decode.ts'
import { attributesOf, isOwn } from './own.ts'
import { MAX_SESSIONS, skim } from './skim.ts'
import { stripReserved } from './strip.ts'

/** Invalid spans that are named in an answer; all are counted. */
const NAMED_SPANS = 5

export interface Facts {
  /** Spans, log records or data points that count. */
  count: number
  /** Spans that break a rule of OTLP: in the body, absent from views. `named`: the first few. */
  invalid: { total: number; named: InvalidSpan[] }
  /** `spanseal.*` attributes the sender had no right to set. */
  spoofed: number
  /** Items this collector sent out itself: they came back, and say nothing new. */
  loops: number
  /** Distinct sessions the items name, at most MAX_SESSIONS. */
  sessions: string[]
}

export type Inspected = ({ ok: true } & Facts) | Malformed

const MESSAGES: Record<Signal, string> = {
  traces: 'ExportTraceServiceRequest',
  logs: 'ExportLogsServiceRequest',
  metrics: 'ExportMetricsServiceRequest',
}

/** Looks through an uncompressed body. `logId`: of this collector, to know its own items by. Never throws on bad input. */
export function inspect(body: Uint8Array, encoding: Encoding, signal: Signal, logId: string): Inspected {
  const plain = encoding === 'protobuf' ? skim(body, MESSAGES[signal]) : null
  if (plain !== null && plain.reserved === 0) {
    const { items, sessions } = plain
    return { ok: true, count: items, invalid: { total: 0, named: [] }, spoofed: 0, loops: 0, sessions }
  }
  switch (signal) {
    case 'traces': {
      const decoded = decodeTraces(body, encoding)
      if (!decoded.ok) return decoded
      const { request, spans } = decoded
      return factsOf(request, request.resourceSpans, spanItems(request), spans.invalid, logId)
    }
    case 'logs': {
      const decoded = decodeLogs(body, encoding)
      if (!decoded.ok) return decoded
      return factsOf(decoded.request, decoded.request.resourceLogs, logItems(decoded.request), [], logId)
    }
    case 'metrics': {
      const decoded = decodeMetrics(body, encoding)
      if (!decoded.ok) return decoded
      return factsOf(decoded.request, decoded.request.resourceMetrics, pointItems(decoded.request), [], logId)
    }
  }
}

function factsOf(
  request: object,
  resources: readonly { resource?: { attributes?: KeyValue[] } }[],
  items: Iterable<Item>,
  invalid: InvalidSpan[],
  logId: string,
): Inspected {
  const sessions = new Set<string>()
  const look = (attributes: readonly KeyValue[] = []) => {
    for (const { key, value } of attributes) {
      if (sessions.size >= MAX_SESSIONS || !SESSION_KEYS.includes(key)) continue
      const text = value !== undefined && 'stringValue' in value ? value.stringValue : undefined
      if (isSession(text)) sessions.add(text)
    }
  }
  for (const { resource } of resources) look(resource?.attributes)
  let all = 0
  let loops = 0
  for (const item of items) {
    all++
    look(attributesOf(item))
    if (isOwn(item, logId)) loops++
  }
  return {
    ok: true,
    count: all - invalid.length,
    invalid: { total: invalid.length, named: invalid.slice(0, NAMED_SPANS) },
    spoofed: stripReserved(request),
    loops,
    sessions: [...sessions],
  }
}
