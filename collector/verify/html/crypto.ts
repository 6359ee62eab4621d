// The hashes the verifier needs, in a browser: takes the place of ../crypto.ts in the page.
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 as nobleSha256, sha512 as nobleSha512 } from '@noble/hashes/sha2.js'
import { toBase64, toHex } from '../../../conventions/bytes.ts'
import type { Sha256Stream } from '../crypto.ts'

/** SHA-256, 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return nobleSha256(bytes)
}

/** SHA-512, 64 bytes. */
export function sha512(bytes: Uint8Array): Uint8Array {
  return nobleSha512(bytes)
}

/** Begins a SHA-256. */
export function sha256Stream(): Sha256Stream {
  const state = nobleSha256.create()
  return {
    update: (bytes) => void state.update(bytes),
    hex: () => toHex(state.clone().digest()),
  }
}

/** HMAC-SHA-256, 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(nobleSha256, key, message)
}

/** Base64 of a hash, as records write it. */
export function hashText(bytes: Uint8Array): string {
  return toBase64(bytes)
}

/** True when both hold the same bytes. For public data: not constant time. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
