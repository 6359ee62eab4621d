// Counts what kind of word each record is, and what the log itself says it missed.
import type { Accepted } from './chain.ts'
import { bodyOf } from './read-record.ts'

export interface EvidenceCounts {
  T1: number
  T2: number
  T3: number
  /** Records of the collector or a person: they report no agent activity. */
  untiered: number
  /** Records of types this version does not know: checked by their envelope alone. */
  unknown_types: number
  /** Gap records by kind: how often, by their own count, and when. */
  gaps: { kind: string; count: number; first: string; last: string }[]
  /** Fail modes of the runs. */
  fail_modes: string[]
}

export class Evidence {
  readonly counts: EvidenceCounts = { T1: 0, T2: 0, T3: 0, untiered: 0, unknown_types: 0, gaps: [], fail_modes: [] }

  take({ record, known }: Accepted): void {
    if (record.tier === undefined) this.counts.untiered++
    else this.counts[record.tier]++
    if (!known) this.counts.unknown_types++
    const opened = bodyOf(record, 'run.opened')
    // A session without hooks has none that could fail.
    if (opened !== null && opened.mode !== 'ungated' && !this.counts.fail_modes.includes(opened.fail_mode))
      this.counts.fail_modes.push(opened.fail_mode)
    const gap = bodyOf(record, 'gap')
    if (gap === null) return
    const seen = this.counts.gaps.find(({ kind }) => kind === gap.kind)
    if (seen === undefined) {
      this.counts.gaps.push({ kind: gap.kind, count: gap.count, first: record.time, last: record.time })
      return
    }
    seen.count += gap.count
    seen.last = record.time
  }
}
