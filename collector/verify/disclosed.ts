// Content that a bundle discloses: each `open` line against the commitment of the record before it.
import { fromBase64, fromHex } from '../../conventions/bytes.ts'
import type { Envelope } from '../../conventions/record.ts'
import { commitmentInput } from '../../conventions/signing.ts'
import type { BundleLine } from './bundle-format.ts'
import type { ContentCounts } from './content.ts'
import { hashText, hmacSha256 } from './crypto.ts'
import type { Findings } from './findings.ts'

export class Disclosed {
  /** Null as long as nothing was disclosed. */
  counts: ContentCounts | null = null
  private readonly findings: Findings
  private record: Envelope | null = null

  constructor(findings: Findings) {
    this.findings = findings
  }

  /** The record that the next lines may open; null when it can't be believed. */
  after(record: Envelope | null): void {
    this.record = record
  }

  take({ seq, n, salt, content }: Extract<BundleLine, { kind: 'open' }>): void {
    this.counts ??= { matched: 0, salt_only: 0, expired: 0, missing: 0, mismatched: 0, later: 0 }
    const commitment = this.record?.log.seq === seq ? this.record.commit?.find((one) => one.n === n)?.c : undefined
    const key = fromHex(salt)
    const bytes = fromBase64(content)
    const matches =
      commitment !== undefined &&
      key !== null &&
      bytes !== null &&
      hashText(hmacSha256(key, commitmentInput(n, bytes))) === commitment
    if (matches) this.counts.matched++
    else {
      this.counts.mismatched++
      this.findings.add('content.mismatch', n, seq)
    }
  }
}
