// Protobuf wire types of the schema's fields.
import type { FieldType } from './schema.ts'

export const WIRE_VARINT = 0
export const WIRE_64_BITS = 1
export const WIRE_BYTES = 2
export const WIRE_32_BITS = 5

/** How a field of this type lies on the wire. */
export function wireTypeOf(type: FieldType): number {
  switch (type.kind) {
    case 'bool':
    case 'enum':
      return WIRE_VARINT
    case 'double':
      return WIRE_64_BITS
    case 'integer':
      if (type.wire === 'fixed64' || type.wire === 'sfixed64') return WIRE_64_BITS
      return type.wire === 'fixed32' ? WIRE_32_BITS : WIRE_VARINT
    default:
      return WIRE_BYTES
  }
}
