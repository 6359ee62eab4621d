// Signs records and commits to content.
import { createHmac, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { Content } from '../../conventions/record.ts'
import { commitmentInput, preAuthEncoding, RECORD_TYPE } from '../../conventions/signing.ts'

/** Bytes. Long enough that equal content in two records can't be recognised and short content can't be guessed. */
const SALT_BYTES = 32

/** Ed25519 over the DSSE PAE of the record bytes. */
export function signRecord(key: KeyObject, record: Uint8Array): Uint8Array {
  return sign(null, preAuthEncoding(RECORD_TYPE, record), key)
}

/** Salted hash of named bytes, base64: EVIDENCE format, "commitment". */
export function commitment(salt: Uint8Array, name: string, bytes: Uint8Array): string {
  // In two pieces: the content may be large, and is not copied.
  const hmac = createHmac('sha256', salt).update(commitmentInput(name, NO_CONTENT)).update(bytes)
  return hmac.digest('base64')
}

const NO_CONTENT = new Uint8Array(0)

export interface Committed {
  name: string
  commitment: string
  salt: Uint8Array
  /** Bytes for the vault; undefined when only the salt is kept. */
  kept: Uint8Array | undefined
}

/** Commits to one piece of content with its own fresh salt, or the salt it asks for. */
export function commit(content: Content): Committed {
  const salt = content.salt ?? randomBytes(SALT_BYTES)
  return {
    name: content.name,
    commitment: content.commitment ?? commitment(salt, content.name, content.bytes),
    salt,
    kept: content.keep ? content.bytes : undefined,
  }
}
