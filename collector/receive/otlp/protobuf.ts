// Protobuf bytes -> the OTLP/JSON shapes, run by the schema tables over protobufjs's wire reader. Unknown fields and known ones of
// another wire type are skipped; 64-bit numbers become exact decimal strings; default values are left out.
import { isUtf8 } from 'node:buffer'
import protobuf from 'protobufjs/minimal.js'
import { toBase64 } from '../../../conventions/bytes.ts'
import { KeyCache } from './key-cache.ts'
import { MAX_MESSAGE_DEPTH, MAX_VALUES, Refused } from './refused.ts'
import { type Decoded, type Field, type FieldType, isDefault, type Message, messageOf, type Scalar } from './schema.ts'

// Without `long`, protobufjs reads 64-bit numbers as doubles, which rounds nanoseconds.
if (!protobuf.util.Long) throw new TypeError('protobufjs needs the package long to be exact')

/** Decodes a message of the schema. Throws Refused on bytes that are not that message. */
export function decodeProtobuf(bytes: Uint8Array, message: string): Decoded {
  const out: Decoded = {}
  try {
    new MessageReader(bytes).read(messageOf(message), bytes.length, out, 0, true)
  } catch (error) {
    throw asRefused(error)
  }
  return out
}

/** Bytes. Up to here text is looked through in place: a call into native code costs more. */
const SHORT_TEXT = 48
/** Varints below are put together here, without an object for 64 bits. */
const MAX_SHORT_VARINT_BYTES = 4
const KEYS = new KeyCache()

class MessageReader {
  private readonly wire: protobuf.Reader
  private readonly bytes: Buffer
  private readonly view: DataView
  private messages = 0

  constructor(bytes: Uint8Array) {
    this.wire = new protobuf.Reader(bytes)
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Reads up to `end` into `out`, which is `fresh` when empty. A message that comes twice is merged, as protobuf asks. */
  read(message: Message, end: number, out: Decoded, depth: number, fresh: boolean): void {
    if (depth > MAX_MESSAGE_DEPTH) throw new Refused(`nested deeper than ${MAX_MESSAGE_DEPTH} messages`)
    if (++this.messages > MAX_VALUES) throw new Refused(`holds more than ${MAX_VALUES} messages`, true)
    const { wire } = this
    const outerEnd = wire.len
    if (end > outerEnd) throw new Refused('a length reaches past the end')
    wire.len = end
    const { byNumber } = message
    // The alternative that was read; no message has more than one oneof.
    let chosen: string | undefined
    while (wire.pos < end) {
      const tag = wire.tag()
      const field = byNumber[tag >>> 3]
      if (field === undefined || field.wire !== (tag & 7)) {
        wire.skipType(tag & 7, 0, tag >>> 3)
        continue
      }
      if (field.oneof !== undefined) {
        // The last alternative on the wire wins; the same one again is merged.
        if (chosen === undefined ? !fresh : chosen !== field.name)
          for (const other of field.oneof) if (other !== field.name) delete out[other]
        chosen = field.name
      }
      if (field.type.kind === 'message') this.nested(field.type.message, field, out, depth)
      else this.field(field, field.type, out)
    }
    wire.len = outerEnd
    for (let i = 0; i < message.promised.length; i++) {
      const [name, value] = message.promised[i] as [string, string]
      out[name] ??= value
    }
  }

  private field(field: Field, type: Exclude<FieldType, { kind: 'message' }>, out: Decoded): void {
    try {
      const value = field.key ? this.key() : this.scalar(type)
      if (field.explicit || !isDefault(type, value)) out[field.name] = value
      else if (out[field.name] !== undefined) delete out[field.name]
    } catch (error) {
      throw asRefused(error).within(field.name)
    }
  }

  private nested(message: Message, field: Field, out: Decoded, depth: number): void {
    const { name } = field
    let target = field.repeated ? undefined : (out[name] as Decoded | undefined)
    const fresh = target === undefined
    let list: Decoded[] | undefined
    target ??= {}
    if (field.repeated) {
      list = out[name] as Decoded[] | undefined
      if (list === undefined) out[name] = list = [target]
      else list.push(target)
    } else out[name] = target
    try {
      const length = this.wire.size()
      this.read(message, this.wire.pos + length, target, depth + 1, fresh)
    } catch (error) {
      const refused = asRefused(error)
      throw list === undefined ? refused.within(name) : refused.within(name, list.length - 1)
    }
  }

  private scalar(type: Exclude<FieldType, { kind: 'message' }>): Scalar {
    const { wire } = this
    switch (type.kind) {
      case 'string':
        return this.text(this.span())
      case 'bool':
        return wire.bool()
      case 'double':
        return wire.double()
      case 'bytes':
        return toBase64(wire.bytes())
      case 'enum':
        return wire.int32()
      case 'id':
        return this.id(type.bytes)
      case 'integer':
        switch (type.wire) {
          case 'uint32':
          case 'fixed32':
            return wire[type.wire]()
          case 'int64':
            return this.int64()
          case 'fixed64':
            return String(this.view.getBigUint64(this.fixed64(), true))
          case 'sfixed64':
            return String(this.view.getBigInt64(this.fixed64(), true))
        }
    }
  }

  /** Goes over a length-prefixed field; where it starts. It ends at `pos`. */
  private span(): number {
    const { wire } = this
    const length = wire.size()
    const start = wire.pos
    if (length > wire.len - start) throw new RangeError('a length reaches past the end')
    wire.pos = start + length
    return start
  }

  private text(start: number): string {
    const { bytes } = this
    const end = this.wire.pos
    if (end - start <= SHORT_TEXT) {
      let all = 0
      for (let at = start; at < end; at++) all |= bytes[at] ?? 0
      if (all < 0x80) return bytes.toString('latin1', start, end)
    }
    const text = bytes.toString('utf8', start, end)
    // What stands for bytes that are no text may also have been sent as it is.
    if (text.includes('\ufffd') && !isUtf8(bytes.subarray(start, end))) throw new Refused('is not valid UTF-8')
    return text
  }

  private key(): string {
    const start = this.span()
    return KEYS.get(this.bytes, start, this.wire.pos) ?? KEYS.put(this.bytes, start, this.wire.pos, this.text(start))
  }

  private id(length: number): string {
    const start = this.span()
    const found = this.wire.pos - start
    if (found !== 0 && found !== length) throw new Refused(`must be ${length} bytes, and is ${found}`)
    return this.bytes.toString('hex', start, this.wire.pos)
  }

  private int64(): string {
    const { bytes, wire } = this
    let value = 0
    for (let i = 0; i < MAX_SHORT_VARINT_BYTES && wire.pos + i < wire.len; i++) {
      const byte = bytes[wire.pos + i] ?? 0
      value |= (byte & 0x7f) << (7 * i)
      if (byte >= 0x80) continue
      wire.pos += i + 1
      return String(value)
    }
    return String(wire.int64())
  }

  /** Goes over eight bytes; where they start. */
  private fixed64(): number {
    const { wire } = this
    const start = wire.pos
    wire.skip(8)
    return start
  }
}

/** What protobufjs throws on malformed bytes. Anything else is a fault of ours and stays what it is. */
function asRefused(error: unknown): Refused {
  if (error instanceof Refused) return error
  if (!(error instanceof Error)) throw error
  if ('code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return new Refused('is not valid UTF-8')
  if (error instanceof RangeError || error.constructor === Error) return new Refused('is not valid protobuf')
  throw error
}
