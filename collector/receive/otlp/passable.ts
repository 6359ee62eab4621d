// A recorded body of /v1/traces -> the spans of it that may be passed on to a backend.
import { ATTR_SPANSEAL_LOG_ID } from '../../../conventions/attributes.ts'
import type { ExportTraceServiceRequest, KeyValue } from '../../../conventions/otlp.ts'
import { decodeTraces, type Encoding } from './decode.ts'
import { stripReserved } from './strip.ts'

/** `relayed`: spans left out because a collector like this one had sent them, valid ones only. */
export type Passable = { ok: true; request: ExportTraceServiceRequest; relayed: number } | { ok: false }

/**
 * The request without invalid spans, without what any collector of ours sent (two that pass on to each other would never end), and
 * without `spanseal.*` attributes. Not ok: the body does not decode.
 */
export function readPassable(body: Uint8Array, encoding: Encoding, logId: string): Passable {
  const decoded = decodeTraces(body, encoding)
  if (!decoded.ok) return { ok: false }
  const invalid = new Set(decoded.spans.invalid.map(({ index }) => index))
  let index = 0
  let relayed = 0
  for (const { resource, scopeSpans = [] } of decoded.request.resourceSpans) {
    const from = logOf(resource?.attributes)
    for (const scope of scopeSpans) {
      scope.spans =
        scope.spans?.filter(({ attributes }) => {
          if (invalid.has(index++)) return false
          const log = logOf(attributes) ?? from
          // Our own were counted as loops when they came.
          if (log !== undefined && log !== logId) relayed++
          return log === undefined
        }) ?? []
    }
  }
  stripReserved(decoded.request)
  return { ok: true, request: decoded.request, relayed }
}

/** The log that attributes name; empty where they name one in a way that can't be read. */
function logOf(attributes: readonly KeyValue[] = []): string | undefined {
  const found = attributes.find(({ key }) => key === ATTR_SPANSEAL_LOG_ID)
  if (found === undefined) return undefined
  return found.value !== undefined && 'stringValue' in found.value ? found.value.stringValue : ''
}
