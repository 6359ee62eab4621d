// Which key may sign which record: the keys a log declares in its first record, with the tiers each may sign.
import { fromBase64, toHex } from '../../conventions/bytes.ts'
import type { Tier } from '../../conventions/decision.ts'
import type { Envelope } from '../../conventions/record.ts'
import { preAuthEncoding, RECORD_TYPE } from '../../conventions/signing.ts'
import { sha256 } from './crypto.ts'
import { type Ed25519Key, ed25519KeyOfSpki, verifyEd25519Async } from './ed25519.ts'
import { bodyOf } from './read-record.ts'

interface RecordKey {
  key: Ed25519Key
  tiers: readonly Tier[]
}

/** Record keys by the hex of their id. */
export type RecordKeys = ReadonlyMap<string, RecordKey>

/** What the signature says of a record; `tiers` are those its key may sign. */
export type Signed =
  | { ok: true; tiers: readonly Tier[] }
  | { ok: false; code: 'record.signature' | 'record.key_unknown'; note: string }

/**
 * Keys that a log.opened record declares, of those that are pinned where any are. One whose id is not the hash of its key, or which
 * is no acceptable key, is left out.
 */
export function declaredKeys(first: Envelope | null, pinned: readonly string[]): RecordKeys {
  const keys = new Map<string, RecordKey>()
  const opened = first === null ? null : bodyOf(first, 'log.opened')
  for (const { kid, spki, tiers } of opened?.keys ?? []) {
    const der = fromBase64(spki)
    const key = der === null ? null : ed25519KeyOfSpki(der)
    const id = kid.slice('sha256:'.length)
    if (pinned.length > 0 && !pinned.includes(id)) continue
    if (der !== null && key !== null && id === toHex(sha256(der))) keys.set(id, { key, tiers })
  }
  return keys
}

/** Checks a record's signature by a declared key. */
export async function checkSignature(
  keys: RecordKeys,
  kid: string,
  record: Uint8Array,
  signature: Uint8Array,
): Promise<Signed> {
  const known = keys.get(kid)
  if (known === undefined) return { ok: false, code: 'record.key_unknown', note: `sha256:${kid}` }
  const valid = await verifyEd25519Async(known.key, preAuthEncoding(RECORD_TYPE, record), signature)
  return valid ? { ok: true, tiers: known.tiers } : { ok: false, code: 'record.signature', note: `sha256:${kid}` }
}
