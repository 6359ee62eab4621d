// Spans to one OTLP/JSON request: grouped by agent under the resource that names it. Each span is turned into text once.
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_NAMESPACE,
  ATTR_SPANSEAL_LOG_ID,
} from '../../conventions/attributes.ts'
import type { KeyValue, ScopeSpans, Span } from '../../conventions/otlp.ts'
import { attribute } from '../../conventions/otlp.ts'

/** What the owner configured of the resource; the attributes that name agent and log can't be overwritten by it. */
export type ResourceAttributes = Readonly<Record<string, string>>

/** A span as it travels, and what else must be known of it. */
export interface EncodedSpan {
  traceId: string
  spanId: string
  agent: string
  log: string
  /** Of a span of others: its resource's attributes and its scope, as JSON. */
  origin?: string
  /** OTLP/JSON. */
  json: string
  /** UTF-8 bytes of `json`. */
  size: number
}

/** Name of the instrumentation scope. */
export const SCOPE = 'spanseal'

export function encodeSpan(span: Span): EncodedSpan {
  const json = JSON.stringify(span)
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    agent: text(span, ATTR_GEN_AI_AGENT_NAME),
    log: text(span, ATTR_SPANSEAL_LOG_ID),
    json,
    size: Buffer.byteLength(json),
  }
}

interface Origin {
  resource: KeyValue[]
  scope: NonNullable<ScopeSpans['scope']>
}

/** A span of others, under the resource and scope it came with. */
export function encodePassed(span: Span, from: Origin): EncodedSpan {
  const json = JSON.stringify(span, finite)
  const origin = JSON.stringify(from, finite)
  const size = Buffer.byteLength(json) + Buffer.byteLength(origin)
  return { traceId: span.traceId, spanId: span.spanId, agent: '', log: '', origin, json, size }
}

/** NaN and the infinities are texts in OTLP/JSON. */
function finite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** Body of POST /v1/traces. Spans keep their order within one agent. */
export function exportRequest(
  spans: readonly EncodedSpan[],
  settings: { resourceAttributes: ResourceAttributes; version: string },
): string {
  const groups = new Map<string, { first: EncodedSpan; spans: string[] }>()
  for (const span of spans) {
    const key = span.origin ?? `${span.log}/${span.agent}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { first: span, spans: [span.json] })
    else group.spans.push(span.json)
  }
  const resourceSpans = [...groups.values()].map(({ first, spans: members }) => {
    const { resource, scope } = originOf(first, settings)
    const attributes = JSON.stringify(resource)
    return `{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${JSON.stringify(scope)},"spans":[${members.join(',')}]}]}`
  })
  return `{"resourceSpans":[${resourceSpans.join(',')}]}`
}

function originOf(
  { agent, log, origin }: EncodedSpan,
  { resourceAttributes, version }: { resourceAttributes: ResourceAttributes; version: string },
): Origin {
  if (origin !== undefined) {
    const { resource, scope } = JSON.parse(origin) as Origin
    const theirs = new Set(resource.map(({ key }) => key))
    return { scope, resource: [...keyValues(resourceAttributes).filter(({ key }) => !theirs.has(key)), ...resource] }
  }
  const ours = {
    [ATTR_SERVICE_NAME]: agent,
    [ATTR_SERVICE_NAMESPACE]: 'spanseal',
    [ATTR_SERVICE_INSTANCE_ID]: log,
  }
  return { scope: { name: SCOPE, version }, resource: keyValues({ ...resourceAttributes, ...ours }) }
}

function keyValues(attributes: ResourceAttributes): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => attribute(key, value))
}

function text(span: Span, key: string): string {
  const value = span.attributes?.find((entry) => entry.key === key)?.value
  return value !== undefined && 'stringValue' in value && typeof value.stringValue === 'string' ? value.stringValue : ''
}
