// Which key may sign which record: those that the log's first record declares, with the tiers each may sign, then those that later
// records add and retire. Whether a signature holds and whether its key may stand at that place are two questions: signatures are
// checked many at a time, places one after the other.
import { fromBase64, toHex } from '../../conventions/bytes.ts'
import type { Tier } from '../../conventions/decision.ts'
import type { Envelope } from '../../conventions/record.ts'
import { preAuthEncoding, RECORD_TYPE } from '../../conventions/signing.ts'
import { sha256 } from './crypto.ts'
import { type Ed25519Key, ed25519KeyOfSpki, verifyEd25519, verifyEd25519Async } from './ed25519.ts'
import { bodyOf } from './read-record.ts'

/** Keys of one log. Others are taken for unknown: nobody rotates that often, and a made-up log could hold any number. */
const MAX_KEYS = 10_000

const PREFIX = 'sha256:'

/** What the signature says of a record. `kid`: hex id of the key that made it. */
export type Signed =
  | { ok: true; kid: string }
  | { ok: false; kid: string; code: 'record.signature' | 'record.key_unknown'; note: string }

/** Whether a key may sign at a place; `tiers` are those that it may sign there. */
export type Standing =
  | { ok: true; tiers: readonly Tier[] }
  | { ok: false; code: 'record.key_unknown' | 'record.key_retired'; note: string }

interface Declared {
  kid: string
  spki: string
  tiers: Tier[]
}

interface Place {
  tiers: readonly Tier[]
  /** Last record that it may have signed. */
  lastSeq: number
}

export class RecordKeys {
  /** Keys that the log names anywhere, by the hex of their id: enough to check a signature. */
  private readonly named = new Map<string, Ed25519Key>()
  /** Those that were declared by the records taken so far. */
  private readonly places = new Map<string, Place>()
  private readonly pinned: readonly string[]

  /** `pinned`: ids of the only keys that may sign at all; empty for any. */
  constructor(first: Envelope | null, pinned: readonly string[]) {
    this.pinned = pinned
    const opened = first === null ? null : bodyOf(first, 'log.opened')
    for (const key of opened?.keys ?? []) if (this.name(key) !== null) this.declare(key)
  }

  /**
   * Sees a record before its turn: a key that it adds can be checked against from here on. It may sign only once the record itself
   * was taken. Returns the id of a key that was not known yet.
   */
  foresee(record: Envelope | null): string | null {
    const added = record === null ? null : bodyOf(record, 'key.added')
    if (added === null || this.named.has(added.kid.slice(PREFIX.length))) return null
    return this.name(added)
  }

  /** Whether the key `kid` (hex) made the signature. */
  async check(kid: string, record: Uint8Array, signature: Uint8Array): Promise<Signed> {
    const key = this.named.get(kid)
    return conclude(kid, key && (await verifyEd25519Async(key, preAuthEncoding(RECORD_TYPE, record), signature)))
  }

  /** The same, at once. */
  checkNow(kid: string, record: Uint8Array, signature: Uint8Array): Signed {
    const key = this.named.get(kid)
    return conclude(kid, key && verifyEd25519(key, preAuthEncoding(RECORD_TYPE, record), signature))
  }

  /** Whether the key may have signed record `seq`, by the records taken so far. */
  standing(kid: string, seq: number): Standing {
    const place = this.places.get(kid)
    if (place === undefined) return { ok: false, code: 'record.key_unknown', note: PREFIX + kid }
    if (seq <= place.lastSeq) return { ok: true, tiers: place.tiers }
    return {
      ok: false,
      code: 'record.key_retired',
      note: `${PREFIX}${kid} signed nothing behind record ${place.lastSeq}`,
    }
  }

  /** A record that counts, in its turn: what it says of keys holds from the next one on. */
  take(record: Envelope): void {
    const added = bodyOf(record, 'key.added')
    if (added !== null && this.named.has(added.kid.slice(PREFIX.length))) this.declare(added)
    const retired = bodyOf(record, 'key.retired')
    if (retired !== null) this.end(retired.kid, retired.last_seq)
    const revoked = bodyOf(record, 'key.revoked')
    if (revoked !== null) this.end(revoked.kid, record.log.seq)
  }

  private end(kid: string, lastSeq: number): void {
    const place = this.places.get(kid.slice(PREFIX.length))
    if (place !== undefined) place.lastSeq = Math.min(place.lastSeq, lastSeq)
  }

  /** One whose id is not the hash of its key, which is no acceptable key, or which is not among the pinned ones, is left out. */
  private name({ kid, spki }: Declared): string | null {
    const der = fromBase64(spki)
    const key = der === null ? null : ed25519KeyOfSpki(der)
    const id = kid.slice(PREFIX.length)
    if (this.named.size >= MAX_KEYS || (this.pinned.length > 0 && !this.pinned.includes(id))) return null
    if (der === null || key === null || id !== toHex(sha256(der))) return null
    this.named.set(id, key)
    return id
  }

  /** A key that was retired stays so: it is not declared again. */
  private declare({ kid, tiers }: Declared): void {
    const id = kid.slice(PREFIX.length)
    if (!this.places.has(id)) this.places.set(id, { tiers, lastSeq: Number.POSITIVE_INFINITY })
  }
}

function conclude(kid: string, valid: boolean | undefined): Signed {
  if (valid === true) return { ok: true, kid }
  return { ok: false, kid, code: valid === undefined ? 'record.key_unknown' : 'record.signature', note: PREFIX + kid }
}
