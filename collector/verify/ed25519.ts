// Ed25519 under the strict profile, by node:crypto. The page in html/ is built with another file in its place.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { acceptablePoint, acceptableSignature, rawKeyOfSpki, SPKI_HEAD } from './ed25519-profile.ts'

/** A public key that passed the checks, ready for use. */
export interface Ed25519Key {
  raw: Uint8Array
  object: KeyObject
}

/** A key of its 32 bytes, or null when it is no acceptable point. */
export function ed25519Key(raw: Uint8Array): Ed25519Key | null {
  if (!acceptablePoint(raw)) return null
  try {
    const object = createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' })
    return { raw: Uint8Array.from(raw), object }
  } catch {
    return null
  }
}

/** A key of its SPKI DER (exactly the 44 bytes of RFC 8410), or null. */
export function ed25519KeyOfSpki(spki: Uint8Array): Ed25519Key | null {
  const raw = rawKeyOfSpki(spki)
  return raw === null ? null : ed25519Key(raw)
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
