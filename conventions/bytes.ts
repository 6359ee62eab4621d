// Bytes as text and back, strictly: one text per byte string, so that equal evidence has equal text.

const HEX = /^(?:[0-9a-f]{2})*$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const BASE64URL = /^[A-Za-z0-9_-]*$/

/** Lower-case hex of the bytes. */
export function toHex(bytes: Uint8Array): string {
  let out = ''
  for (const byte of bytes) out += byte.toString(16).padStart(2, '0')
  return out
}

/** Bytes of lower-case hex, or null when the text is anything else. */
export function fromHex(text: string): Uint8Array | null {
  if (!HEX.test(text)) return null
  const out = new Uint8Array(text.length / 2)
  for (let i = 0; i < out.length; i++) out[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return out
}

/** Standard base64 with padding (RFC 4648 section 4). */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000))
  return btoa(binary)
}

/** Bytes of padded standard base64, or null; text that another base64 would also decode to the same bytes is refused. */
export function fromBase64(text: string): Uint8Array | null {
  if (!BASE64.test(text)) return null
  const binary = atob(text)
  const out = Uint8Array.from(binary, (char) => char.charCodeAt(0))
  return toBase64(out) === text ? out : null
}

/** URL-safe base64 without padding (RFC 4648 section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Bytes of unpadded URL-safe base64, or null. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!BASE64URL.test(text)) return null
  const padded = text.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat((4 - (text.length % 4)) % 4)
  return fromBase64(padded)
}

/** True when both hold the same bytes. Not constant time: for public data only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
