// A copy of a record that came back from elsewhere: a span or log record that says it carries one.

export interface Copy {
  /** Hex ids of the span it is on; empty where there are none. */
  traceId: string
  spanId: string
  /** The span's name. */
  name: string
  /** Text of an attribute; undefined when it is not there, or no text. */
  attribute(key: string): string | undefined
}
