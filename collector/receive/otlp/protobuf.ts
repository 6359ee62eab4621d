// Protobuf bytes -> the OTLP/JSON shapes, run by the schema tables over protobufjs's wire reader. Unknown fields and known ones of
// another wire type are skipped; 64-bit numbers become exact decimal strings; default values are left out.
import protobuf from 'protobufjs/minimal.js'
import { toBase64, toHex } from '../../../conventions/bytes.ts'
import { MAX_MESSAGE_DEPTH, MAX_VALUES, Refused } from './refused.ts'
import { type Decoded, type Field, type FieldType, isDefault, type Message, messageOf, type Scalar } from './schema.ts'
import { wireTypeOf } from './wire.ts'

// Without `long`, protobufjs reads 64-bit numbers as doubles, which rounds nanoseconds.
if (!protobuf.util.Long) throw new TypeError('protobufjs needs the package long to be exact')

/** Decodes a message of the schema. Throws Refused on bytes that are not that message. */
export function decodeProtobuf(bytes: Uint8Array, message: string): Decoded {
  const out: Decoded = {}
  try {
    new MessageReader(bytes).read(messageOf(message), bytes.length, out, 0)
  } catch (error) {
    throw asRefused(error)
  }
  return out
}

class MessageReader {
  private readonly wire: protobuf.Reader
  private messages = 0

  constructor(bytes: Uint8Array) {
    this.wire = new protobuf.Reader(bytes)
  }

  /** Reads up to `end` into `out`. A message that comes twice is merged, as protobuf asks. */
  read(message: Message, end: number, out: Decoded, depth: number): void {
    if (depth > MAX_MESSAGE_DEPTH) throw new Refused(`nested deeper than ${MAX_MESSAGE_DEPTH} messages`)
    if (++this.messages > MAX_VALUES) throw new Refused(`holds more than ${MAX_VALUES} messages`, true)
    const { wire } = this
    const outerEnd = wire.len
    if (end > outerEnd) throw new Refused('a length reaches past the end')
    wire.len = end
    while (wire.pos < end) {
      const tag = wire.tag()
      const field = message.byNumber.get(tag >>> 3)
      if (field === undefined || wireTypeOf(field.type) !== (tag & 7)) wire.skipType(tag & 7, 0, tag >>> 3)
      else this.field(field, out, depth)
    }
    wire.len = outerEnd
    for (const [name, value] of message.promised) out[name] ??= value
  }

  private field(field: Field, out: Decoded, depth: number): void {
    // The last alternative on the wire wins; the same one again is merged.
    for (const other of field.oneof ?? []) if (other !== field.name) delete out[other]
    const { type } = field
    if (type.kind === 'message') {
      this.nested(type.message, field, out, depth)
      return
    }
    try {
      const value = this.scalar(type)
      if (field.explicit || !isDefault(type, value)) out[field.name] = value
      else delete out[field.name]
    } catch (error) {
      throw asRefused(error).within(field.name)
    }
  }

  private nested(message: Message, field: Field, out: Decoded, depth: number): void {
    const path: (string | number)[] = [field.name]
    let target: Decoded
    if (field.repeated) {
      out[field.name] ??= []
      const list = out[field.name] as Decoded[]
      path.push(list.length)
      target = {}
      list.push(target)
    } else {
      out[field.name] ??= {}
      target = out[field.name] as Decoded
    }
    try {
      const length = this.wire.size()
      this.read(message, this.wire.pos + length, target, depth + 1)
    } catch (error) {
      throw asRefused(error).within(...path)
    }
  }

  private scalar(type: Exclude<FieldType, { kind: 'message' }>): Scalar {
    const { wire } = this
    switch (type.kind) {
      case 'string':
        return wire.stringVerify()
      case 'bool':
        return wire.bool()
      case 'double':
        return wire.double()
      case 'bytes':
        return toBase64(wire.bytes())
      case 'enum':
        return wire.int32()
      case 'id':
        return readId(wire.bytes(), type.bytes)
      case 'integer':
        if (type.wire === 'uint32' || type.wire === 'fixed32') return wire[type.wire]()
        return String(wire[type.wire]())
    }
  }
}

function readId(bytes: Uint8Array, length: number): string {
  if (bytes.length !== 0 && bytes.length !== length) {
    throw new Refused(`must be ${length} bytes, and is ${bytes.length}`)
  }
  return toHex(bytes)
}

/** What protobufjs throws on malformed bytes. Anything else is a fault of ours and stays what it is. */
function asRefused(error: unknown): Refused {
  if (error instanceof Refused) return error
  if (!(error instanceof Error)) throw error
  if ('code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return new Refused('is not valid UTF-8')
  if (error instanceof RangeError || error.constructor === Error) return new Refused('is not valid protobuf')
  throw error
}
