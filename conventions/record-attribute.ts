// A signed record as text on the span it belongs to, so that any copy of the span is evidence.
//
//   <kid> . <base64url signature> . <base64url record bytes>        kid is written as in records: sha256:<64 hex>
//
// One attribute `spanseal.record` where that fits; a longer record travels in order in `spanseal.record.1`, `.2`, `.3`.
import {
  ATTR_SPANSEAL_RECORD,
  ATTR_SPANSEAL_RECORD_1,
  ATTR_SPANSEAL_RECORD_2,
  ATTR_SPANSEAL_RECORD_3,
} from './attributes.ts'
import { fromBase64Url, toBase64Url } from './bytes.ts'
import type { Receipt } from './record.ts'

/** Characters. Tempo cuts attributes at 2,048 bytes; 1,900 leaves room for backends that count the key too. */
export const MAX_RECORD_ATTRIBUTE_CHARS = 1_900

/** As many as the longest record needs. */
const PARTS = [ATTR_SPANSEAL_RECORD_1, ATTR_SPANSEAL_RECORD_2, ATTR_SPANSEAL_RECORD_3]

const SHAPE = /^(sha256:[0-9a-f]{64})\.([A-Za-z0-9_-]{86})\.([A-Za-z0-9_-]+)$/

/** The attributes of a record, by key. `base64Url`: without padding; where one is built in, it is several times faster. */
export function recordAttributes(
  { kid, signature, bytes }: Omit<Receipt, 'record' | 'leaf'>,
  base64Url: (bytes: Uint8Array) => string = toBase64Url,
): Record<string, string> {
  const text = `${kid}.${urlSafe(signature)}.${base64Url(bytes)}`
  if (text.length <= MAX_RECORD_ATTRIBUTE_CHARS) return { [ATTR_SPANSEAL_RECORD]: text }
  const parts: Record<string, string> = {}
  for (const [n, key] of PARTS.entries()) {
    const part = text.slice(n * MAX_RECORD_ATTRIBUTE_CHARS, (n + 1) * MAX_RECORD_ATTRIBUTE_CHARS)
    if (part !== '') parts[key] = part
  }
  return parts
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The signed record that a span's attributes carry, or null when it is cut, masked or absent. Nothing is verified here. */
export function readRecordAttributes(
  read: (key: string) => unknown,
): { kid: string; signature: Uint8Array; record: Uint8Array } | null {
  const [, kid, signatureText, recordText] = SHAPE.exec(joined(read)) ?? []
  if (kid === undefined || signatureText === undefined || recordText === undefined) return null
  const signature = fromBase64Url(signatureText)
  const record = fromBase64Url(recordText)
  return signature === null || record === null ? null : { kid, signature, record }
}

function joined(read: (key: string) => unknown): string {
  const whole = read(ATTR_SPANSEAL_RECORD)
  if (typeof whole === 'string') return whole
  return PARTS.map((key) => read(key))
    .filter((part) => typeof part === 'string')
    .join('')
}
