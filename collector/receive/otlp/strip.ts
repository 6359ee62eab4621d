// Attributes only the collector may set: taken out of incoming T3 telemetry and counted, so that nothing a sender writes can pass
// for evidence in a view or on a forwarded span. The body as it came is what a record commits to; this changes the decoded copy.
import type { ExportTraceServiceRequest, KeyValue } from '../../../conventions/otlp.ts'

const RESERVED = 'spanseal.'

/** Removes `spanseal.*` from resources, scopes, spans, events and links of a decoded request, in place. Returns how many there were. */
export function stripReserved(request: ExportTraceServiceRequest): number {
  let count = 0
  const strip = (owner: { attributes?: KeyValue[] } | undefined) => {
    if (owner?.attributes === undefined) return
    const kept = owner.attributes.filter(({ key }) => !key.startsWith(RESERVED))
    count += owner.attributes.length - kept.length
    owner.attributes = kept
  }
  for (const { resource, scopeSpans = [] } of request.resourceSpans) {
    strip(resource)
    for (const { scope, spans = [] } of scopeSpans) {
      strip(scope)
      for (const span of spans) {
        strip(span)
        span.events?.forEach(strip)
        span.links?.forEach(strip)
      }
    }
  }
  return count
}
