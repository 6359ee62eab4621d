// All checks that follow a log record by record, begun by its first record, which says whose log it is and who may sign.
import { toHex } from '../../conventions/bytes.ts'
import type { SignedRecord } from '../../conventions/frame.ts'
import { parseStrict } from '../../conventions/strict-json.ts'
import { Approvers } from './approvers.ts'
import { type Accepted, Chain, type Entry } from './chain.ts'
import { type CheckpointSource, Checkpoints } from './checkpoints.ts'
import type { VaultCheck } from './content.ts'
import type { Copies } from './copies.ts'
import { Decisions } from './decisions.ts'
import { Evidence } from './evidence.ts'
import type { Findings } from './findings.ts'
import { RecordKeys } from './keys.ts'
import { EMPTY_ROOT } from './merkle.ts'
import { bodyOf, type ReadRecord, readRecord } from './read-record.ts'
import type { Gathered, LogInfo, Report } from './report.ts'
import { Runs } from './runs.ts'
import type { Trust } from './trust.ts'

/** Version of records and logs that this verifier reads. */
const FORMAT = 1

export interface ChecksOptions {
  findings: Findings
  trust: Trust
  checkpoints: readonly CheckpointSource[]
  /** Content to open beside the records; null where none is at hand. */
  vault: VaultCheck | null
  /** Copies kept elsewhere to compare with; null for none. */
  copies?: Copies | null
  /** The one run that is shown; null when all of the log is. */
  scope: Report['scope']
}

export class Checks {
  readonly chain: Chain
  private readonly keys: RecordKeys
  private readonly log: LogInfo | null
  private readonly checkpoints: Checkpoints
  private readonly runs: Runs
  private readonly approvers: Approvers
  private readonly decisions: Decisions
  private readonly evidence = new Evidence()
  private readonly options: ChecksOptions
  private read = 0
  private inScope = 0

  constructor(first: ReadRecord, options: ChecksOptions) {
    this.options = options
    const { findings, scope } = options
    this.log = describeLog(first)
    this.keys = new RecordKeys(first.envelope, options.trust.recordKeys)
    if (this.log === null) findings.add('genesis.mismatch', 'the first record opens no log', 0)
    this.checkpoints = new Checkpoints(options.checkpoints, this.log, options.trust, findings)
    this.checkpoints.at(0, EMPTY_ROOT)
    this.chain = new Chain(findings, this.keys, first.envelope?.log.id, (size, root) => this.checkpoints.at(size, root))
    this.runs = new Runs(findings, scope === null)
    this.approvers = new Approvers(findings, options.trust, first.leaf64)
    this.decisions = new Decisions(findings, scope === null, options.trust.approvers.length > 0, this.approvers)
  }

  /** Before the first record is taken. */
  async begin(): Promise<void> {
    await this.options.copies?.begin(this.keys, this.log?.id)
  }

  /** Reads a signed record and checks its signature; records of one log may be checked at the same time. */
  async entry({ kid, signature, record }: SignedRecord): Promise<Entry> {
    const read = readRecord(record)
    // Records that a new key signs may be checked at the same time as the one that adds it.
    const added = this.keys.foresee(read.envelope)
    if (added !== null) this.options.copies?.keyNamed(added)
    return { ...read, signed: await this.keys.check(toHex(kid), record, signature) }
  }

  /** Takes the next record in the order of the log. */
  take(entry: Entry): void {
    this.read++
    const accepted = this.chain.take(entry)
    if (accepted !== null) this.options.copies?.take(accepted)
    if (accepted !== null) this.approvers.take(accepted)
    if (accepted === null || !this.concerns(accepted)) return
    this.inScope++
    this.runs.take(accepted)
    this.decisions.take(accepted)
    this.evidence.take(accepted)
    this.options.vault?.take(accepted)
  }

  /** Ends all checks and gives what the report is made of. */
  end(): Omit<Gathered, 'now' | 'strict' | 'subject' | 'torn_end'> {
    const { findings, trust, scope, vault, copies } = this.options
    const size = this.chain.next
    this.runs.end()
    this.checkpoints.end(size)
    vault?.end(size)
    copies?.end(size)
    if (scope !== null && this.inScope === 0) findings.add('run.chain', `no record of run ${scope.run}`)
    return {
      trust,
      log: this.log,
      scope,
      size,
      read: this.read,
      checkpoint: this.checkpoints.covered,
      outside: this.checkpoints.outside,
      ...(copies === undefined || copies === null ? {} : { copies: copies.report() }),
      decisions: this.decisions.counts,
      approvers: this.approvers.list(),
      evidence: this.evidence.counts,
      content: vault?.counts ?? null,
      findings,
    }
  }

  private concerns({ record }: Accepted): boolean {
    const { scope } = this.options
    if (scope === null) return true
    return record.run?.id === scope.run && (scope.part === null || record.run.part === scope.part)
  }
}

/** Why this version can't read a log that begins with these bytes, or null. */
export function tooNew(first: Uint8Array): string | null {
  const parsed = parseStrict(first)
  if (!parsed.ok || parsed.value === null || typeof parsed.value !== 'object' || Array.isArray(parsed.value))
    return null
  const { v, body } = parsed.value
  const format = body !== null && typeof body === 'object' && !Array.isArray(body) ? body?.format : undefined
  for (const version of [v, format]) {
    if (typeof version === 'number' && version > FORMAT)
      return `written in format ${version}; this version reads format ${FORMAT}`
  }
  return null
}

function describeLog({ envelope, leaf }: ReadRecord): LogInfo | null {
  const opened = envelope === null || envelope.log.seq !== 0 ? null : bodyOf(envelope, 'log.opened')
  if (envelope === null || opened === null) return null
  return { id: envelope.log.id, origin: opened.origin, log_key: opened.log_key, genesis: toHex(leaf) }
}
