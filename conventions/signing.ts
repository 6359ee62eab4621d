// What is hashed and signed, as bytes. Hashing itself is left to the caller, so that a browser can use the same contract.
// DSSE pre-authentication encoding: https://github.com/secure-systems-lab/dsse (protocol.md). Leaf and node prefixes: RFC 6962 section 2.1.

const UTF8 = new TextEncoder()

/** DSSE payload type of a record. An approval has another one, so neither can pass for the other. */
export const RECORD_TYPE = 'application/vnd.spanseal.record.v1+json'

/** DSSE PAE: the exact bytes a signature covers. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = UTF8.encode(payloadType)
  const head = UTF8.encode(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `)
  return concat(head, payload)
}

/** Bytes whose SHA-256 is the leaf of a record. */
export function leafInput(record: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0x00), record)
}

/** Bytes whose SHA-256 is the tree node over two hashes. */
export function nodeInput(left: Uint8Array, right: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0x01), left, right)
}

/** Message of the HMAC-SHA256 (key: 32 random bytes of salt) that commits to a named piece of content. */
export function commitmentInput(name: string, content: Uint8Array): Uint8Array {
  return concat(UTF8.encode(`spanseal/commit/v1\0${name}\0`), content)
}

/** Bytes of one after the other. */
export function concat(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
