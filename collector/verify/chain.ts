// Follows the log record by record: position, tree root, identity, time. Each record was signed over the root of all before it,
// so one wrong byte anywhere shows at the next record.
import { TIER_OF_SOURCE } from '../../conventions/decision.ts'
import { type Envelope, KEY_RECORDS } from '../../conventions/record.ts'
import { hashText } from './crypto.ts'
import type { Findings } from './findings.ts'
import type { RecordKeys, Signed } from './keys.ts'
import { Frontier } from './merkle.ts'
import { bodyOf, type ReadRecord } from './read-record.ts'

export interface Entry extends ReadRecord {
  signed: Signed
}

/** A record that is whole, signed by a key that may, and in its place: what the other checks may believe. */
export interface Accepted {
  seq: number
  leaf64: string
  record: Envelope
  known: boolean
}

/** Types that only somebody else's telemetry makes. */
const IMPORTS: ReadonlySet<string> = new Set([
  'spans.imported',
  'logs.imported',
  'metrics.imported',
  'session.imported',
])

export class Chain {
  /** Where the next record belongs; the size of the log at the end. */
  next = 0
  /** First position from which the tree can't be followed: records before it are missing, doubled or different. */
  private brokenAt: number | null = null
  private readonly tree = new Frontier()
  private readonly findings: Findings
  private readonly keys: RecordKeys
  private readonly logId: string | undefined
  private readonly onSize: (size: number, root: Uint8Array) => void
  private lastTime = ''

  /** `onSize` sees each size and root, as long as the tree can be followed. */
  constructor(
    findings: Findings,
    keys: RecordKeys,
    logId: string | undefined,
    onSize: (size: number, root: Uint8Array) => void,
  ) {
    this.findings = findings
    this.keys = keys
    this.logId = logId
    this.onSize = onSize
  }

  /** Takes the next record as it lies there; returns it when the other checks may believe it. */
  take(entry: Entry): Accepted | null {
    const { envelope, problem, signed } = entry
    const at = Math.max(this.next, envelope?.log.seq ?? 0)
    const declared = this.keys.standing(signed.kid, at)
    const standing = signed.ok || (!declared.ok && declared.code === 'record.key_unknown') ? declared : signed
    if (problem !== null) this.findings.add(problem.code, problem.note, this.next)
    else if (!standing.ok) this.findings.add(standing.code, standing.note, this.next)
    if (envelope === null || !standing.ok) {
      // Nothing it says counts, not even where it belongs: it takes the place it was found in.
      this.append(entry.leaf)
      return null
    }
    const { seq } = envelope.log
    if (seq < this.next) {
      this.findings.add('log.seq_duplicate', `record ${seq} where record ${this.next} belongs`, seq)
      this.breakAt(this.next)
      return null
    }
    if (seq > this.next) this.skipTo(seq)
    this.checkRoot(envelope)
    this.append(entry.leaf)
    this.checkMeaning(envelope, standing.tiers)
    this.keys.take(envelope)
    const revoked = bodyOf(envelope, 'key.revoked')
    if (revoked !== null)
      this.findings.add(
        'record.key_revoked',
        `${revoked.reason}: ${revoked.kid}, from record ${revoked.from_seq} on`,
        seq,
      )
    return { seq, leaf64: entry.leaf64, record: envelope, known: entry.known }
  }

  /** A complete subtree of 2^level leaves that are not shown, only hashed. The caller knows that it begins here. */
  takeSubtree(hash: Uint8Array, level: number): void {
    if (this.brokenAt === null && !this.tree.append(hash, level)) this.breakAt(this.next)
    this.next += 2 ** level
    if (this.brokenAt === null) this.onSize(this.next, this.tree.root())
  }

  private skipTo(seq: number): void {
    const first = this.next
    this.findings.add(
      'log.seq_missing',
      seq - first === 1 ? `record ${first}` : `records ${first} to ${seq - 1}`,
      first,
    )
    this.breakAt(first)
    this.next = seq
  }

  private append(leaf: Uint8Array): void {
    this.next++
    if (this.brokenAt !== null) return
    this.tree.append(leaf)
    this.onSize(this.next, this.tree.root())
  }

  private breakAt(position: number): void {
    this.brokenAt ??= position
  }

  private checkRoot({ log }: Envelope): void {
    if (this.brokenAt !== null || log.root === hashText(this.tree.root())) return
    this.findings.add(
      'log.root_mismatch',
      `record ${log.seq} was signed over other records than the ${log.seq} before it`,
      log.seq,
    )
    this.breakAt(log.seq)
  }

  private checkMeaning(record: Envelope, tiers: readonly string[]): void {
    const { log, tier, source, time, type } = record
    if (this.logId !== undefined && log.id !== this.logId)
      this.findings.add('log.id_mismatch', `log ${log.id}`, log.seq)
    if (time < this.lastTime) this.findings.add('time.backwards', `${time} after ${this.lastTime}`, log.seq)
    this.lastTime = time
    if (tier !== undefined && !tiers.includes(tier))
      this.findings.add('tier.key_scope', `${tier} by a key without it`, log.seq)
    const imported = IMPORTS.has(type) && source.kind !== 'otlp'
    if (tier !== TIER_OF_SOURCE[source.kind] || imported) {
      this.findings.add('tier.source_conflict', `${type} from ${source.kind} as ${tier ?? 'no tier'}`, log.seq)
    }
    const ofCollector = KEY_RECORDS.has(type) || type === 'retention.set'
    const ofPerson = type === 'content.expired' && source.kind !== 'person'
    if ((ofCollector || ofPerson) && source.kind !== 'collector')
      this.findings.add('tier.source_conflict', `${type} from ${source.kind}`, log.seq)
    if (type === 'log.opened' && log.seq !== 0) this.findings.add('record.schema', 'a log is opened once', log.seq)
  }
}
