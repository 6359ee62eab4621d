// OTLP requests as protobuf, and what answers in protobuf say. Exactly the fields that we send (field numbers: opentelemetry-proto
// v1.11; google/rpc/status.proto); that the receiver's own decoder reads the same back is tested.
import protobuf from 'protobufjs/minimal.js'
import type {
  AnyValue,
  ExportTraceServiceRequest,
  KeyValue,
  ResourceSpans,
  ScopeSpans,
  Span,
} from '../../conventions/otlp.ts'

// Without `long`, 64-bit numbers would be rounded.
if (!protobuf.util.Long) throw new TypeError('protobufjs needs the package long to be exact')

type Write = (writer: protobuf.Writer) => void

/** Bytes of an ExportTraceServiceRequest. */
export function encodeTraces({ resourceSpans }: ExportTraceServiceRequest): Uint8Array {
  const writer = protobuf.Writer.create()
  for (const part of resourceSpans) message(writer, 1, (w) => resourceSpansTo(w, part))
  return writer.finish()
}

function resourceSpansTo(writer: protobuf.Writer, { resource, scopeSpans = [] }: ResourceSpans): void {
  message(writer, 1, (w) => attributesTo(w, 1, resource?.attributes))
  for (const { scope, spans = [] } of scopeSpans) {
    message(writer, 2, (w) => {
      message(w, 1, (s) => scopeTo(s, scope))
      for (const span of spans) message(w, 2, (s) => spanTo(s, span))
    })
  }
}

export function scopeTo(writer: protobuf.Writer, scope: ScopeSpans['scope']): void {
  text(writer, 1, scope?.name)
  text(writer, 2, scope?.version)
  attributesTo(writer, 3, scope?.attributes)
}

function spanTo(writer: protobuf.Writer, span: Span): void {
  id(writer, 1, span.traceId)
  id(writer, 2, span.spanId)
  if (span.parentSpanId !== undefined) id(writer, 4, span.parentSpanId)
  text(writer, 5, span.name)
  if (span.kind !== undefined) writer.uint32(tag(6, VARINT)).int32(span.kind)
  time(writer, 7, span.startTimeUnixNano)
  time(writer, 8, span.endTimeUnixNano)
  attributesTo(writer, 9, span.attributes)
  for (const { timeUnixNano, name, attributes } of span.events ?? []) {
    message(writer, 11, (w) => {
      time(w, 1, timeUnixNano)
      text(w, 2, name)
      attributesTo(w, 3, attributes)
    })
  }
  for (const { traceId, spanId, attributes } of span.links ?? []) {
    message(writer, 13, (w) => {
      id(w, 1, traceId)
      id(w, 2, spanId)
      attributesTo(w, 4, attributes)
    })
  }
  if (span.status === undefined) return
  const { code, message: why } = span.status
  message(writer, 15, (w) => {
    text(w, 2, why)
    if (code !== undefined) w.uint32(tag(3, VARINT)).int32(code)
  })
}

export function attributesTo(writer: protobuf.Writer, field: number, attributes: readonly KeyValue[] = []): void {
  for (const { key, value } of attributes) {
    message(writer, field, (w) => {
      text(w, 1, key)
      if (value !== undefined) message(w, 2, (v) => valueTo(v, value))
    })
  }
}

/** A value as OTLP/JSON has it; one without a kind stays empty. */
export function valueTo(writer: protobuf.Writer, value: AnyValue): void {
  if ('stringValue' in value && typeof value.stringValue === 'string') {
    // Written also when empty: an absent field is no value at all.
    writer.uint32(tag(1, LENGTH)).string(value.stringValue)
  } else if ('boolValue' in value && typeof value.boolValue === 'boolean') {
    writer.uint32(tag(2, VARINT)).bool(value.boolValue)
  } else if ('intValue' in value && value.intValue !== undefined) {
    writer.uint32(tag(3, VARINT)).int64(String(value.intValue))
  } else if ('doubleValue' in value && value.doubleValue !== undefined) {
    // JSON has NaN and the infinities as text.
    writer.uint32(tag(4, FIXED64)).double(Number(value.doubleValue))
  } else if ('arrayValue' in value && value.arrayValue !== undefined) {
    const values: AnyValue[] = value.arrayValue.values ?? []
    message(writer, 5, (w) => {
      for (const member of values) message(w, 1, (v) => valueTo(v, member))
    })
  } else if ('kvlistValue' in value && value.kvlistValue !== undefined) {
    const { values } = value.kvlistValue as { values?: KeyValue[] }
    message(writer, 6, (w) => attributesTo(w, 1, values))
  } else if ('bytesValue' in value && typeof value.bytesValue === 'string') {
    writer.uint32(tag(7, LENGTH)).bytes(Buffer.from(value.bytesValue, 'base64'))
  }
}

export const VARINT = 0
export const FIXED64 = 1
export const LENGTH = 2

export const tag = (field: number, wire: number) => (field << 3) | wire

export function message(writer: protobuf.Writer, field: number, write: Write): void {
  writer.uint32(tag(field, LENGTH)).fork()
  write(writer)
  writer.ldelim()
}

export function text(writer: protobuf.Writer, field: number, value: string | undefined): void {
  if (value !== undefined && value !== '') writer.uint32(tag(field, LENGTH)).string(value)
}

export function id(writer: protobuf.Writer, field: number, hex: string): void {
  writer.uint32(tag(field, LENGTH)).bytes(Buffer.from(hex, 'hex'))
}

export function time(writer: protobuf.Writer, field: number, nanoseconds: string): void {
  writer.uint32(tag(field, FIXED64)).fixed64(nanoseconds)
}

/** Items turned down, of an Export*ServiceResponse: field 1 of its partial success. 0 where the bytes are none. */
export function rejectedIn(bytes: Uint8Array): number {
  return Number(numberAt(bytes, [1, 1]) ?? 0)
}

/** The code of a google.rpc.Status; null where the bytes are none. */
export function statusCodeIn(bytes: Uint8Array): number | null {
  return numberAt(bytes, [1])
}

/** The number at a path of field numbers. Never throws on what a backend sent. */
function numberAt(bytes: Uint8Array, [field, ...rest]: number[]): number | null {
  try {
    const reader = protobuf.Reader.create(bytes)
    while (reader.pos < reader.len) {
      const head = reader.uint32()
      const wire = head & 7
      if (head >>> 3 !== field) reader.skipType(wire)
      else if (rest.length > 0 && wire === LENGTH) return numberAt(reader.bytes(), rest)
      else if (rest.length === 0 && wire === VARINT) return Number(reader.int64())
      else return null
    }
    return null
  } catch {
    return null
  }
}
