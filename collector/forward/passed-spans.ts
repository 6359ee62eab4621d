// Spans of others as they are passed on: ids, times and structure unchanged, marked as received and not observed. Without content, an
// attribute leaves only when it is a number, a boolean, or a text under a key that is known to hold an id or a name.
import { ATTR_SPANSEAL_CONTENT_CUT } from '../../conventions/attributes.ts'
import { MAX_TEXT_CHARS } from '../../conventions/dialects/view.ts'
import { NAME_KEYS, RESOURCE_NAME_KEYS, SESSION_KEYS } from '../../conventions/import.ts'
import {
  type AnyValue,
  attribute,
  type ExportTraceServiceRequest,
  type KeyValue,
  type Span,
} from '../../conventions/otlp.ts'
import { cut, MAX_CONTENT_BYTES } from './content.ts'
import { type EncodedSpan, encodePassed } from './request.ts'

export interface PassSettings {
  /** Put on each span: which record it resolves to, and that it is a receipt only. */
  marks: readonly KeyValue[]
  /** Whether the destination takes content. */
  content: boolean
  /** Sessions that hooks speak for: their spans are not passed on, ours tell of the same calls. */
  hooked: ReadonlySet<string>
}

/** The spans of a request in order, null for each that is withheld. The request holds no `spanseal.*` attributes any more. */
export function* passedSpans(
  request: ExportTraceServiceRequest,
  settings: PassSettings,
): Generator<EncodedSpan | null> {
  const { content, hooked } = settings
  for (const { resource, scopeSpans = [] } of request.resourceSpans) {
    const ofResource = resource?.attributes ?? []
    const all = isHooked(ofResource, hooked)
    const traces = all
      ? new Set<string>()
      : hookedTraces(
          scopeSpans.flatMap(({ spans = [] }) => spans),
          hooked,
        )
    const named = ofResource.filter(({ key, value }) => RESOURCE_NAME_KEYS.has(key) && isName(value))
    for (const { scope = {}, spans = [] } of scopeSpans) {
      const { name, version, attributes } = scope
      const kept = leaving(attributes, content)
      const origin = { resource: named, scope: { name: name ?? '', version: version ?? '', attributes: kept } }
      for (const span of spans) {
        yield all || traces.has(span.traceId) ? null : encodePassed(passed(span, settings), origin)
      }
    }
  }
}

function isHooked(attributes: readonly KeyValue[], hooked: ReadonlySet<string>): boolean {
  return attributes.some(
    ({ key, value }) =>
      SESSION_KEYS.includes(key) && value !== undefined && 'stringValue' in value && hooked.has(value.stringValue),
  )
}

/** Traces of which one span names such a session: an agent may name it on some of its spans only. */
function hookedTraces(spans: readonly Span[], hooked: ReadonlySet<string>): Set<string> {
  return new Set(spans.filter(({ attributes = [] }) => isHooked(attributes, hooked)).map(({ traceId }) => traceId))
}

function passed(span: Span, { marks, content }: PassSettings): Span {
  const { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, events, links, status } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: nameOf(name),
    ...(kind !== undefined && { kind }),
    startTimeUnixNano: startTimeUnixNano ?? '0',
    endTimeUnixNano: endTimeUnixNano ?? '0',
    attributes: [...leaving(span.attributes, content), ...marks],
    ...(events !== undefined && {
      events: events.map((event) => ({
        timeUnixNano: event.timeUnixNano ?? '0',
        name: nameOf(event.name ?? ''),
        attributes: leaving(event.attributes, content),
      })),
    }),
    ...(links !== undefined && {
      links: links.map((link) => ({
        traceId: link.traceId,
        spanId: link.spanId,
        attributes: leaving(link.attributes, content),
      })),
    }),
    status: {
      ...(status?.code !== undefined && { code: status.code }),
      ...(content && status?.message !== undefined && { message: cut(status.message) }),
    },
  }
}

/** The attributes that may leave. Content that is too long is cut where it is a text, else left out; the mark says so. */
function leaving(attributes: readonly KeyValue[] = [], content: boolean): KeyValue[] {
  if (!content) return attributes.filter(({ key, value }) => isPlain(value) || (NAME_KEYS.has(key) && isName(value)))
  let isCut = false
  const kept = attributes.flatMap((each): KeyValue[] => {
    const { key, value } = each
    if (value === undefined || Buffer.byteLength(JSON.stringify(value)) <= MAX_CONTENT_BYTES) return [each]
    isCut = true
    return 'stringValue' in value ? [{ key, value: { stringValue: cut(value.stringValue) } }] : []
  })
  return isCut ? [...kept, attribute(ATTR_SPANSEAL_CONTENT_CUT, true)] : kept
}

function isPlain(value: AnyValue | undefined): boolean {
  return value !== undefined && ('boolValue' in value || 'intValue' in value || 'doubleValue' in value)
}

/** A text that can be an id or a name, or a list of them. Longer text is content by mistake. */
function isName(value: AnyValue | undefined): boolean {
  if (value === undefined) return false
  if ('stringValue' in value) return value.stringValue.length <= MAX_TEXT_CHARS
  return 'arrayValue' in value && (value.arrayValue.values ?? []).every((each) => 'stringValue' in each && isName(each))
}

function nameOf(name: string): string {
  return name.length <= MAX_TEXT_CHARS ? name : name.slice(0, MAX_TEXT_CHARS).toWellFormed()
}
