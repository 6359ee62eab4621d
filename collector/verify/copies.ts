// Copies of records that were kept elsewhere (spans in a backend, lines in a file) against the log: each valid one must be a record of
// it, at the same place. A copy counts only when its own signature holds; that one is missing proves nothing.
import { ATTR_SPANSEAL_CHECKPOINT, ATTR_SPANSEAL_RECORD, ATTR_SPANSEAL_RECORD_1 } from '../../conventions/attributes.ts'
import type { Copy } from '../../conventions/copy.ts'
import type { VaultEntry } from '../../conventions/frame.ts'
import { readRecordAttributes } from '../../conventions/record-attribute.ts'
import type { Accepted } from './chain.ts'
import type { Findings } from './findings.ts'
import type { RecordKeys, Signed } from './keys.ts'
import { namedSpans } from './named-spans.ts'
import { bodyOf, type ReadRecord, readRecord } from './read-record.ts'

/** Signatures checked at once. */
const BATCH = 256

export interface CopySource {
  /** What they are, for the report: where from, which window. */
  from: string
  copies: readonly Copy[]
  /** What was not looked at there, and why. */
  notChecked: readonly string[]
}

/**
 * agrees: a signed record of this log; for a span of others, of the request that named it. receipt: of a request of others whose body
 * is not kept, so that nobody can say whether it named the span. damaged: it was one, and is cut, masked or on another span. not_signed: names this log and
 * carries no record. beyond, mismatch, fork, other_key: see the findings of that name. other_log: of another log.
 */
export type Verdict =
  | 'agrees'
  | 'receipt'
  | 'damaged'
  | 'not_signed'
  | 'beyond_log'
  | 'mismatch'
  | 'fork'
  | 'other_key'
  | 'other_log'

export interface JudgedCopy {
  trace_id: string
  span_id: string
  name: string
  verdict: Verdict
  /** Number of the record it carries. */
  seq?: number
}

export interface CopyReport {
  from: string
  not_checked: string[]
  counts: Record<Verdict, number>
  /** Highest record that a copy agrees with; null when none does. */
  agree_to: number | null
}

type Carried = ReadRecord & { kid: string; signature: Uint8Array; signed: Signed }

/** A copy by a key that the log has not named so far. */
interface Unnamed {
  copy: Copy
  carried: Carried
  seq: number
  note: string
}

/** A copy with a valid signature that waits for its place in the log. */
interface Waiting {
  copy: Copy
  /** Hex id of the key that signed it. */
  kid: string
  leaf64: string
  root: string
}

export class Copies {
  readonly judged: JudgedCopy[] = []
  private readonly source: CopySource
  private readonly findings: Findings
  private readonly waiting = new Map<number, Waiting[]>()
  /** By the hex id of the key. */
  private readonly unnamed = new Map<string, Unnamed[]>()
  private keys: RecordKeys | undefined
  /** Copies with the record of a request of others, until its body was looked at. */
  private readonly receipts = new Map<number, { encoding: unknown; copies: Copy[] }>()
  /** Copies without a record, by the span they are on: damaged when the log knows the span. */
  private readonly bare = new Map<string, Copy[]>()

  constructor(source: CopySource, findings: Findings) {
    this.source = source
    this.findings = findings
  }

  /** Checkpoints that are among the copies, each once. */
  get checkpoints(): string[] {
    const texts = this.source.copies.map((copy) => copy.attribute(ATTR_SPANSEAL_CHECKPOINT))
    return [...new Set(texts.filter((text) => text !== undefined))]
  }

  /** Reads and checks all copies by the keys that the log declares; before its first record is taken. */
  async begin(keys: RecordKeys, logId: string | undefined): Promise<void> {
    const { copies } = this.source
    this.keys = keys
    for (let at = 0; at < copies.length; at += BATCH) {
      const batch = copies.slice(at, at + BATCH)
      const carried = await Promise.all(batch.map((copy) => this.read(copy, keys)))
      // In the order they came, whichever signature was checked first.
      for (const [i, copy] of batch.entries()) this.place(copy, carried[i] ?? null, logId)
    }
  }

  /** The log names another key; before a record that it signed is taken. */
  keyNamed(kid: string): void {
    for (const { copy, carried, seq } of this.unnamed.get(kid) ?? []) {
      if (this.keys?.checkNow(kid, carried.bytes, carried.signature).ok !== true)
        this.damaged(copy, 'its bytes were changed')
      else this.wait(copy, kid, carried, seq)
    }
    this.unnamed.delete(kid)
  }

  /** The next record of the log. */
  take({ seq, leaf64, record }: Accepted): void {
    const { trace } = record
    for (const span of trace === undefined ? [] : [trace.span_id, trace.parent]) {
      const key = `${trace?.trace_id}/${span}`
      for (const copy of this.bare.get(key) ?? []) this.damaged(copy, 'its record was taken off')
      this.bare.delete(key)
    }
    for (const { copy, kid, leaf64: copied, root } of this.waiting.get(seq) ?? []) {
      if (this.isForeign(copy, kid, seq)) continue
      if (copied !== leaf64) {
        const verdict = root === record.log.root ? 'mismatch' : 'fork'
        this.judge(copy, verdict, seq)
        this.findings.add(`copy.${verdict}`, `record ${seq}, ${placeOf(copy)}`, seq)
      } else if (copy.traceId !== '' && record.type === 'spans.imported') {
        this.received(seq, record, copy)
      } else if (copy.traceId === '' || isOn(copy, trace)) this.judge(copy, 'agrees', seq)
      else this.damaged(copy, `it carries record ${seq}, which is about another span`, seq)
    }
    this.waiting.delete(seq)
  }

  /** Content that is what its record commits to: of a request of others, it must name the spans that carry the record. */
  body({ head: { seq, name }, content }: VaultEntry): void {
    const receipt = this.receipts.get(seq)
    if (receipt === undefined || !/^body(\.redacted)?$/.test(name)) return
    this.receipts.delete(seq)
    const { traces, spans } = namedSpans(content, receipt.encoding)
    for (const copy of receipt.copies) {
      if (traces.has(copy.traceId) && spans.has(copy.spanId)) this.judge(copy, 'agrees', seq)
      else this.damaged(copy, `it carries record ${seq}, of a request without such a span`, seq)
    }
  }

  /** The log has ended after `size` records. */
  end(size: number): void {
    for (const [seq, waiting] of [...this.waiting].sort(([a], [b]) => a - b)) {
      // A record that can't be believed at that place is a finding of its own; the copy says what was there.
      const verdict = seq >= size ? 'beyond_log' : 'mismatch'
      for (const { copy, kid } of waiting) {
        if (this.isForeign(copy, kid, seq)) continue
        this.judge(copy, verdict, seq)
        this.findings.add(`copy.${verdict}`, `record ${seq}, ${placeOf(copy)}`, seq)
      }
    }
    this.waiting.clear()
    for (const { copy, seq, note } of [...this.unnamed.values()].flat()) this.otherKey(copy, seq, note)
    this.unnamed.clear()
    for (const [seq, { copies }] of this.receipts) for (const copy of copies) this.judge(copy, 'receipt', seq)
    this.receipts.clear()
    for (const copy of [...this.bare.values()].flat()) {
      this.judge(copy, 'not_signed')
      this.findings.add('copy.not_signed', placeOf(copy))
    }
    this.bare.clear()
  }

  report(): CopyReport {
    const counts = {
      agrees: 0,
      receipt: 0,
      damaged: 0,
      not_signed: 0,
      beyond_log: 0,
      mismatch: 0,
      fork: 0,
      other_key: 0,
      other_log: 0,
    }
    let agreeTo: number | null = null
    for (const { verdict, seq } of this.judged) {
      counts[verdict]++
      if (verdict === 'agrees' && seq !== undefined) agreeTo = Math.max(agreeTo ?? 0, seq)
    }
    return { from: this.source.from, not_checked: [...this.source.notChecked], counts, agree_to: agreeTo }
  }

  /** The record that a copy carries and what its signature says; null when it carries none that can be read. */
  private async read(copy: Copy, keys: RecordKeys): Promise<Carried | null> {
    const carried = readRecordAttributes((key) => copy.attribute(key))
    if (carried === null) return null
    const { record, signature } = carried
    const kid = carried.kid.slice('sha256:'.length)
    return { ...readRecord(record), kid, signature, signed: await keys.check(kid, record, signature) }
  }

  private place(copy: Copy, carried: Carried | null, logId: string | undefined): void {
    if (carried === null) {
      this.placeBare(copy)
      return
    }
    const { envelope, kid, signed } = carried
    if (envelope !== null && envelope.log.id !== logId) this.judge(copy, 'other_log', envelope.log.seq)
    else if (envelope === null || (!signed.ok && signed.code === 'record.signature')) {
      this.damaged(copy, 'its bytes were changed')
    } else if (signed.ok) this.wait(copy, kid, carried, envelope.log.seq)
    else {
      const { seq } = envelope.log
      push(this.unnamed, kid, { copy, carried, seq, note: signed.note })
    }
  }

  private wait(copy: Copy, kid: string, { leaf64, envelope }: ReadRecord, seq: number): void {
    push(this.waiting, seq, { copy, kid, leaf64, root: envelope?.log.root ?? '' })
  }

  /** By a key that may not have signed there: not this log's word. */
  private isForeign(copy: Copy, kid: string, seq: number): boolean {
    const standing = this.keys?.standing(kid, seq)
    if (standing === undefined || standing.ok) return false
    this.otherKey(copy, seq, standing.note)
    return true
  }

  private otherKey(copy: Copy, seq: number, note: string): void {
    this.judge(copy, 'other_key', seq)
    this.findings.add('copy.other_key', `${note}, ${placeOf(copy)}`)
  }

  private received(seq: number, record: Accepted['record'], copy: Copy): void {
    const known = this.receipts.get(seq)
    if (known !== undefined) known.copies.push(copy)
    else this.receipts.set(seq, { encoding: bodyOf(record, 'spans.imported')?.encoding, copies: [copy] })
  }

  private placeBare(copy: Copy): void {
    const left = copy.attribute(ATTR_SPANSEAL_RECORD) ?? copy.attribute(ATTR_SPANSEAL_RECORD_1)
    if (left !== undefined) this.damaged(copy, guessOf(left))
    // A log record of a checkpoint is one of those that `checkpoints` gives.
    else if (copy.traceId !== '' || copy.attribute(ATTR_SPANSEAL_CHECKPOINT) === undefined)
      push(this.bare, `${copy.traceId}/${copy.spanId}`, copy)
  }

  private damaged(copy: Copy, why: string, seq?: number): void {
    this.judge(copy, 'damaged', seq)
    this.findings.add('copy.damaged', `${placeOf(copy)}: ${why}`)
  }

  private judge({ traceId, spanId, name }: Copy, verdict: Verdict, seq?: number): void {
    this.judged.push({ trace_id: traceId, span_id: spanId, name, verdict, ...(seq === undefined ? {} : { seq }) })
  }
}

/** The record is about the span: it names it, or it is the last record of a call's span. */
function isOn({ traceId, spanId, name }: Copy, trace: Accepted['record']['trace']): boolean {
  if (trace?.trace_id !== traceId) return false
  return trace.span_id === spanId || trace.parent === spanId || name.startsWith('execute_tool ')
}

/** What may have happened to an attribute that is there and can't be read. */
function guessOf(text: string): string {
  if (text.includes('*')) return 'part of its record was masked'
  return /^sha256:[0-9a-f]{64}\.[A-Za-z0-9_.-]*$/.test(text) ? 'its record was cut short' : 'its record was replaced'
}

function placeOf({ traceId, spanId }: Copy): string {
  return traceId === '' ? 'a log record' : `span ${spanId} of trace ${traceId}`
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
