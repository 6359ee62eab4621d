// OTLP/protobuf bodies of made-up agent spans: 100 spans of about 800 bytes with 14 attributes each, different ids in every body.
import { randomFillSync } from 'node:crypto'
import protobuf from 'protobufjs/minimal.js'

export const SPANS_PER_BODY = 100

const { Writer } = protobuf

/** A body that is given new ids in place: making one costs the sender nothing that matters. */
export class SpanBody {
  readonly bytes: Buffer
  private readonly ids: number[] = []

  constructor() {
    const marks = Array.from({ length: 2 * SPANS_PER_BODY }, (_, i) => markOf(i))
    this.bytes = Buffer.from(encode(marks))
    for (const mark of marks) this.ids.push(this.bytes.indexOf(mark))
    if (this.ids.includes(-1)) throw new Error('an id is not where it was written')
  }

  /** New trace id for all spans, new span ids. */
  renew(): Buffer {
    const trace = randomFillSync(Buffer.alloc(16))
    this.ids.forEach((at, i) => {
      if (i % 2 === 0) trace.copy(this.bytes, at)
      else randomFillSync(this.bytes, at, 8)
    })
    return this.bytes
  }
}

/** Placeholder of the n-th id: trace ids have 16 bytes, span ids 8. */
function markOf(n: number): Buffer {
  const mark = Buffer.alloc(n % 2 === 0 ? 16 : 8, 0xa5)
  mark.writeUInt32BE(0xfe000000 + n)
  return mark
}

const TEXT =
  'The handler reads the request, checks the session and answers with the list of open orders; the test for it is missing, so the next step is to write one that fails first. '

const ATTRIBUTES: [key: string, value: string | number][] = [
  ['gen_ai.operation.name', 'chat'],
  ['gen_ai.provider.name', 'example'],
  ['gen_ai.request.model', 'example-large-2'],
  ['gen_ai.response.model', 'example-large-2-2026'],
  ['gen_ai.response.id', 'resp_0123456789abcdef'],
  ['gen_ai.conversation.id', '5b1f8a52-7c7f-4f2e-9c3d-0a1b2c3d4e5f'],
  ['gen_ai.usage.input_tokens', 1834],
  ['gen_ai.usage.output_tokens', 412],
  ['gen_ai.request.max_tokens', 4096],
  ['gen_ai.request.temperature', 1],
  ['gen_ai.tool.name', 'search_orders'],
  ['gen_ai.tool.call.id', 'call_0123456789abcdef'],
  ['server.address', 'api.example.test'],
  ['gen_ai.output.messages', TEXT.repeat(2)],
]

/** Field numbers are those of opentelemetry/proto/trace/v1/trace.proto. */
function encode(ids: readonly Uint8Array[]): Uint8Array {
  const writer = Writer.create()
  writer.uint32(tag(1)).fork()
  writer.uint32(tag(1)).fork()
  attribute(writer, 1, 'service.name', 'bench')
  writer.ldelim()
  writer.uint32(tag(2)).fork()
  writer.uint32(tag(1)).fork().uint32(tag(1)).string('bench').ldelim()
  for (let i = 0; i < SPANS_PER_BODY; i++) {
    writer.uint32(tag(2)).fork()
    writer.uint32(tag(1)).bytes(ids[2 * i] ?? new Uint8Array(16))
    writer.uint32(tag(2)).bytes(ids[2 * i + 1] ?? new Uint8Array(8))
    writer.uint32(tag(5)).string('chat example-large-2')
    writer.uint32(tag(6, 0)).int32(3)
    writer.uint32(tag(7, 1)).fixed64('1796040000000000000')
    writer.uint32(tag(8, 1)).fixed64('1796040001500000000')
    for (const [key, value] of ATTRIBUTES) attribute(writer, 9, key, value)
    writer.ldelim()
  }
  writer.ldelim()
  writer.ldelim()
  return writer.finish()
}

function tag(field: number, wire: 0 | 1 | 2 = 2): number {
  return (field << 3) | wire
}

function attribute(writer: protobuf.Writer, field: number, key: string, value: string | number): void {
  writer.uint32(tag(field)).fork().uint32(tag(1)).string(key).uint32(tag(2)).fork()
  if (typeof value === 'string') writer.uint32(tag(1)).string(value)
  else writer.uint32(tag(3, 0)).int64(value)
  writer.ldelim().ldelim()
}
