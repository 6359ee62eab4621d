// A third-party span (tier T3) as the index keeps it: receipt only, whatever it says.
import type { Json } from './strict-json.ts'

export interface ImportedSpan {
  trace_id: string
  span_id: string
  parent_span_id?: string
  name: string
  kind: number
  /** Nanoseconds since 1970, decimal. */
  start_ns: string
  end_ns: string
  service?: string
  scope?: string
  /** StatusCode: 0 unset (nothing was reported, which is not success), 1 ok, 2 error. */
  status: number
  attributes: { [key: string]: Json }
  /** False: ids or name are not what OTLP asks; counted, kept in the body, absent from views. */
  valid: boolean
}
