// Content that is gone: in order when a record says so and retention allowed it, a warning when it came early, missing otherwise.
import { afterAll, describe, expect, it } from 'vitest'
import { verifyHome } from '../../collector/verify/index.ts'
import type { Body, Source } from '../../conventions/record.ts'
import { freshFolder, RUN_A, RUN_B, removeFolders, TestLog } from './support.ts'

afterAll(removeFolders)

const PERSON: Source = { kind: 'person' }
const LATER = '2026-12-31T12:00:00.000Z'

interface Case {
  name: string
  /** Days; null for no retention record. */
  days: number | null
  expire: Body<'content.expired'>
  /** Whose content is erased, by the number of its record. */
  erase: (seq: number) => boolean
  time?: string
  source?: Source
  by?: number
  codes: string[]
  counts: object
}

/** Records 0 opens, 1 sets retention, then two runs of three records each, the second of which has content. */
function build({ days, expire, erase, time, source, by }: Case): TestLog {
  const log = new TestLog()
  log.add('retention.set', { content_days: days })
  for (const id of [RUN_A, RUN_B]) {
    const run = log.openRun(id)
    log.decide(run, 'c1', 'allow', `{"command":"echo ${id}"}`)
    log.closeRun(run)
  }
  log.add('content.expired', expire, {
    source: source ?? (expire.reason === 'purge' ? PERSON : { kind: 'collector' }),
    change: (record) => {
      if (time !== undefined) record.time = time
    },
  })
  log.erase(({ seq }) => erase(seq), by)
  log.checkpoint()
  return log
}

const aged = { days: 30, time: LATER, expire: { scope: 'before', reason: 'retention', before_seq: 8 } } as const

const CASES: Case[] = [
  { ...aged, name: 'everything, in its time', erase: () => true, codes: [], counts: { expired: 2, missing: 0 } },
  {
    ...aged,
    name: 'nothing yet: a crash came between',
    erase: () => false,
    codes: [],
    counts: { expired: 0, matched: 2 },
  },
  {
    ...aged,
    name: 'by age, with a retention that is longer',
    days: 60,
    erase: () => true,
    codes: ['content.expired_early'],
    counts: { expired: 2, missing: 0 },
  },
  {
    ...aged,
    name: 'a person’s purge of a run before its time',
    expire: { scope: 'run', reason: 'purge', run: RUN_A },
    time: '2026-11-30T13:00:00.000Z',
    erase: (seq) => seq === 3,
    codes: ['content.expired_early'],
    counts: { expired: 1, matched: 1 },
  },
  {
    ...aged,
    name: 'a person’s purge of a run after its time',
    expire: { scope: 'run', reason: 'purge', run: RUN_A },
    erase: (seq) => seq === 3,
    codes: [],
    counts: { expired: 1, matched: 1 },
  },
  {
    ...aged,
    name: 'content of another run in the name of a run’s purge',
    expire: { scope: 'run', reason: 'purge', run: RUN_A },
    erase: () => true,
    codes: ['content.missing'],
    counts: { expired: 0, missing: 2 },
  },
  {
    ...aged,
    name: 'content of another record in the name of a record’s purge',
    expire: { scope: 'record', reason: 'purge', seq: 3 },
    erase: (seq) => seq === 6,
    codes: ['content.missing'],
    counts: { expired: 0, missing: 1, matched: 1 },
  },
  {
    ...aged,
    name: 'younger content than the record speaks of',
    expire: { scope: 'before', reason: 'retention', before_seq: 4 },
    erase: () => true,
    codes: ['content.missing'],
    counts: { expired: 0, missing: 2 },
  },
  {
    ...aged,
    name: 'in the name of another record',
    by: 1,
    erase: () => true,
    codes: ['content.missing'],
    counts: { missing: 2 },
  },
  {
    ...aged,
    name: 'in the name of no record',
    by: 99,
    erase: () => true,
    codes: ['content.missing'],
    counts: { missing: 2 },
  },
]

describe('content that was taken away', () => {
  it.each(CASES)('$name', async (given) => {
    const log = build(given)
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(report.findings.map(({ code }) => code)).toEqual(given.codes)
    expect(report).toMatchObject({ status: 'intact', exit: 0, content: given.counts })
  })

  it('is broken where a hook says it', async () => {
    const log = build({
      ...aged,
      name: '',
      erase: () => true,
      source: { kind: 'hook', adapter: 'claude-code' },
      codes: [],
      counts: {},
    })
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(report.findings.map(({ code }) => code)).toContain('tier.source_conflict')
    expect(report.exit).toBe(1)
  })

  it('names who did it', async () => {
    const log = build({ ...aged, ...CASES[3] } as Case)
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(report.findings[0]?.notes[0]).toMatch(/^a value by a person, by spanseal purge, the youngest 0\.0 days old/)
  })
})
