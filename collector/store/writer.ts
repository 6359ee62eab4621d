// The single writer: gives each record its place in the log, signs it, and makes it durable in groups.
// `append` is synchronous, so the order of calls is the order of the log; `durable` says when it is safe to answer.

import { toBase64, toHex } from '../../conventions/bytes.ts'
import { TIER_OF_SOURCE } from '../../conventions/decision.ts'
import { encodeLogPayload, encodeVaultHead, MAX_GROUP_FRAMES } from '../../conventions/frame.ts'
import { canonicalBytes } from '../../conventions/jcs.ts'
import { MAX_ENTRY_BYTES, MAX_RECORD_BYTES } from '../../conventions/limits.ts'
import type { Position } from '../../conventions/log.ts'
import type { AnyDraft, AnyRecord, Content, Written } from '../../conventions/record.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { Payload, SegmentWriter } from './segment-writer.ts'

/** Milliseconds. A clock that goes back further than this is recorded. */
const CLOCK_STEP_MS = 2_000

/** Who signs. */
export interface Signer {
  kid: string
  kidBytes: Uint8Array
  sign(record: Uint8Array): Uint8Array
}

/** What the writer needs to know of signing; given by the pipeline. */
export interface Signing {
  /** Asked for each record: another one may sign the next. */
  signer(): Signer
  leaf(record: Uint8Array): Uint8Array
  commit(content: Content): { name: string; commitment: string; salt: Uint8Array; kept: Uint8Array | undefined }
}

export interface Head {
  size: number
  root(): Uint8Array
  append(leaf: Uint8Array): void
}

export interface WriterOptions {
  logId: string
  log: SegmentWriter
  vault: SegmentWriter
  signing: Signing
  head: Head
  /** Milliseconds since 1970. */
  now: () => number
  /** Collector time of the last record, milliseconds. */
  lastTime: number
  /** Next seq and previous leaf of a run part. */
  runHead: (run: { id: string; part: number }) => { seq: number; prev: string | null }
  /** Sees every record at once, before it is durable: the live state. */
  onRecord: (written: Written) => void
  /** Sees the newest durable position after each sync. */
  onDurable: (position: Position, head: { size: number; root: Uint8Array }) => void
}

interface Group {
  log: Payload[]
  vault: Payload[]
  /** The log's head after the group's last record. */
  head: { size: number; root: Uint8Array }
  done: Promise<void>
  resolve: () => void
  reject: (error: Error) => void
}

export class Writer {
  private readonly options: WriterOptions
  private lastTime: number
  /** The clock as it was last read: a step is a step once, not until the clock has caught up. */
  private lastRead: number
  private waiting: Group[] = []
  /** The group being written: it takes no more records. */
  private onDisk: Group | undefined
  private flushing = false
  private failure: Error | undefined
  /** Number of records that are durable. */
  durableSize: number

  constructor(options: WriterOptions) {
    this.options = options
    this.lastTime = options.lastTime
    this.lastRead = options.lastTime
    this.durableSize = options.head.size
  }

  /** Records a draft. Throws when the writer has failed: nothing can become durable any more. */
  append(draft: AnyDraft): Written {
    if (this.failure !== undefined) throw this.failure
    const now = this.options.now()
    const ms = now - this.lastRead
    this.lastRead = now
    if (ms < -CLOCK_STEP_MS) this.append({ type: 'clock.stepped', source: { kind: 'collector' }, body: { ms } })
    return this.write(draft, Math.max(now, this.lastTime))
  }

  /** Why nothing can be recorded any more; undefined while all is well. */
  get failed(): Error | undefined {
    return this.failure
  }

  /** Resolves when everything appended so far is on disk; rejects when it can't be. */
  async durable(): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    await this.waiting.at(-1)?.done
  }

  private write(draft: AnyDraft, time: number): Written {
    const { signing, head } = this.options
    const committed = (draft.contents ?? []).map((content) => signing.commit(content))
    const run = draft.run === undefined ? undefined : { ...draft.run, ...this.options.runHead(draft.run) }
    const tier = TIER_OF_SOURCE[draft.source.kind]
    const seq = head.size
    const record: Record<string, unknown> = {
      v: 1,
      type: draft.type,
      log: { id: this.options.logId, seq, root: toBase64(head.root()) },
      time: new Date(time).toISOString(),
      source: draft.source,
      body: draft.body,
    }
    if (run !== undefined) record.run = run
    if (tier !== undefined) record.tier = tier
    if (draft.trace !== undefined) record.trace = draft.trace
    if (draft.call !== undefined) record.call = draft.call
    if (committed.length > 0) record.commit = committed.map(({ name, commitment }) => ({ n: name, c: commitment }))
    const bytes = canonicalBytes(withoutUndefined(record))
    if (bytes.length > (draft.type === 'log.opened' ? MAX_ENTRY_BYTES : MAX_RECORD_BYTES)) {
      throw new RangeError(`a ${draft.type} record of ${bytes.length} bytes; at most ${MAX_RECORD_BYTES} are allowed`)
    }
    const leaf = signing.leaf(bytes)
    const signer = signing.signer()
    const signature = signer.sign(bytes)
    head.append(leaf)
    this.lastTime = time
    const group = this.openGroup()
    group.log.push([encodeLogPayload({ kid: signer.kidBytes, signature, record: bytes })])
    for (const { name, salt, kept } of committed) {
      const vaultHead = { seq, name, salt: toHex(salt), ...(kept === undefined ? { dropped: true as const } : {}) }
      group.vault.push(kept === undefined ? [encodeVaultHead(vaultHead)] : [encodeVaultHead(vaultHead), kept])
    }
    group.head = { size: head.size, root: head.root() }
    const written: Written = {
      record: record as AnyRecord,
      bytes,
      leaf: toBase64(leaf),
      kid: signer.kid,
      signature: toBase64(signature),
      salts: new Map(committed.map(({ name, salt }) => [name, salt])),
    }
    this.options.onRecord(written)
    return written
  }

  private openGroup(): Group {
    const last = this.waiting.at(-1)
    if (last !== undefined && last !== this.onDisk && last.log.length < MAX_GROUP_FRAMES) return last
    let resolve: () => void = () => {}
    let reject: (error: Error) => void = () => {}
    const done = new Promise<void>((yes, no) => {
      resolve = yes
      reject = no
    })
    // Someone may append without waiting; the failure reaches everyone who asks.
    done.catch(() => {})
    const group: Group = { log: [], vault: [], head: { size: 0, root: new Uint8Array(0) }, done, resolve, reject }
    this.waiting.push(group)
    if (!this.flushing) {
      this.flushing = true
      setImmediate(() => void this.flush())
    }
    return group
  }

  /** Content first, then the records that commit to it: a durable record never misses its content. */
  private async flush(): Promise<void> {
    for (;;) {
      const group = this.waiting[0]
      if (group === undefined) break
      this.onDisk = group
      try {
        await this.options.vault.append(group.vault)
        const end = await this.options.log.append(group.log)
        this.waiting.shift()
        this.durableSize = group.head.size
        group.resolve()
        this.options.onDurable(end, group.head)
      } catch (error) {
        this.fail(error instanceof Error ? error : new Error(String(error)))
        break
      }
    }
    this.onDisk = undefined
    this.flushing = false
  }

  private fail(error: Error): void {
    this.failure = error
    for (const group of this.waiting.splice(0)) group.reject(error)
  }
}

/** JSON has no undefined: optional members that are absent are left out. */
function withoutUndefined(value: unknown): Json {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (value === null || typeof value !== 'object') return value as Json
  const out: { [key: string]: Json } = {}
  for (const [key, member] of Object.entries(value)) if (member !== undefined) out[key] = withoutUndefined(member)
  return out
}
