// A quick look through protobuf bytes: what the door must know of a body, without an object for each value. It only speaks of bodies
// that are plain in every way; of all others (refused, invalid spans, odd encodings) it says nothing, and the decoder decides.
import { isUtf8 } from 'node:buffer'
import { isSession, SESSION_KEYS } from '../../../conventions/import.ts'
import { MAX_MESSAGE_DEPTH, MAX_VALUES } from './refused.ts'
import { type FieldType, type Message, messageOf } from './schema.ts'
import { WIRE_32_BITS, WIRE_64_BITS, WIRE_BYTES, WIRE_VARINT } from './wire.ts'

/** What the decoder would say of the same body; no span of it is invalid. */
export interface Skimmed {
  /** Spans, log records or data points. */
  items: number
  /** `spanseal.*` attributes. */
  reserved: number
  /** Distinct texts under a session key, in the order they come; at most `MAX_SESSIONS`. */
  sessions: string[]
}

/** Sessions that are told of one request: more are a relay's, whose spans say their own. */
export const MAX_SESSIONS = 64

/** `message`: the request's name in the schema. Null: not plain, or not even valid. Never throws on bad input. */
export function skim(body: Uint8Array, message: string): Skimmed | null {
  const skim = new Skim(body)
  try {
    skim.message(tableOf(messageOf(message)), body.length, 0)
  } catch (error) {
    if (error === NOT_PLAIN) return null
    throw error
  }
  return { items: skim.items, reserved: skim.reserved, sessions: [...skim.sessions] }
}

/** Thrown often, so made once. */
const NOT_PLAIN = new Error('not plain')

interface Entry {
  kind: FieldType['kind']
  /** The field's bit where it may come once: all alternatives of a oneof share one. */
  once: number
  wire: number
  bytes: number
  /** A span without it, or with zeroes, is invalid. */
  needed: boolean
  table: Table | undefined
  /** A KeyValue: `reserved` keys are counted, `session` keys are read. */
  attribute: 'reserved' | 'session' | undefined
}

interface Table {
  /** One of what a view shows and a partial success counts. */
  item: boolean
  /** Holds fields on purpose that the schema leaves out. */
  open: boolean
  /** By tag: field number and wire type. */
  entries: (Entry | undefined)[]
  needed: number
}

const tables = new Map<string, Table>()
const NEEDED: Record<string, readonly string[]> = { Span: ['traceId', 'spanId', 'name'] }
/** Messages with attributes that can name a session. */
const ITEMS = new Set([
  'Span',
  'LogRecord',
  'NumberDataPoint',
  'HistogramDataPoint',
  'ExponentialHistogramDataPoint',
  'SummaryDataPoint',
])
/** Metrics: exemplars, buckets, quantiles and metadata. */
const OPEN = new Set(['Metric', ...[...ITEMS].filter((name) => name.endsWith('DataPoint'))])
/** No field has the number 0, and no message more than one oneof. */
const BIT_OF_ONEOF = 1

function tableOf(message: Message): Table {
  const known = tables.get(message.name)
  if (known !== undefined) return known
  const table: Table = { item: ITEMS.has(message.name), open: OPEN.has(message.name), entries: [], needed: 0 }
  tables.set(message.name, table)
  for (const [number, field] of message.byNumber.entries()) {
    if (field === undefined) continue
    const { name, type, repeated, oneof, wire } = field
    const once = repeated ? 0 : oneof !== undefined ? BIT_OF_ONEOF : 1 << number
    const needed = NEEDED[message.name]?.includes(name) ?? false
    if (needed) table.needed |= once
    table.entries[(number << 3) | wire] = {
      kind: type.kind,
      once,
      wire: type.kind === 'integer' && type.wire === 'int64' ? LONG_VARINT : wire,
      bytes: type.kind === 'id' ? type.bytes : 0,
      needed,
      table: type.kind === 'message' ? tableOf(type.message) : undefined,
      attribute: name !== 'attributes' ? undefined : table.item || message.name === 'Resource' ? 'session' : 'reserved',
    }
  }
  return table
}

/** Not a wire type: a varint of up to ten bytes. */
const LONG_VARINT = 8
const KEY_TAG = 0x0a
const VALUE_TAG = 0x12
const STRING_VALUE_TAG = 0x0a
/** Bytes. Longer text is checked by native code, shorter in place: the call costs more than the look. */
const SHORT_TEXT = 48

const RESERVED = Buffer.from('spanseal.')
/** By length, which rules out nearly every other key. */
const SESSIONS: Buffer[][] = []
for (const key of SESSION_KEYS) SESSIONS[key.length] = [...(SESSIONS[key.length] ?? []), Buffer.from(key)]

class Skim {
  items = 0
  reserved = 0
  readonly sessions = new Set<string>()
  private readonly bytes: Uint8Array
  private pos = 0
  private messages = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  message(table: Table, end: number, depth: number): void {
    if (depth > MAX_MESSAGE_DEPTH || ++this.messages > MAX_VALUES) throw NOT_PLAIN
    let seen = 0
    while (this.pos < end) {
      const tag = this.tag(end)
      const entry = table.entries[tag]
      if (entry === undefined) {
        if (!table.open) throw NOT_PLAIN
        this.unknown(tag, end)
        continue
      }
      if ((seen & entry.once) !== 0) throw NOT_PLAIN
      seen |= entry.once
      if (entry.table === undefined) {
        this.scalar(entry, end)
        continue
      }
      const inner = this.length(end)
      const from = this.pos
      this.message(entry.table, inner, depth + 1)
      if (entry.attribute !== undefined) this.attribute(from, inner, entry.attribute)
    }
    if ((seen & table.needed) !== table.needed) throw NOT_PLAIN
    if (table.item) this.items++
  }

  /** A field that the decoder passes over as well. */
  private unknown(tag: number, end: number): void {
    const wire = tag & 7
    // No field has the number 0.
    if (tag < 8) throw NOT_PLAIN
    if (wire === WIRE_BYTES) this.pos = this.length(end)
    else if (wire === WIRE_64_BITS) this.skip(8, end)
    else if (wire === WIRE_32_BITS) this.skip(4, end)
    else if (wire === WIRE_VARINT) this.varint(end, 10)
    else throw NOT_PLAIN
  }

  private scalar(entry: Entry, end: number): void {
    switch (entry.wire) {
      case WIRE_VARINT:
        this.varint(end, 5)
        return
      case LONG_VARINT:
        this.varint(end, 10)
        return
      case WIRE_64_BITS:
        this.skip(8, end)
        return
      case WIRE_32_BITS:
        this.skip(4, end)
        return
    }
    const stop = this.length(end)
    if (entry.kind === 'string') this.text(stop)
    if (entry.kind === 'id' && stop - this.pos !== entry.bytes) throw NOT_PLAIN
    if (entry.needed && !this.holdsSomething(stop, entry.kind)) throw NOT_PLAIN
    this.pos = stop
  }

  private holdsSomething(end: number, kind: Entry['kind']): boolean {
    if (kind === 'string') return end > this.pos
    for (let at = this.pos; at < end; at++) if (this.bytes[at] !== 0) return true
    return false
  }

  private text(end: number): void {
    const { bytes, pos } = this
    if (end - pos <= SHORT_TEXT) {
      let all = 0
      for (let at = pos; at < end; at++) all |= bytes[at] ?? 0
      if (all < 0x80) return
    }
    if (!isUtf8(bytes.subarray(pos, end))) throw NOT_PLAIN
  }

  /** A field's tag, in the one or two bytes that the schema's need. */
  private tag(end: number): number {
    const first = this.bytes[this.pos++] ?? 0
    if (first < 0x80) return first
    const second = this.pos < end ? (this.bytes[this.pos++] ?? 0) : 0
    if (second === 0 || second > 0x7f) throw NOT_PLAIN
    return (first & 0x7f) | (second << 7)
  }

  /** Reads a length; where what it speaks of ends. */
  private length(end: number): number {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.pos < end ? (this.bytes[this.pos++] ?? 0) : 0xff
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        if (value > end - this.pos) break
        return this.pos + value
      }
    }
    throw NOT_PLAIN
  }

  private varint(end: number, most: number): void {
    for (let i = 1; i <= most && this.pos < end; i++) {
      const byte = this.bytes[this.pos++] ?? 0xff
      if (byte < 0x80) {
        if (i === 10 && byte > 1) break
        return
      }
    }
    throw NOT_PLAIN
  }

  private skip(bytes: number, end: number): void {
    if (bytes > end - this.pos) throw NOT_PLAIN
    this.pos += bytes
  }

  /** Looks at the KeyValue that was read at `from`. Its key may come after its value. */
  private attribute(from: number, end: number, kind: 'reserved' | 'session'): void {
    const after = this.pos
    const stop = this.field(from, end, KEY_TAG)
    const at = this.pos
    this.pos = after
    if (this.begins(at, stop, RESERVED)) this.reserved++
    if (kind === 'reserved' || this.sessions.size >= MAX_SESSIONS) return
    const keys = SESSIONS[stop - at]
    if (keys === undefined || !keys.some((key) => this.begins(at, stop, key))) return
    const value = this.textValue(from, end)
    if (isSession(value)) this.sessions.add(value)
  }

  private begins(at: number, end: number, text: Uint8Array): boolean {
    if (end - at < text.length) return false
    for (let i = 0; i < text.length; i++) if (this.bytes[at + i] !== text[i]) return false
    return true
  }

  /** Text of a KeyValue's value; undefined when it is none. */
  private textValue(from: number, end: number): string | undefined {
    const after = this.pos
    const value = this.field(from, end, VALUE_TAG)
    const holdsText = this.pos < value && this.bytes[this.pos] === STRING_VALUE_TAG
    const stop = holdsText ? this.field(this.pos, value, STRING_VALUE_TAG) : -1
    const text = holdsText ? Buffer.from(this.bytes.subarray(this.pos, stop)).toString('utf8') : undefined
    this.pos = after
    return text
  }

  /** Goes to the field with this tag among those that were read between `from` and `end`; its end, which is `pos` when it is absent. */
  private field(from: number, end: number, tag: number): number {
    this.pos = from
    while (this.pos < end) {
      const found = this.bytes[this.pos++]
      const stop = this.length(end)
      if (found === tag) return stop
      this.pos = stop
    }
    return end
  }
}
