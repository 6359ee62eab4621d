// Checkpoints: the signed head of the log as a C2SP signed note (https://c2sp.org/tlog-checkpoint, https://c2sp.org/signed-note).
import { createHash, type KeyObject, sign } from 'node:crypto'
import { toBase64 } from '../../conventions/bytes.ts'
import { concat } from '../../conventions/signing.ts'

/** Signed-note signature type of plain Ed25519. */
const ED25519 = 0x01

const UTF8 = new TextEncoder()

/** First four bytes of SHA-256(name, LF, type, public key). */
function keyId(name: string, publicKey: Uint8Array): Uint8Array {
  const input = concat(UTF8.encode(`${name}\n`), Uint8Array.of(ED25519), publicKey)
  return createHash('sha256').update(input).digest().subarray(0, 4)
}

/** The verifier key text that others pin: `<name>+<hex key id>+<base64 type and key>`. */
export function verifierKey(name: string, publicKey: Uint8Array): string {
  const id = Buffer.from(keyId(name, publicKey)).toString('hex')
  return `${name}+${id}+${toBase64(concat(Uint8Array.of(ED25519), publicKey))}`
}

/** A checkpoint over the first `size` records: origin, size and root, no extension lines, signed by the log key. */
export function signCheckpoint(
  origin: string,
  size: number,
  root: Uint8Array,
  key: KeyObject,
  publicKey: Uint8Array,
): string {
  const body = `${origin}\n${size}\n${toBase64(root)}\n`
  const signature = concat(keyId(origin, publicKey), sign(null, UTF8.encode(body), key))
  return `${body}\n— ${origin} ${toBase64(signature)}\n`
}
