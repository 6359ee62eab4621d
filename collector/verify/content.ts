// Opens the vault beside the log: each commitment of a record against the salt and bytes kept for it. Both are read once, in
// step; only what does not fit at once is remembered.
import { crc32 } from 'node:zlib'
import { fromHex } from '../../conventions/bytes.ts'
import { decodeVaultPayload, type VaultEntry } from '../../conventions/frame.ts'
import type { Envelope } from '../../conventions/record.ts'
import { commitmentInput } from '../../conventions/signing.ts'
import { wholeFrames } from '../../conventions/torn.ts'
import type { Accepted } from './chain.ts'
import { hashText, hmacSha256 } from './crypto.ts'
import { ExpiredContent } from './expired.ts'
import type { Findings } from './findings.ts'
import type { Place, SegmentItem } from './segments.ts'

const SALT = /^[0-9a-f]{64}$/

export interface ContentCounts {
  /** Values whose salt and bytes are there and match. */
  matched: number
  /** Values kept as salt alone: the bytes held a secret, or are the ones an earlier record kept. */
  salt_only: number
  /** Taken away, as a record says. */
  expired: number
  missing: number
  mismatched: number
  /** Vault entries behind the end of the log: of records that were not durable, or not yet. */
  later: number
}

/** A commitment that no vault entry has met yet. */
interface Waiting {
  seq: number
  name: string
  commitment: string
  /** A salt without bytes is enough. */
  saltOnly: boolean
  /** An entry was there and did not fit. */
  tried: boolean
}

export class VaultCheck {
  readonly counts: ContentCounts = { matched: 0, salt_only: 0, expired: 0, missing: 0, mismatched: 0, later: 0 }
  private readonly waiting = new Map<string, Waiting>()
  private readonly expired: ExpiredContent
  /** The record whose content is looked at. */
  private current: Envelope | null = null
  private readonly items: Iterator<SegmentItem>
  private readonly findings: Findings
  private readonly onMatched: ((entry: VaultEntry) => void) | undefined
  private ahead: VaultEntry | null = null
  /** The unreadable end of the vault, and the first record that something whole in it belongs to. */
  private rest: (Place & { note: string; firstSeq: number }) | null = null

  /** `onMatched` hears of each entry that is what its record commits to. */
  constructor(items: Iterable<SegmentItem>, findings: Findings, onMatched?: (entry: VaultEntry) => void) {
    this.onMatched = onMatched
    this.items = items[Symbol.iterator]()
    this.findings = findings
    this.expired = new ExpiredContent(findings)
    this.ahead = this.read()
  }

  /** Checks the content of a record, and takes every vault entry up to it. */
  take(accepted: Accepted): void {
    const { seq, record } = accepted
    this.expired.take(accepted)
    this.current = record
    const names = (record.commit ?? []).map(({ n }) => n)
    for (const { n, c } of record.commit ?? []) {
      const repeated = record.type === 'tool.completed' && n === 'args'
      const saltOnly = repeated || names.includes(`${n}.redacted`)
      this.waiting.set(`${seq} ${n}`, { seq, name: n, commitment: c, saltOnly, tried: false })
    }
    while (this.ahead !== null && this.ahead.head.seq <= seq) this.step(this.ahead)
  }

  /** Takes what is left, and names what was never met. `size`: number of records of the log. */
  end(size: number): void {
    if (this.rest !== null && this.rest.firstSeq < size) this.unreadable(this.rest)
    while (this.ahead !== null) {
      if (this.ahead.head.seq < size) {
        this.step(this.ahead)
        continue
      }
      this.counts.later++
      this.ahead = this.read()
    }
    const { expired, missing } = this.expired.end()
    this.counts.expired = expired
    this.counts.missing = missing
    for (const { seq, name, tried } of this.waiting.values()) {
      if (tried) {
        this.counts.mismatched++
        this.findings.add('content.mismatch', name, seq)
      } else {
        this.counts.missing++
        this.findings.add('content.missing', name, seq)
      }
    }
  }

  private step(entry: VaultEntry): void {
    this.meet(entry)
    this.ahead = this.read()
  }

  private meet(entry: VaultEntry): void {
    const { head, content } = entry
    const key = `${head.seq} ${head.name}`
    const waiting = this.waiting.get(key)
    if (waiting === undefined) {
      this.findings.add('content.unreferenced', head.name, head.seq)
      return
    }
    if (head.erased !== undefined && this.current?.log.seq === head.seq) {
      this.expired.erased(head.erased, head.seq, this.current)
      this.waiting.delete(key)
      return
    }
    const salt = SALT.test(head.salt) ? fromHex(head.salt) : null
    if (salt !== null && head.dropped === true && content.length === 0) {
      // Without the bytes nothing can be computed; whether they may be absent is what the record says.
      if (!waiting.saltOnly) return
      this.counts.salt_only++
      this.waiting.delete(key)
      return
    }
    const found = salt === null ? '' : hashText(hmacSha256(salt, commitmentInput(head.name, content)))
    if (found !== waiting.commitment) {
      waiting.tried = true
      return
    }
    this.counts.matched++
    this.waiting.delete(key)
    this.onMatched?.(entry)
  }

  /** The next entry; parts of the vault that can't be read are told and passed over. */
  private read(): VaultEntry | null {
    for (;;) {
      const { done, value: item } = this.items.next()
      if (done) return null
      if (item.kind === 'rest') {
        this.rest = { ...item, firstSeq: firstSeq(item.tail) }
        continue
      }
      const entry = item.kind === 'payload' ? decodeVaultPayload(item.payload) : null
      if (entry !== null && Number.isSafeInteger(entry.head.seq) && entry.head.seq >= 0) return entry
      this.unreadable({ ...item, note: item.kind === 'problem' ? item.note : 'a frame that is no vault entry' })
    }
  }

  private unreadable({ segment, offset, note }: Place & { note: string }): void {
    this.findings.add('content.mismatch', `vault segment ${segment} at byte ${offset}: ${note}`)
  }
}

/**
 * The first record that a whole entry in the bytes belongs to; infinity when there is none. Entries of records that are not in the
 * log, or none, are what an interrupted write leaves; what a durable record misses is found by the record.
 */
function firstSeq(tail: Uint8Array): number {
  for (const { payload } of wholeFrames(tail, 'vault', crc32)) {
    const entry = decodeVaultPayload(payload)
    if (entry !== null) return entry.head.seq
  }
  return Number.POSITIVE_INFINITY
}
