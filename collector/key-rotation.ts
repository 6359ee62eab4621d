// Replaces the key that signs records, while the collector runs. The old key signs that the new one may; the new one signs from where
// on the old one may not; then the old one is deleted, so that who gets hold of the home later can't sign in its name.
import { toBase64 } from '../conventions/bytes.ts'
import { TIERS } from '../conventions/decision.ts'
import type { HomePaths } from '../conventions/home.ts'
import type { Body } from '../conventions/record.ts'
import { COLLECTOR } from './record/context.ts'
import type { State } from './record/state.ts'
import { forgetOtherRecordKeys, makeRecordKey, type RecordKey } from './sign/keys.ts'
import { signRecord } from './sign/signer.ts'
import { writeNewFile } from './store/files.ts'
import type { Signer, Writer } from './store/writer.ts'

export interface KeyRotationOptions {
  home: HomePaths
  /** The key that signs now. */
  key: RecordKey
  state: State
  writer: () => Writer
  /** A key that signs nothing any more could not be deleted; the next start tries again. */
  onFault: (error: unknown) => void
}

export class KeyRotation {
  /** Signs the next record. */
  signer: Signer
  private key: RecordKey
  private readonly options: KeyRotationOptions

  constructor(options: KeyRotationOptions) {
    this.options = options
    this.key = options.key
    this.signer = signerOf(options.key)
  }

  /** At a start: ends what a crash has interrupted, and deletes keys that sign nothing. */
  finish(): void {
    this.retireReplaced()
    this.forget()
  }

  /** A new key signs from here on. Resolves when that is durable and the old key deleted. */
  async rotate(): Promise<{ kid: string; replaces: string; last_seq: number }> {
    const { home, writer, state } = this.options
    const replaces = this.key.kid
    const key = makeRecordKey(home, writeNewFile)
    // No record comes between these: append is synchronous.
    const added = writer().append({
      type: 'key.added',
      source: COLLECTOR,
      body: { kid: key.kid, spki: toBase64(key.spki), tiers: [...TIERS] },
    })
    this.key = key
    this.signer = signerOf(key)
    this.retireReplaced()
    await writer().durable()
    // Unless it was replaced meanwhile: whoever did that forgets both.
    if (state.keys.at(-1)?.kid === key.kid) this.forget()
    return { kid: key.kid, replaces, last_seq: added.record.log.seq }
  }

  /**
   * Says that somebody else may have had a key, from record `fromSeq` on. The key that signs is replaced first. Resolves to the one
   * that signs then; to null where the log knows no such key.
   */
  async revoke(kid: string, fromSeq: number, reason: Body<'key.revoked'>['reason']): Promise<{ kid: string } | null> {
    if (!this.options.state.keys.some((known) => known.kid === kid)) return null
    if (kid === this.key.kid) await this.rotate()
    const { writer } = this.options
    writer().append({ type: 'key.revoked', source: COLLECTOR, body: { kid, from_seq: fromSeq, reason } })
    await writer().durable()
    return { kid: this.key.kid }
  }

  private retireReplaced(): void {
    const { state, writer } = this.options
    const from = state.keys.at(-1)?.from ?? 0
    for (const { kid, lastSeq } of state.keys.slice(0, -1)) {
      if (lastSeq !== undefined) continue
      writer().append({ type: 'key.retired', source: COLLECTOR, body: { kid, last_seq: from - 1 } })
    }
  }

  private forget(): void {
    try {
      forgetOtherRecordKeys(this.options.home, this.key)
    } catch (error) {
      this.options.onFault(error)
    }
  }
}

function signerOf(key: RecordKey): Signer {
  return { kid: key.kid, kidBytes: key.kidBytes, sign: (record) => signRecord(key.private, record) }
}
