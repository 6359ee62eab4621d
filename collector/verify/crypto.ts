// The hashes the verifier needs, from node:crypto. The page in html/ is built with another file in its place.
import { createHash, createHmac, hash } from 'node:crypto'

/** SHA-256, 32 bytes. The text encoding is on purpose: it is several times faster than asking Node for a buffer. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'binary')
}

/** SHA-512, 64 bytes. */
export function sha512(bytes: Uint8Array): Uint8Array {
  return createHash('sha512').update(bytes).digest()
}

/** SHA-256 of bytes that come one after the other. */
export interface Sha256Stream {
  update(bytes: Uint8Array): void
  /** Lower-case hex of all bytes so far; more may follow. */
  hex(): string
}

/** Begins a SHA-256. */
export function sha256Stream(): Sha256Stream {
  const state = createHash('sha256')
  return {
    update: (bytes) => void state.update(bytes),
    hex: () => state.copy().digest('hex'),
  }
}

/** HMAC-SHA-256, 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(message).digest()
}

/** Base64 of a hash, as records write it. */
export function hashText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** True when both hold the same bytes. For public data: not constant time. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
