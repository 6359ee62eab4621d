// Verifies a bundle: the records of one run, each at its proven position in a log whose checkpoint is part of it.
import { fromBase64, fromHex } from '../../conventions/bytes.ts'
import type { SignedRecord } from '../../conventions/frame.ts'
import { concat } from '../../conventions/signing.ts'
import { parseStrict } from '../../conventions/strict-json.ts'
import {
  type BundleLine,
  LINES,
  type LineKind,
  MAX_BUNDLE_BYTES,
  MAX_LINE_BYTES,
  RESERVED_KINDS,
} from './bundle-format.ts'
import { bundleLines, type LineLimits } from './bundle-lines.ts'
import type { CheckpointSource } from './checkpoints.ts'
import { Checks, tooNew } from './checks.ts'
import { sha256Stream } from './crypto.ts'
import { Disclosed } from './disclosed.ts'
import { Findings } from './findings.ts'
import type { VerifyOptions } from './home.ts'
import { readRecord } from './read-record.ts'
import { concludeReport, type Report, unusableReport } from './report.ts'
import { NO_TRUST, readTrust, type Trust } from './trust.ts'

const LF = Uint8Array.of(0x0a)

type Line<K extends LineKind> = Extract<BundleLine, { kind: K }>

export type BundleOptions = VerifyOptions & { limits?: Partial<LineLimits> }

/** Verifies a bundle, given as its bytes (not compressed). Never throws on what it reads. */
export async function verifyBundleBytes(
  chunks: AsyncIterable<Uint8Array>,
  options: BundleOptions = {},
): Promise<Report> {
  const now = options.now ?? new Date()
  const pins = options.trust === undefined ? { ok: true as const, trust: NO_TRUST } : readTrust(options.trust)
  if (!pins.ok) return unusableReport('bundle', now, `trust file, line ${pins.line}: ${pins.message}`)
  const seen = (options.seen ?? []).map((text) => ({ text, from: 'the checkpoint given', outside: true }))
  const reader = new BundleReader(pins.trust, seen)
  const limits = { line: MAX_LINE_BYTES, total: MAX_BUNDLE_BYTES, ...options.limits }
  for await (const item of bundleLines(chunks, limits)) {
    if (item.kind === 'line') await reader.take(item.bytes)
    else if (item.kind === 'limit') reader.findings.add('bundle.limit', item.note)
    else if (item.kind === 'open') reader.findings.add('bundle.end', 'the last line does not end')
    else reader.unusable ??= `the bundle can't be read (${item.note})`
    if (reader.unusable !== null) break
  }
  if (reader.unusable !== null) return unusableReport('bundle', now, reader.unusable)
  const checks = reader.end()
  if (checks === null) {
    const [first] = reader.findings.list()
    return unusableReport(
      'bundle',
      now,
      `there is no record in it${first === undefined ? '' : ` (${first.code}: ${first.notes[0]})`}`,
    )
  }
  const content = reader.disclosed.counts
  const strict = options.strict ?? false
  return concludeReport({ ...checks.end(), content, subject: 'bundle', now, strict, torn_end: false })
}

class BundleReader {
  readonly findings = new Findings()
  readonly disclosed = new Disclosed(this.findings)
  /** Why reading is of no use. */
  unusable: string | null = null
  private head: Line<'bundle'> | null = null
  private checks: Checks | null = null
  private ended = false
  private lines = 0
  private readonly hash = sha256Stream()
  private readonly trust: Trust
  private readonly checkpoints: CheckpointSource[]

  constructor(trust: Trust, seen: CheckpointSource[]) {
    this.trust = trust
    this.checkpoints = seen
  }

  async take(bytes: Uint8Array): Promise<void> {
    const line = this.read(bytes)
    if (this.ended) this.findings.add('bundle.end', 'lines follow the end')
    if (line?.kind === 'end') this.checkEnd(line)
    this.lines++
    this.hash.update(concat(bytes, LF))
    if (line !== null && this.unusable === null) await this.follow(line)
  }

  /** All lines are read. Null when nothing could be checked. */
  end(): Checks | null {
    if (!this.ended) this.findings.add('bundle.end', 'the end line is missing')
    const { head, checks } = this
    if (head !== null && checks !== null && checks.chain.next !== head.size) {
      this.findings.add('bundle.position', `the lines cover ${checks.chain.next} of ${head.size} records`)
    }
    return checks
  }

  private read(bytes: Uint8Array): BundleLine | null {
    const parsed = parseStrict(bytes)
    const value = parsed.ok ? parsed.value : null
    const kind = value !== null && typeof value === 'object' && !Array.isArray(value) ? value.kind : undefined
    if (this.head === null && kind !== 'bundle') {
      this.unusable = 'this is no bundle: its first line does not say so'
      return null
    }
    if (RESERVED_KINDS.includes(String(kind))) {
      this.unusable = `it holds a line of kind ${kind}, which this version does not read`
      return null
    }
    if (
      kind === 'bundle' &&
      value !== null &&
      typeof value === 'object' &&
      !Array.isArray(value) &&
      Number(value.v) > 1
    ) {
      this.unusable = `bundle format ${value.v}; this version reads format 1`
      return null
    }
    const schema = typeof kind === 'string' && Object.hasOwn(LINES, kind) ? LINES[kind as LineKind] : null
    const result = schema?.safeParse(value)
    if (result?.success) return result.data
    if (this.head === null) this.unusable = 'the first line of the bundle can not be read'
    else this.findings.add('bundle.line', `line ${this.lines + 1}`)
    return null
  }

  private async follow(line: BundleLine): Promise<void> {
    switch (line.kind) {
      case 'bundle':
        if (this.head === null) this.head = line
        else this.findings.add('bundle.line', `line ${this.lines}: a second bundle line`)
        return
      case 'note':
        if (this.checks !== null)
          this.findings.add('bundle.line', `line ${this.lines}: a checkpoint after the first record`)
        else this.checkpoints.push({ text: line.note, from: `line ${this.lines}`, outside: false })
        return
      case 'rec':
        return this.record(line)
      case 'open':
        return this.disclosed.take(line)
      case 'node':
        return this.node(line)
      case 'end':
        this.ended = true
    }
  }

  private async record({ seq, dsse }: Line<'rec'>): Promise<void> {
    const signed = signedRecord(dsse)
    if (signed === null) this.findings.add('bundle.line', `line ${this.lines}: not base64`, seq)
    const checks = signed === null ? null : (this.checks ?? this.begin(signed.record))
    if (signed === null || checks === null) return
    if (seq !== checks.chain.next) this.misplaced(`record ${seq}`, checks.chain.next)
    const entry = await checks.entry(signed)
    checks.take(entry)
    this.disclosed.after(entry.signed.ok ? entry.envelope : null)
  }

  private node({ l, i, h }: Line<'node'>): void {
    const hash = fromBase64(h)
    if (this.checks === null || hash === null) {
      this.findings.add('bundle.position', 'the record that opens the log is not the first one shown')
      return
    }
    const { chain } = this.checks
    const from = i * 2 ** l
    if (from !== chain.next || from + 2 ** l > (this.head?.size ?? 0)) this.misplaced(`node ${l}/${i}`, chain.next)
    else chain.takeSubtree(hash, l)
  }

  private misplaced(what: string, next: number): void {
    this.findings.add('bundle.position', `${what} where position ${next} belongs`)
  }

  private begin(first: Uint8Array): Checks | null {
    const { head } = this
    if (head === null) return null
    this.unusable = tooNew(first)
    const read = readRecord(first)
    if (read.envelope !== null && read.envelope.log.id !== head.log) {
      this.findings.add('log.id_mismatch', `the bundle names log ${head.log}`, 0)
    }
    const { findings, trust, checkpoints } = this
    this.checks = new Checks(read, { findings, trust, checkpoints, vault: null, scope: head.scope })
    return this.checks
  }

  private checkEnd({ lines, sha256 }: Line<'end'>): void {
    if (lines !== this.lines) this.findings.add('bundle.end', `${lines} lines were written, ${this.lines} are there`)
    if (sha256 !== this.hash.hex()) this.findings.add('bundle.end', 'the lines are not those that were written')
  }
}

function signedRecord(dsse: Line<'rec'>['dsse']): SignedRecord | null {
  const record = fromBase64(dsse.payload)
  const [{ keyid, sig }] = dsse.signatures
  const signature = fromBase64(sig)
  const kid = fromHex(keyid.slice('sha256:'.length))
  return record === null || signature === null || kid === null ? null : { kid, signature, record }
}
