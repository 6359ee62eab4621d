// Attributes only the collector may set: taken out of incoming T3 telemetry and counted, so that nothing a sender writes can pass
// for evidence in a view or on a forwarded span. The body as it came is what a record commits to; this changes the decoded copy.
import type { KeyValue } from '../../../conventions/otlp.ts'

const RESERVED = 'spanseal.'

/**
 * Removes `spanseal.*` wherever a decoded request has attributes (resources, scopes, items, events, links), in place. Returns how many
 * there were. Maps inside of values are content, and stay.
 */
export function stripReserved(request: object): number {
  let count = 0
  for (const [name, value] of Object.entries(request)) {
    if (name === 'attributes') {
      const attributes = value as KeyValue[]
      const kept = attributes.filter(({ key }) => !key.startsWith(RESERVED))
      count += attributes.length - kept.length
      Object.assign(request, { attributes: kept })
    } else if (name === 'body') {
      // A log record's text or map.
    } else if (Array.isArray(value)) {
      for (const element of value) count += stripReserved(element)
    } else if (typeof value === 'object' && value !== null) {
      count += stripReserved(value)
    }
  }
  return count
}
