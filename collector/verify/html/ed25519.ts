// Ed25519 under the strict profile, in a browser: takes the place of ../ed25519.ts in the page. @noble/ed25519 is used for its points
// and hash only, because its own verification multiplies by the cofactor, and this profile's does not.
import { hashes, Point } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { concat } from '../../../conventions/signing.ts'
import { acceptablePoint, acceptableSignature, KEY_BYTES, rawKeyOfSpki } from '../ed25519-profile.ts'
import { sameBytes } from './crypto.ts'

hashes.sha512 = sha512

/** A public key that passed the checks, ready for use. */
export interface Ed25519Key {
  raw: Uint8Array
  point: Point
}

/** A key of its 32 bytes, or null when it is no acceptable point. */
export function ed25519Key(raw: Uint8Array): Ed25519Key | null {
  if (!acceptablePoint(raw)) return null
  try {
    return { raw: Uint8Array.from(raw), point: Point.fromBytes(raw) }
  } catch {
    return null
  }
}

/** A key of its SPKI DER (exactly the 44 bytes of RFC 8410), or null. */
export function ed25519KeyOfSpki(spki: Uint8Array): Ed25519Key | null {
  const raw = rawKeyOfSpki(spki)
  return raw === null ? null : ed25519Key(raw)
}

/** True when the signature is valid under the strict profile: encode(S·B - k·A) = R. */
export function verifyEd25519({ raw, point }: Ed25519Key, message: Uint8Array, signature: Uint8Array): boolean {
  if (!acceptableSignature(signature)) return false
  const r = signature.subarray(0, KEY_BYTES)
  const s = littleEndian(signature.subarray(KEY_BYTES))
  const k = littleEndian(sha512(concat(r, raw, message))) % Point.CURVE().n
  // A key that is not of small order never gives k·A for k = 0 by accident; the library refuses to multiply by 0.
  const sB = s === 0n ? Point.ZERO : Point.BASE.multiply(s, false)
  const kA = k === 0n ? Point.ZERO : point.multiply(k, false)
  return sameBytes(sB.subtract(kA).toBytes(), r)
}

/** The same, as a promise. */
export async function verifyEd25519Async(
  key: Ed25519Key,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  return verifyEd25519(key, message, signature)
}

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0)
  return value
}
