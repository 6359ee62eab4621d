// Content that was taken away on purpose: each erased entry of the vault names the record that says so. That record must be there, speak
// of that content, and come no sooner than the retention in force allowed.
import type { Body, Envelope } from '../../conventions/record.ts'
import type { Accepted } from './chain.ts'
import type { Findings } from './findings.ts'
import { bodyOf } from './read-record.ts'

const DAY_MS = 86_400_000

/** All content erased by one record. */
interface Group {
  values: number
  first: number
  last: number
  /** Milliseconds; time of the youngest record among them. */
  youngest: number
  /** Their run; null where they are of several, or of none. */
  run: string | null
}

interface Expiry {
  body: Body<'content.expired'>
  seq: number
  time: number
  /** Retention in force; null for none. */
  days: number | null
}

export class ExpiredContent {
  private readonly groups = new Map<number, Group>()
  private readonly expiries = new Map<number, Expiry>()
  private days: number | null = null
  private readonly findings: Findings

  constructor(findings: Findings) {
    this.findings = findings
  }

  /** The next record. */
  take({ seq, record }: Accepted): void {
    const retention = bodyOf(record, 'retention.set')
    if (retention !== null) this.days = retention.content_days
    const body = bodyOf(record, 'content.expired')
    if (body !== null) this.expiries.set(seq, { body, seq, time: Date.parse(record.time), days: this.days })
  }

  /** A piece of content of the record was erased, as record `by` is to say. */
  erased(by: number, seq: number, record: Envelope): void {
    const time = Date.parse(record.time)
    const run = record.run?.id ?? null
    const group = this.groups.get(by)
    if (group === undefined) {
      this.groups.set(by, { values: 1, first: seq, last: seq, youngest: time, run })
      return
    }
    group.values++
    group.last = seq
    group.youngest = Math.max(group.youngest, time)
    if (group.run !== run) group.run = null
  }

  /** All records were taken. Returns how many values were erased as a record says, and how many without one. */
  end(): { expired: number; missing: number } {
    const counts = { expired: 0, missing: 0 }
    for (const [by, group] of this.groups) {
      const expiry = this.expiries.get(by)
      if (expiry === undefined || !covers(expiry, group)) {
        counts.missing += group.values
        this.findings.add('content.missing', `${valuesOf(group.values)} that no record expired`, group.first)
        continue
      }
      counts.expired += group.values
      const why = tooEarly(expiry, group)
      if (why !== null) this.findings.add('content.expired_early', why, by)
    }
    return counts
  }
}

function covers({ body, seq }: Expiry, { first, last, run }: Group): boolean {
  if (last >= seq) return false
  if (body.scope === 'before') return last < body.before_seq
  return body.scope === 'run' ? run === body.run : first === body.seq && last === body.seq
}

/** In words for the report, who took it away and how old it was; null where the retention in force allowed it. */
function tooEarly({ body, time, days }: Expiry, { values, youngest }: Group): string | null {
  const age = (time - youngest) / DAY_MS
  if (days !== null && age >= days) return null
  const who = body.reason === 'purge' ? 'a person, by spanseal purge' : 'the collector, by retention'
  const kept = days === null ? 'no retention was in force' : `to be kept ${days} days`
  return `${valuesOf(values)} by ${who}, the youngest ${age.toFixed(1)} days old, ${kept}`
}

const valuesOf = (n: number) => (n === 1 ? 'a value' : `${n} values`)
