// The strict profile of Ed25519: what must hold of the bytes of a key or a signature before any library looks at them. RFC 8032
// leaves open what to do with points of small order and other spellings of a point, and libraries differ; evidence must not.
// Accepted is only: S < L, A and R in their one spelling and not of small order, and then the equation without the cofactor.
import { fromHex } from '../../conventions/bytes.ts'

export const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** DER of a SubjectPublicKeyInfo before the 32 key bytes (RFC 8410). */
export const SPKI_HEAD: Uint8Array = Uint8Array.of(
  0x30,
  0x2a,
  0x30,
  0x05,
  0x06,
  0x03,
  0x2b,
  0x65,
  0x70,
  0x03,
  0x21,
  0x00,
)

const littleEndian = (value: bigint): Uint8Array => {
  const out = new Uint8Array(KEY_BYTES)
  for (let i = 0, rest = value; i < KEY_BYTES; i++, rest >>= 8n) out[i] = Number(rest & 0xffn)
  return out
}

const FIELD = (1n << 255n) - 19n
const PRIME = littleEndian(FIELD)
/** L, the order of the base point. */
const ORDER = littleEndian((1n << 252n) + 27742317777372353535851937790883648493n)

/** The y coordinates of the eight points of small order; the sign of x does not matter. */
const SMALL_ORDER_Y: readonly Uint8Array[] = [
  littleEndian(0n),
  littleEndian(1n),
  littleEndian(FIELD - 1n),
  fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05') ?? PRIME,
  fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a') ?? PRIME,
]

/** The 32 key bytes of an SPKI that is exactly the 44 bytes of RFC 8410, or null. */
export function rawKeyOfSpki(spki: Uint8Array): Uint8Array | null {
  if (spki.length !== SPKI_HEAD.length + KEY_BYTES || SPKI_HEAD.some((byte, i) => byte !== spki[i])) return null
  return spki.subarray(SPKI_HEAD.length)
}

/** What must hold of a signature's bytes before the equation is tried. */
export function acceptableSignature(signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false
  return acceptablePoint(signature.subarray(0, KEY_BYTES)) && isBelow(signature.subarray(KEY_BYTES), ORDER)
}

/** True for a point whose y is below the field prime and which is not of small order. That it lies on the curve is checked later. */
export function acceptablePoint(point: Uint8Array): boolean {
  if (point.length !== KEY_BYTES) return false
  const y = new Uint8Array(point)
  y[KEY_BYTES - 1] = (y[KEY_BYTES - 1] ?? 0) & 0x7f
  return isBelow(y, PRIME) && !SMALL_ORDER_Y.some((small) => small.every((byte, i) => byte === y[i]))
}

/** Little-endian comparison of 32-byte numbers. */
function isBelow(value: Uint8Array, bound: Uint8Array): boolean {
  for (let i = KEY_BYTES - 1; i >= 0; i--) {
    const difference = (value[i] ?? 0) - (bound[i] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
