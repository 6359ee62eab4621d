// Which spans the body of a request of others names: by the places where OTLP has ids, without decoding the rest.
import { toHex } from '../../conventions/bytes.ts'

export interface NamedSpans {
  traces: ReadonlySet<string>
  spans: ReadonlySet<string>
}

/** Ids in a body of /v1/traces, lower-case hex. */
export function namedSpans(body: Uint8Array, encoding: unknown): NamedSpans {
  if (encoding === 'json') {
    const text = new TextDecoder('latin1').decode(body)
    return {
      traces: new Set(idsIn(text, /"trace_?id"\s*:\s*"([0-9a-f]{32})"/gi)),
      spans: new Set(idsIn(text, /"span_?id"\s*:\s*"([0-9a-f]{16})"/gi)),
    }
  }
  // Fields 1 and 2 of Span, each with its length (opentelemetry-proto v1.11); a parent is field 4.
  return { traces: new Set(fieldsIn(body, 0x0a, 16)), spans: new Set(fieldsIn(body, 0x12, 8)) }
}

function* idsIn(text: string, pattern: RegExp): Generator<string> {
  for (const [, id = ''] of text.matchAll(pattern)) yield id.toLowerCase()
}

function* fieldsIn(body: Uint8Array, tag: number, length: number): Generator<string> {
  for (let at = body.indexOf(tag); at !== -1; at = body.indexOf(tag, at + 1)) {
    if (body[at + 1] === length && at + 2 + length <= body.length) yield toHex(body.subarray(at + 2, at + 2 + length))
  }
}
