// Follows each run part: its records are chained by leaf, begin with run.opened, and end with run.closed.
import type { Accepted } from './chain.ts'
import type { Findings } from './findings.ts'
import { bodyOf } from './read-record.ts'

interface Part {
  seq: number
  leaf: string
  closed: boolean
  /** Number of its newest record. */
  last: number
}

export class Runs {
  private readonly parts = new Map<string, Part>()
  private readonly findings: Findings
  /** False when only some of the log's runs are shown: then their ordinals can't be followed. */
  private readonly all: boolean
  private opened = 0

  constructor(findings: Findings, all: boolean) {
    this.findings = findings
    this.all = all
  }

  take({ seq, leaf64, record }: Accepted): void {
    const { run } = record
    if (run === undefined) return
    const key = `${run.id}/${run.part}`
    const part = this.parts.get(key)
    const problem = part === undefined ? this.beginning(record) : this.following(part, record)
    if (problem !== null) this.findings.add('run.chain', problem, seq)
    if (part?.closed) this.findings.add('run.after_close', `run ${key}`, seq)
    const closing = bodyOf(record, 'run.closed')
    if (closing !== null && closing.records !== run.seq + 1) {
      this.findings.add('run.chain', `the run closes with ${run.seq + 1} records and says ${closing.records}`, seq)
    }
    this.parts.set(key, { seq: run.seq, leaf: leaf64, closed: part?.closed === true || closing !== null, last: seq })
    const opening = bodyOf(record, 'run.opened')
    if (opening !== null) this.checkOrdinal(opening.ordinal, seq)
  }

  /** Names the parts that were not closed. */
  end(): void {
    for (const [key, part] of this.parts) if (!part.closed) this.findings.add('run.open', `run ${key}`, part.last)
  }

  private beginning({ type, run }: Accepted['record']): string | null {
    if (type !== 'run.opened') return 'the run does not begin with run.opened'
    return run?.seq === 0 && run.prev === null ? null : 'the first record of a run names another before it'
  }

  private following(part: Part, { type, run }: Accepted['record']): string | null {
    if (type === 'run.opened') return 'the run is opened a second time'
    if (run?.seq !== part.seq + 1) return `record ${run?.seq} of the run follows ${part.seq}`
    return run.prev === part.leaf ? null : 'it names another record before it'
  }

  private checkOrdinal(ordinal: number, seq: number): void {
    if (this.all && ordinal !== this.opened) {
      this.findings.add('run.ordinal_gap', `run number ${ordinal} where ${this.opened} belongs`, seq)
    }
    this.opened = ordinal + 1
  }
}
