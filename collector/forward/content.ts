// Content on spans, for a destination that asked for it: prompts, what the model said, arguments, results, as redaction left them.
// Wraps a fold; without it there is no way from the vault to a span.
import {
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_SPANSEAL_CONTENT_CUT,
} from '../../conventions/attributes.ts'
import type { LogEntry } from '../../conventions/log.ts'
import { attribute, type KeyValue, type Span } from '../../conventions/otlp.ts'
import type { AnyRecord } from '../../conventions/record.ts'
import type { Fold } from './signal.ts'

/** Bytes of one attribute. Backends refuse or drop much longer ones, and a request holds at most a few hundred spans. */
export const MAX_CONTENT_BYTES = 32 * 1024
/** Spans whose content is remembered until they are sent; the oldest goes without first. */
const MAX_WAITING = 65_536

/** Where a piece of content lies. */
export interface ContentRef {
  /** As in the record's commitment. */
  name: string
  read: () => string | null
}

/** Content by record; asked for records in rising order. */
export interface ContentSource {
  /** Pieces of the record that were kept. */
  of(seq: number): ContentRef[]
}

type Write = (text: string) => KeyValue

/** `open` makes a source that begins at the log's start. */
export function withContent(fold: Fold<Span>, source: ContentSource): Fold<Span> {
  const waiting = new Map<string, { ref: ContentRef; write: Write }[]>()
  const note = ({ record }: LogEntry) => {
    const refs = (record.commit ?? []).length === 0 ? [] : source.of(record.log.seq)
    for (const { name, span, write } of piecesOf(record)) {
      // What redaction left stands beside the whole, which was not kept then.
      const ref = refs.find((each) => each.name === `${name}.redacted`) ?? refs.find((each) => each.name === name)
      if (ref === undefined || span === undefined) continue
      waiting.set(span, [...(waiting.get(span) ?? []), { ref, write }])
      for (const oldest of waiting.keys()) {
        if (waiting.size <= MAX_WAITING) break
        waiting.delete(oldest)
      }
    }
  }
  return {
    apply: (entry, checkpoint) => {
      note(entry)
      return fold.apply(entry, checkpoint).map((span) => {
        const pieces = waiting.get(span.spanId)
        waiting.delete(span.spanId)
        return pieces === undefined ? span : filled(span, pieces)
      })
    },
    skip: (entry) => {
      note(entry)
      fold.skip(entry)
      const { type, trace } = entry.record
      if (type !== 'prompt.submitted' && type !== 'tool.decided' && trace !== undefined) waiting.delete(trace.span_id)
    },
  }
}

/** The pieces of a record, the span that each belongs to, and how it is written there. */
function piecesOf(record: AnyRecord): { name: string; span: string | undefined; write: Write }[] {
  switch (record.type) {
    case 'prompt.submitted':
      return [
        {
          name: 'prompt',
          span: record.trace?.span_id,
          write: messages(ATTR_GEN_AI_INPUT_MESSAGES, 'user', (content) => ({ type: 'text', content })),
        },
      ]
    case 'tool.decided':
      return [{ name: 'args', span: record.trace?.parent, write: plain(ATTR_GEN_AI_TOOL_CALL_ARGUMENTS) }]
    case 'tool.completed':
      return [
        { name: 'args', span: record.trace?.span_id, write: plain(ATTR_GEN_AI_TOOL_CALL_ARGUMENTS) },
        { name: 'result', span: record.trace?.span_id, write: plain(ATTR_GEN_AI_TOOL_CALL_RESULT) },
      ]
    case 'model.message': {
      const { kind } = record.body
      const part = (content: string) =>
        kind === 'tool_use'
          ? { type: 'tool_call', ...(record.call === undefined ? {} : { id: record.call.id }), arguments: content }
          : { type: kind, content }
      return [
        { name: 'text', span: record.trace?.span_id, write: messages(ATTR_GEN_AI_OUTPUT_MESSAGES, 'assistant', part) },
      ]
    }
    default:
      return []
  }
}

const plain =
  (key: string): Write =>
  (text) =>
    attribute(key, text)

/** The JSON of the GenAI conventions for messages. */
const messages =
  (key: string, role: string, part: (content: string) => object): Write =>
  (text) =>
    attribute(key, JSON.stringify([{ role, parts: [part(text)] }]))

function filled(span: Span, pieces: { ref: ContentRef; write: Write }[]): Span {
  const content = new Map<string, KeyValue>()
  let isCut = false
  for (const { ref, write } of pieces) {
    const text = ref.read()
    // No longer kept: the span goes without.
    if (text === null) continue
    const short = cut(text)
    isCut ||= short !== text
    const value = write(short)
    content.set(value.key, value)
  }
  const mark = isCut ? [attribute(ATTR_SPANSEAL_CONTENT_CUT, true)] : []
  return { ...span, attributes: [...(span.attributes ?? []), ...content.values(), ...mark] }
}

/** At most MAX_CONTENT_BYTES of UTF-8, no character halved. */
export function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_CONTENT_BYTES) return text
  let end = MAX_CONTENT_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString()
}
