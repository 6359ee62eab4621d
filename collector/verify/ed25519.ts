// Ed25519 with one answer for every input. RFC 8032 leaves open what to do with points of small order and other spellings of a
// point, and libraries differ; evidence must not. Accepted is only: S < L, A and R in their one spelling and not of small order,
// and the equation without the cofactor (what node:crypto checks).
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { fromHex } from '../../conventions/bytes.ts'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** DER of a SubjectPublicKeyInfo before the 32 key bytes (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

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

/** A public key that passed the checks, ready for use. */
export interface Ed25519Key {
  raw: Uint8Array
  object: KeyObject
}

/** A key of its 32 bytes, or null when it is no acceptable point. */
export function ed25519Key(raw: Uint8Array): Ed25519Key | null {
  if (raw.length !== KEY_BYTES || !acceptablePoint(raw)) return null
  try {
    const object = createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' })
    return { raw: Uint8Array.from(raw), object }
  } catch {
    return null
  }
}

/** A key of its SPKI DER (exactly the 44 bytes of RFC 8410), or null. */
export function ed25519KeyOfSpki(spki: Uint8Array): Ed25519Key | null {
  if (spki.length !== SPKI_HEAD.length + KEY_BYTES || !SPKI_HEAD.equals(spki.subarray(0, SPKI_HEAD.length))) return null
  return ed25519Key(spki.subarray(SPKI_HEAD.length))
}

/** True when the signature is valid under the strict profile. */
export function verifyEd25519(key: Ed25519Key, message: Uint8Array, signature: Uint8Array): boolean {
  return acceptableSignature(signature) && verify(null, message, key.object, signature)
}

/** The same on the thread pool, so that several cores check at once. */
export function verifyEd25519Async(key: Ed25519Key, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (!acceptableSignature(signature)) return Promise.resolve(false)
  return new Promise((resolve) => {
    // A signature that can't be checked is not a valid one.
    verify(null, message, key.object, signature, (error, valid) => resolve(error === null && valid))
  })
}

/** What must hold of a signature's bytes before the equation is tried. */
function acceptableSignature(signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false
  return acceptablePoint(signature.subarray(0, KEY_BYTES)) && isBelow(signature.subarray(KEY_BYTES), ORDER)
}

/** True for a point whose y is below the field prime and which is not of small order. That it lies on the curve is checked later. */
function acceptablePoint(point: Uint8Array): boolean {
  const y = Uint8Array.from(point)
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
