// The stream of spans.
import { ATTR_SPANSEAL_CHECKPOINT, ATTR_SPANSEAL_RECORD } from '../../conventions/attributes.ts'
import type { ExportTraceServiceRequest, Span } from '../../conventions/otlp.ts'
import { type ContentSource, withContent } from './content.ts'
import { type PassSource, withPassThrough } from './pass-through.ts'
import { encodeTraces } from './protobuf.ts'
import { type EncodedSpan, encodeSpan, exportRequest } from './request.ts'
import type { Fold, Signal } from './signal.ts'
import { SpanFold } from './spans.ts'

export interface TracesOptions {
  /** Whether each span carries its signed record. */
  evidence: boolean
  /** Makes a source of content, which is then put on spans; without it none is. */
  content?: (() => ContentSource) | undefined
  /** Where spans of others come from; without it none are sent. */
  passThrough?: PassSource | undefined
}

export function traces({ evidence, content, passThrough }: TracesOptions): Signal<EncodedSpan> {
  return {
    path: '/v1/traces',
    noun: 'spans',
    fold: () => {
      const spans = evidence ? new SpanFold() : bare(new SpanFold())
      const ours = encoded(content === undefined ? spans : withContent(spans, content()))
      return passThrough === undefined ? ours : withPassThrough(ours, passThrough, evidence)
    },
    request: (spans, settings) => {
      const json = exportRequest(spans, settings)
      return { json, protobuf: () => encodeTraces(JSON.parse(json) as ExportTraceServiceRequest) }
    },
    describe: ({ traceId, spanId }) => `span ${spanId} of trace ${traceId}`,
  }
}

/** Each span is turned into text once, however often it is sent. */
function encoded(fold: Fold<Span>): Fold<EncodedSpan> {
  return {
    apply: (entry, checkpoint) => fold.apply(entry, checkpoint).map(encodeSpan),
    skip: (entry) => fold.skip(entry),
  }
}

function bare(fold: SpanFold): Fold<Span> {
  return {
    apply: (entry, checkpoint) => fold.apply(entry, checkpoint).map(withoutEvidence),
    skip: (entry) => fold.skip(entry),
  }
}

function withoutEvidence(span: Span): Span {
  const attributes = span.attributes?.filter(
    ({ key }) => key !== ATTR_SPANSEAL_CHECKPOINT && key.split('.', 2).join('.') !== ATTR_SPANSEAL_RECORD,
  )
  return attributes === undefined ? span : { ...span, attributes }
}
