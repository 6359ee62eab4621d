// Spans to one OTLP request: grouped by agent under the resource that names it.
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_NAMESPACE,
  ATTR_SPANSEAL_LOG_ID,
} from '../../conventions/attributes.ts'
import type { ExportTraceServiceRequest, KeyValue, Span } from '../../conventions/otlp.ts'
import { attribute } from '../../conventions/otlp.ts'

/** What the owner configured of the resource; the attributes that name agent and log can't be overwritten by it. */
export type ResourceAttributes = Readonly<Record<string, string>>

const SCOPE = 'spanseal'

/** Body of POST /v1/traces. Spans keep their order within one agent. */
export function exportRequest(
  spans: readonly Span[],
  settings: { resourceAttributes: ResourceAttributes; version: string },
): ExportTraceServiceRequest {
  const groups = new Map<string, { agent: string; log: string; spans: Span[] }>()
  for (const span of spans) {
    const agent = text(span, ATTR_GEN_AI_AGENT_NAME)
    const log = text(span, ATTR_SPANSEAL_LOG_ID)
    const group = groups.get(`${log}/${agent}`) ?? { agent, log, spans: [] }
    group.spans.push(span)
    groups.set(`${log}/${agent}`, group)
  }
  const scope = { name: SCOPE, version: settings.version }
  return {
    resourceSpans: [...groups.values()].map((group) => ({
      resource: { attributes: resource(group.agent, group.log, settings.resourceAttributes) },
      scopeSpans: [{ scope, spans: group.spans }],
    })),
  }
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
