// What a verification found: one entry for each code, with the records it concerns. Listing is bounded, counting is not.

/** `broken`: the evidence is not what was signed. `enforcement`: it is, and shows that a decision was not obeyed. */
export type Severity = 'broken' | 'enforcement' | 'warning'

/** Every code with its severity and what it means. */
export const CODES = {
  'record.syntax': ['broken', 'bytes that are not the one canonical JSON text of a record'],
  'record.schema': ['broken', 'a record that does not have the shape of its type'],
  'record.signature': ['broken', 'a record whose signature does not verify'],
  'record.key_unknown': ['broken', 'a record signed by a key that the log does not declare, or that is not pinned'],
  'record.key_retired': ['broken', 'a record behind the last one that its key may have signed'],
  'record.key_revoked': [
    'warning',
    'a key that somebody else may have had: compare what it signed with copies elsewhere',
  ],
  'tier.key_scope': ['broken', 'a record of a tier its key may not sign'],
  'tier.source_conflict': ['broken', 'a tier that its source can not have'],
  'log.frame': ['broken', 'a part of the log files that can not be read'],
  'log.seq_missing': ['broken', 'records that are missing'],
  'log.seq_duplicate': ['broken', 'a record that comes again or out of its place'],
  'log.id_mismatch': ['broken', 'a record of another log'],
  'log.root_mismatch': ['broken', 'a record that was signed over another history'],
  'genesis.mismatch': ['broken', 'the first record is not the one that was pinned, or opens no log'],
  'run.chain': ['broken', 'a record that does not follow the one before it in its run'],
  'run.after_close': ['broken', 'a record in a run that was closed'],
  'run.ordinal_gap': ['broken', 'runs that are missing before this one'],
  'run.open': ['warning', 'a run that was not closed: its end may be missing'],
  'time.backwards': ['broken', 'a record that is older than the one before it'],
  'checkpoint.signature': ['broken', 'a checkpoint that the log key did not sign'],
  'checkpoint.origin': ['broken', 'a checkpoint of another log'],
  'checkpoint.root': ['broken', 'a checkpoint over other records than these'],
  'checkpoint.beyond_log': ['broken', 'a checkpoint over more records than there are: the end is missing'],
  'checkpoint.none': ['broken', 'no checkpoint by the pinned log key'],
  'tile.mismatch': ['warning', 'a tile that is not what the log gives; tiles are derived, a start writes them again'],
  'anchor.rollback': ['broken', 'a checkpoint kept elsewhere saw more records than there are'],
  'anchor.fork': ['broken', 'a checkpoint kept elsewhere saw another history'],
  'copy.beyond_log': ['broken', 'a copy of a record that the log does not have'],
  'copy.mismatch': ['broken', 'a copy of a record that is another one in the log'],
  'copy.fork': ['broken', 'a copy of a record that was signed over another history'],
  'copy.other_key': ['warning', 'a copy that names this log, by a key that it does not declare: not intact'],
  'copy.damaged': ['warning', 'a copy that was cut, masked or changed on its way'],
  'copy.not_signed': ['warning', 'a span that names this log and carries no record of it'],
  'approval.unknown': ['broken', 'an answer to an approval that was never asked for'],
  'approval.unbound': ['broken', 'an approval that is not bound to the decision it was used for'],
  'approval.replayed': ['broken', 'an approval that was used or answered twice'],
  'approval.not_approved': ['broken', 'an approval that was used without being given'],
  'approval.expired': ['broken', 'an approval that was used after it had ended'],
  'approval.wrong_run': ['broken', 'an approval that was used in another run'],
  'approval.wrong_call': ['broken', 'an approval that was used for another call'],
  'approval.args_mismatch': ['broken', 'an approval of other arguments than the decision was about'],
  'approval.approver_signature': ['broken', 'an answer that no approver signed who counts'],
  'approval.approver_not_pinned': [
    'warning',
    'an approver that is not pinned: whoever had the home could have added it',
  ],
  'approval.break_glass': ['enforcement', 'an answer, or a change of approvers, that was not signed on purpose'],
  'approval.unauthenticated': ['warning', 'an answer that any process of this user could have given'],
  'policy.ran_against_deny': ['enforcement', 'a call that ran although it was denied'],
  'policy.ran_without_approval': ['enforcement', 'a call that ran without the approval it needed'],
  'policy.other_arguments': ['enforcement', 'a call that ran with other arguments than were decided on'],
  'policy.ungated': ['enforcement', 'a call that ran without having been decided on'],
  'content.mismatch': ['broken', 'content that is not what the record committed to'],
  'content.missing': ['warning', 'content that is no longer there'],
  'content.expired_early': ['warning', 'content that was taken away sooner than retention allowed'],
  'content.unreferenced': ['warning', 'content that no record committed to'],
  'index.drift': ['warning', 'a column of the index that does not say what its record says'],
  'limit.record': ['broken', 'a record that is longer than a log entry may be'],
  'bundle.line': ['broken', 'a line that a bundle can not hold'],
  'bundle.limit': ['broken', 'a bundle beyond its size limits'],
  'bundle.position': ['broken', 'records whose position is not proven'],
  'bundle.end': ['broken', 'a bundle whose end is missing or names other lines'],
} as const satisfies Record<string, readonly [Severity, string]>

export type Code = keyof typeof CODES

/** Record numbers and notes listed for one code; the rest is only counted. */
const MAX_LISTED = 20

export interface Finding {
  code: Code
  severity: Severity
  count: number
  /** The first record numbers. */
  records: number[]
  /** The first explanations. */
  notes: string[]
}

/** Gathers findings. Never stops at the first one. */
export class Findings {
  private readonly byCode = new Map<Code, Finding>()

  /** `record`: number of the record it concerns, where there is one. */
  add(code: Code, note: string, record?: number): void {
    const finding = this.byCode.get(code) ?? { code, severity: CODES[code][0], count: 0, records: [], notes: [] }
    this.byCode.set(code, finding)
    finding.count++
    if (record !== undefined && finding.records.length < MAX_LISTED) finding.records.push(record)
    if (finding.notes.length < MAX_LISTED) finding.notes.push(note)
  }

  count(code: Code): number {
    return this.byCode.get(code)?.count ?? 0
  }

  has(severity: Severity): boolean {
    return [...this.byCode.values()].some((finding) => finding.severity === severity)
  }

  /** In the order of the code table. */
  list(): Finding[] {
    const order = Object.keys(CODES)
    return [...this.byCode.values()].sort((a, b) => order.indexOf(a.code) - order.indexOf(b.code))
  }
}
