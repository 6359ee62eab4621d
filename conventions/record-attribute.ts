// The attribute `spanseal.record`: a signed record as one short text on the span it belongs to, so that any copy of the span is evidence.
//
//   <kid> . <base64url signature> . <base64url record bytes>        kid is written as in records: sha256:<64 hex>
import { fromBase64Url, toBase64 } from './bytes.ts'
import type { Receipt } from './record.ts'

/** Bytes. Tempo cuts attributes at 2,048; 1,900 leaves room for backends that count the key too. */
export const MAX_RECORD_ATTRIBUTE_BYTES = 1_900

const SHAPE = /^(sha256:[0-9a-f]{64})\.([A-Za-z0-9_-]{86})\.([A-Za-z0-9_-]+)$/

/**
 * Text of the attribute, or null when the record is too long for it (types that are no span's may be). `base64`: standard base64
 * with padding; where one is built in, it is several times faster.
 */
export function encodeRecordAttribute(
  { kid, signature, bytes }: Omit<Receipt, 'record' | 'leaf'>,
  base64: (bytes: Uint8Array) => string = toBase64,
): string | null {
  const text = `${kid}.${urlSafe(signature)}.${urlSafe(base64(bytes))}`
  return text.length <= MAX_RECORD_ATTRIBUTE_BYTES ? text : null
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Parts of the attribute, or null when it is cut, masked or anything else. What it says is not verified here. */
export function decodeRecordAttribute(text: string): { kid: string; signature: Uint8Array; record: Uint8Array } | null {
  const [, kid, signatureText, recordText] = SHAPE.exec(text) ?? []
  if (kid === undefined || signatureText === undefined || recordText === undefined) return null
  const signature = fromBase64Url(signatureText)
  const record = fromBase64Url(recordText)
  return signature === null || record === null ? null : { kid, signature, record }
}
