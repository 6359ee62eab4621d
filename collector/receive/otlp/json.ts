// OTLP/JSON -> the same shapes as protobuf.ts gives, run by the same schema tables. Taken on input besides what the specification
// asks for: snake_case keys and enum names. Refused with the field named: a value of another type, a number out of range, a field
// that comes under both spellings, an attribute value with two alternatives. `null` means absent, unknown keys are ignored.
import { type Lossless, parseLossless } from './lossless.ts'
import { MAX_MESSAGE_DEPTH, Refused } from './refused.ts'
import { type Decoded, type Field, type FieldType, isDefault, type Message, messageOf, type Scalar } from './schema.ts'

const RANGES = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  sfixed64: [-(2n ** 63n), 2n ** 63n - 1n],
  fixed64: [0n, 2n ** 64n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  fixed32: [0n, 2n ** 32n - 1n],
} as const
const INTEGER = /^-?[0-9]{1,20}$/
const DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const HEX = /^[0-9a-fA-F]*$/
/** Standard or URL-safe, padded or not: the protobuf JSON mapping takes all four. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/
const NOT_FINITE = ['NaN', 'Infinity', '-Infinity']

/** Decodes a message of the schema. Throws Refused on text that is not that message. */
export function decodeJson(bytes: Uint8Array, message: string): Decoded {
  return readMessage(messageOf(message), parseLossless(bytes), 0)
}

function readMessage(message: Message, value: Lossless, depth: number): Decoded {
  if (depth > MAX_MESSAGE_DEPTH) throw new Refused(`nested deeper than ${MAX_MESSAGE_DEPTH} messages`)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refused('must be an object')
  const out: Decoded = {}
  for (const key of Object.keys(value)) {
    const field = message.byName.get(key)
    const member = value[key]
    if (field === undefined || member === undefined || member === null) continue
    if (key !== field.name && Object.hasOwn(value, field.name)) throw new Refused('comes under two names').within(key)
    if (field.oneof?.some((other) => Object.hasOwn(out, other))) {
      throw new Refused('comes beside another value').within(key)
    }
    readField(field, member, out, depth)
  }
  for (const [name, absent] of message.promised) out[name] ??= absent
  return out
}

function readField(field: Field, value: Lossless, out: Decoded, depth: number): void {
  const { type } = field
  try {
    if (type.kind !== 'message') {
      const scalar = readScalar(type, value)
      if (field.explicit || !isDefault(type, scalar)) out[field.name] = scalar
    } else if (field.repeated) {
      const list = readList(type.message, value, depth)
      if (list.length > 0) out[field.name] = list
    } else {
      out[field.name] = readMessage(type.message, value, depth + 1)
    }
  } catch (error) {
    throw within(error, field.name)
  }
}

function readList(message: Message, value: Lossless, depth: number): Decoded[] {
  if (!Array.isArray(value)) throw new Refused('must be a list')
  return value.map((element, index) => {
    try {
      return readMessage(message, element, depth + 1)
    } catch (error) {
      throw within(error, index)
    }
  })
}

function within(error: unknown, step: string | number): unknown {
  return error instanceof Refused ? error.within(step) : error
}

function readScalar(type: Exclude<FieldType, { kind: 'message' }>, value: Lossless): Scalar {
  switch (type.kind) {
    case 'string':
      if (typeof value !== 'string') throw new Refused('must be a string')
      // A length limit in a client can cut a surrogate pair in half; protobuf clients send the same replacement character.
      return value.toWellFormed()
    case 'bool':
      if (typeof value !== 'boolean') throw new Refused('must be true or false')
      return value
    case 'double':
      return readDouble(value)
    case 'bytes':
      return readBytes(value)
    case 'id':
      return readId(value, type.bytes)
    case 'enum':
      return readEnum(value, type.values)
    case 'integer': {
      const integer = readInteger(value)
      const [least, most] = RANGES[type.wire]
      if (integer < least || integer > most) throw new Refused(`must be from ${least} to ${most}`)
      return most > 2n ** 32n ? String(integer) : Number(integer)
    }
  }
}

function readInteger(value: Lossless): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && INTEGER.test(value)) return BigInt(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  throw new Refused('must be a whole number, written with all its digits, as a number or a string')
}

function readDouble(value: Lossless): number {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' && NOT_FINITE.includes(value)) return Number(value)
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  if (typeof number !== 'number') throw new Refused('must be a number')
  if (!Number.isFinite(number)) throw new Refused('is too large for a double')
  return number
}

function readEnum(value: Lossless, names: ReadonlyMap<string, number>): number {
  const number = typeof value === 'string' ? names.get(value) : value
  // Numbers this version does not know stay: the next version of the protocol may name them.
  if (typeof number !== 'number' || (number | 0) !== number) throw new Refused('must be a number of the enumeration')
  return number
}

function readBytes(value: Lossless): string {
  if (typeof value !== 'string' || !BASE64.test(value) || value.replace(/=+$/, '').length % 4 === 1) {
    throw new Refused('must be base64')
  }
  return Buffer.from(value, 'base64').toString('base64')
}

function readId(value: Lossless, bytes: number): string {
  if (typeof value !== 'string' || !HEX.test(value) || (value.length !== 0 && value.length !== 2 * bytes)) {
    throw new Refused(`must be ${2 * bytes} hexadecimal characters`)
  }
  return value.toLowerCase()
}
