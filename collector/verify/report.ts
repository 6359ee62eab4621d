// The report: what was found, as data. `render.ts` says it in words; both are the same answer.
import type { ListedApprover } from './approvers.ts'
import type { Covered } from './checkpoints.ts'
import type { ContentCounts } from './content.ts'
import type { CopyReport } from './copies.ts'
import type { DecisionCounts } from './decisions.ts'
import type { EvidenceCounts } from './evidence.ts'
import type { Finding, Findings } from './findings.ts'
import type { Trust } from './trust.ts'

/**
 * intact: pinned genesis, valid checkpoint by the pinned log key, nothing broken. self_consistent: nothing broken, but not pinned.
 * broken: something is not what was signed. unusable: not enough could be read to say anything.
 */
export type Status = 'intact' | 'self_consistent' | 'broken' | 'unusable'

/** 0 intact or self-consistent, 1 broken, 2 unusable or too new, 3 a decision was not obeyed, or (strict) anything less than intact without warnings. */
export type ExitCode = 0 | 1 | 2 | 3

export interface LogInfo {
  id: string
  origin: string
  log_key: string
  /** Hex leaf of the first record: what a trust file pins. */
  genesis: string
}

export interface Report {
  v: 1
  subject: 'home' | 'bundle' | 'index'
  /** When it was verified. */
  time: string
  status: Status
  exit: ExitCode
  /** Why nothing can be said. */
  unusable: string | null
  log: LogInfo | null
  /** Run whose records a bundle holds. */
  scope: { run: string; part: number | null } | null
  /** Number of records of the log, and how many of them were read (fewer in a bundle). */
  size: number
  read: number
  pinned: { genesis: boolean; log_key: boolean }
  checkpoint: Covered | null
  /** Records after the newest checkpoint. */
  signed_only: number
  /** The last write was cut short; nothing was acknowledged by it. */
  torn_end: boolean
  /** Newest checkpoint kept elsewhere that agrees. */
  outside: Covered | null
  /** Copies that were compared; absent when none were asked for. */
  copies?: CopyReport
  decisions: DecisionCounts | null
  /** Everybody who might have answered, in the order they were added. */
  approvers: ListedApprover[]
  evidence: EvidenceCounts | null
  content: ContentCounts | null
  findings: Finding[]
}

export interface Gathered {
  subject: Report['subject']
  now: Date
  strict: boolean
  trust: Trust
  log: LogInfo | null
  scope: Report['scope']
  size: number
  read: number
  checkpoint: Covered | null
  torn_end: boolean
  outside: Covered | null
  copies?: CopyReport
  decisions: DecisionCounts
  approvers: ListedApprover[]
  evidence: EvidenceCounts
  content: ContentCounts | null
  findings: Findings
}

/** The report of a verification that ran. Adds what only shows when all is known: pins that were not met. */
export function concludeReport(gathered: Gathered): Report {
  const { now, strict, trust, findings, ...rest } = gathered
  const pinned = { genesis: trust.genesis.length > 0, log_key: trust.logs.length > 0 }
  const { log } = rest
  if (pinned.genesis && log !== null && !trust.genesis.includes(log.genesis)) {
    findings.add('genesis.mismatch', `the first record is ${log.genesis}`, 0)
  }
  // An index holds no checkpoints: that it has none breaks nothing, but then it can't be intact.
  const noCheckpoint = pinned.log_key && rest.checkpoint === null
  if (noCheckpoint && rest.subject !== 'index')
    findings.add('checkpoint.none', trust.logs.map(({ name }) => name).join(', '))
  const trusted = pinned.genesis && pinned.log_key && !noCheckpoint && findings.count('copy.other_key') === 0
  const status = findings.has('broken') ? 'broken' : trusted ? 'intact' : 'self_consistent'
  const report: Report = {
    v: 1,
    time: now.toISOString(),
    status,
    exit: 0,
    unusable: null,
    ...rest,
    pinned,
    signed_only: rest.size - (rest.checkpoint?.size ?? 0),
    findings: findings.list(),
  }
  return { ...report, exit: exitCode(report, strict) }
}

/** The report of something that could not be verified at all. */
export function unusableReport(subject: Report['subject'], now: Date, reason: string): Report {
  return {
    v: 1,
    subject,
    time: now.toISOString(),
    status: 'unusable',
    exit: 2,
    unusable: reason,
    log: null,
    scope: null,
    size: 0,
    read: 0,
    pinned: { genesis: false, log_key: false },
    checkpoint: null,
    signed_only: 0,
    torn_end: false,
    outside: null,
    decisions: null,
    approvers: [],
    evidence: null,
    content: null,
    findings: [],
  }
}

/** What the process that printed the report should exit with. */
export function exitCode({ status, findings }: Pick<Report, 'status' | 'findings'>, strict: boolean): ExitCode {
  if (status === 'unusable') return 2
  if (status === 'broken') return 1
  if (findings.some(({ severity }) => severity === 'enforcement')) return 3
  return strict && (status !== 'intact' || findings.length > 0) ? 3 : 0
}
