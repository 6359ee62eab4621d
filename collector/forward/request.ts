// Spans to one OTLP/JSON request: grouped by agent under the resource that names it. Each span is turned into text once.
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_NAMESPACE,
  ATTR_SPANSEAL_LOG_ID,
} from '../../conventions/attributes.ts'
import type { KeyValue, Span } from '../../conventions/otlp.ts'
import { attribute } from '../../conventions/otlp.ts'

/** What the owner configured of the resource; the attributes that name agent and log can't be overwritten by it. */
export type ResourceAttributes = Readonly<Record<string, string>>

/** A span as it travels, and what else must be known of it. */
export interface EncodedSpan {
  traceId: string
  spanId: string
  agent: string
  log: string
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

/** Body of POST /v1/traces. Spans keep their order within one agent. */
export function exportRequest(
  spans: readonly EncodedSpan[],
  settings: { resourceAttributes: ResourceAttributes; version: string },
): string {
  const groups = new Map<string, { agent: string; log: string; spans: string[] }>()
  for (const { agent, log, json } of spans) {
    const group = groups.get(`${log}/${agent}`)
    if (group === undefined) groups.set(`${log}/${agent}`, { agent, log, spans: [json] })
    else group.spans.push(json)
  }
  const scope = JSON.stringify({ name: SCOPE, version: settings.version })
  const resourceSpans = [...groups.values()].map((group) => {
    const attributes = JSON.stringify(resource(group.agent, group.log, settings.resourceAttributes))
    return `{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${scope},"spans":[${group.spans.join(',')}]}]}`
  })
  return `{"resourceSpans":[${resourceSpans.join(',')}]}`
}

function resource(agent: string, log: string, configured: ResourceAttributes): KeyValue[] {
  const ours = {
    [ATTR_SERVICE_NAME]: agent,
    [ATTR_SERVICE_NAMESPACE]: 'spanseal',
    [ATTR_SERVICE_INSTANCE_ID]: log,
  }
  return Object.entries({ ...configured, ...ours }).map(([key, value]) => attribute(key, value))
}

function text(span: Span, key: string): string {
  const value = span.attributes?.find((entry) => entry.key === key)?.value
  return value !== undefined && 'stringValue' in value && typeof value.stringValue === 'string' ? value.stringValue : ''
}
