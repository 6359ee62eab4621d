// The hashes the verifier needs, from node:crypto. One file, so that a browser build can put another in its place.
import { createHmac, hash } from 'node:crypto'

/** SHA-256, 32 bytes. The text encoding is on purpose: it is several times faster than asking Node for a buffer. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'binary')
}

/** HMAC-SHA-256, 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(message).digest()
}

/** Base64 of a hash, as records write it. */
export function hashText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
