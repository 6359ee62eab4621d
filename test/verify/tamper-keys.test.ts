// What someone does who holds the real keys: every signature is good, what the records say is wrong.
import { afterAll, describe, expect, it } from 'vitest'
import type { Code } from '../../collector/verify/findings.ts'
import { verifyHome } from '../../collector/verify/index.ts'
import { freshFolder, newKey, RUN_A, RUN_B, removeFolders, sampleLog, TestLog, withSecondKey } from './support.ts'

afterAll(removeFolders)

function at<T>(list: readonly T[], i: number): T {
  const value = list.at(i)
  if (value === undefined) throw new Error(`the list has no ${i}`)
  return value
}

/** Logs built with the real keys: what they say is wrong, not how they are signed. */
const SAID: { name: string; build: () => TestLog; expect: Code[]; exit?: number }[] = [
  {
    name: 'a record is moved to another run',
    build: () =>
      build((log, a, b) =>
        log.add(
          'gap',
          { kind: 'no_transcript', count: 1 },
          { run: a, change: (record) => (record.run = { ...(record.run as object), id: b.id }) },
        ),
      ),
    expect: ['run.chain'],
  },
  {
    name: 'a record follows the end of its run',
    build: () =>
      build((log, _a, b) => {
        log.closeRun(b)
        log.add('gap', { kind: 'no_transcript', count: 1 }, { run: b })
      }, false),
    expect: ['run.after_close'],
  },
  {
    name: 'a run closes with another number of records',
    build: () => build((log, _a, b) => log.add('run.closed', { records: 9, reason: 'idle' }, { run: b }), false),
    expect: ['run.chain'],
  },
  {
    name: 'a run number is left out',
    build: () =>
      build(
        (log) => {
          log.openRun('cc'.repeat(16))
        },
        true,
        2,
      ),
    expect: ['run.ordinal_gap'],
  },
  {
    name: 'a record is of another log',
    build: () =>
      build((log) =>
        log.add(
          'collector.stopped',
          { reason: 'idle' },
          { change: (record) => (record.log = { ...(record.log as object), id: 'ee'.repeat(16) }) },
        ),
      ),
    expect: ['log.id_mismatch'],
  },
  {
    name: 'a second log is opened inside',
    build: () =>
      build((log) => {
        const { body } = JSON.parse(Buffer.from(at(log.records, 0).record).toString())
        log.add('log.opened', body)
      }),
    expect: ['record.schema'],
  },
  {
    name: 'time goes backwards',
    build: () =>
      build((log) =>
        log.add(
          'collector.stopped',
          { reason: 'idle' },
          { change: (record) => (record.time = '2026-11-30T11:59:59.999Z') },
        ),
      ),
    expect: ['time.backwards'],
  },
  {
    name: 'an import is recorded as T1 by the hook',
    build: () =>
      build((log) =>
        log.add(
          'spans.imported',
          { count: 1, rejected: 0, encoding: 'json', bytes: 1, spoofed: 0 },
          { source: { kind: 'hook' } },
        ),
      ),
    expect: ['tier.source_conflict'],
  },
  ...(['logs.imported', 'metrics.imported'] as const).map((type) => ({
    name: `${type} by the hook`,
    build: () =>
      build((log) =>
        log.add(type, { count: 1, rejected: 0, encoding: 'json', bytes: 1, spoofed: 0 }, { source: { kind: 'hook' } }),
      ),
    expect: ['tier.source_conflict' as const],
  })),
  {
    name: 'logs of somebody else are recorded as T1 by the hook',
    build: () =>
      build((log) =>
        log.add(
          'logs.imported',
          { count: 1, rejected: 0, encoding: 'json', bytes: 1, spoofed: 0 },
          { source: { kind: 'hook' } },
        ),
      ),
    expect: ['tier.source_conflict'],
  },
  {
    name: 'an import is recorded as T1 from OTLP',
    build: () =>
      build((log) =>
        log.add(
          'spans.imported',
          { count: 1, rejected: 0, encoding: 'json', bytes: 1, spoofed: 0 },
          { source: { kind: 'otlp' }, change: (record) => (record.tier = 'T1') },
        ),
      ),
    expect: ['tier.source_conflict'],
  },
  {
    name: 'nothing: a new key took over, and again',
    build: () =>
      build((log) => {
        log.rotate(newKey())
        log.rotate(newKey())
      }),
    expect: [],
    exit: 0,
  },
  {
    name: 'the old key signs after it was retired',
    build: () =>
      build((log, a) => {
        log.rotate(newKey())
        log.add('gap', { kind: 'no_transcript', count: 1 }, { run: a, key: log.keys.record })
      }),
    expect: ['record.key_retired'],
  },
  {
    name: 'a retired key is added again',
    build: () =>
      build((log) => {
        const old = log.keys.record
        log.rotate(newKey())
        log.rotate(old)
      }),
    expect: ['record.key_retired'],
  },
  {
    name: 'a retired key retires another later than it was',
    build: () =>
      build((log, a) => {
        const kid = `sha256:${log.keys.record.kid.toString('hex')}`
        log.rotate(newKey())
        log.add('key.retired', { kid, last_seq: 10_000 })
        log.add('gap', { kind: 'no_transcript', count: 1 }, { run: a, key: log.keys.record })
      }),
    expect: ['record.key_retired'],
  },
  {
    name: 'a key signs before the record that adds it',
    build: () =>
      build((log, a) => {
        const key = newKey()
        log.add('gap', { kind: 'no_transcript', count: 1 }, { run: a, key })
        log.rotate(key)
      }),
    expect: ['record.key_unknown'],
  },
  {
    name: 'a key is added by itself',
    build: () =>
      build((log) => {
        const key = newKey()
        const kid = `sha256:${key.kid.toString('hex')}`
        log.add('key.added', { kid, spki: key.spki.toString('base64'), tiers: ['T1'] }, { key })
        log.add('clock.stepped', { ms: 1 }, { key })
      }),
    expect: ['record.key_unknown'],
  },
  {
    name: 'a key is added by a hook',
    build: () =>
      build((log) => {
        const key = newKey()
        const kid = `sha256:${key.kid.toString('hex')}`
        const source = { kind: 'hook', adapter: 'claude-code' } as const
        log.add('key.added', { kid, spki: key.spki.toString('base64'), tiers: ['T1'] }, { source })
      }),
    expect: ['tier.source_conflict'],
  },
  {
    name: 'an added key signs a tier it may not',
    build: () =>
      build((log, a) => {
        const key = newKey()
        log.add('key.added', {
          kid: `sha256:${key.kid.toString('hex')}`,
          spki: key.spki.toString('base64'),
          tiers: ['T3'],
        })
        log.add('gap', { kind: 'no_transcript', count: 1 }, { run: a, source: { kind: 'hook' }, key })
      }),
    expect: ['tier.key_scope'],
  },
  {
    name: 'a revoked key goes on signing',
    build: () =>
      build((log, a) => {
        const kid = `sha256:${log.keys.record.kid.toString('hex')}`
        log.add('key.revoked', { kid, from_seq: 0, reason: 'stolen' })
        log.add('gap', { kind: 'no_transcript', count: 1 }, { run: a })
      }),
    expect: ['record.key_revoked', 'record.key_retired'],
  },
  {
    name: 'a key is declared under the id of another',
    build: () => {
      const [other, stranger] = [newKey(), newKey()]
      return withSecondKey(new TestLog(), { ...stranger, kid: other.kid })
    },
    expect: ['record.key_unknown'],
  },
  {
    name: 'a key signs a tier it may not',
    build: () => withSecondKey(new TestLog(), newKey(), ['T3']),
    expect: ['tier.key_scope'],
  },
  {
    name: 'an approval is used twice',
    build: () => build((log, a, _b, asked) => log.consume(a, 'ask', asked.leaf)),
    expect: ['approval.replayed'],
  },
  {
    name: 'an approval is used in another run',
    build: () =>
      build((log, a, b) => {
        const asked = decideAsk(log, a, 'x')
        log.answer(a, 'x')
        log.consume(b, 'x', asked.leaf)
      }),
    expect: ['approval.wrong_run'],
  },
  {
    name: 'an approval is used for another call',
    build: () =>
      build((log, a) => {
        const asked = decideAsk(log, a, 'x')
        log.answer(a, 'x')
        log.consume(a, 'x', asked.leaf, 'y')
      }),
    expect: ['approval.wrong_call'],
  },
  {
    name: 'an approval is used for another decision',
    build: () =>
      build((log, a, _b, other) => {
        decideAsk(log, a, 'x')
        log.answer(a, 'x')
        log.consume(a, 'x', other.leaf)
      }),
    expect: ['approval.unbound'],
  },
  {
    name: 'an approval is bound to no decision',
    build: () =>
      build((log, a) => {
        log.ask(a, 'x', Buffer.alloc(32, 1).toString('base64'))
      }),
    expect: ['approval.unbound'],
  },
  {
    name: 'a rejected approval is used',
    build: () =>
      build((log, a) => {
        const asked = decideAsk(log, a, 'x')
        log.answer(a, 'x', 'reject')
        log.consume(a, 'x', asked.leaf)
      }),
    expect: ['approval.not_approved'],
  },
  {
    name: 'an unanswered approval is used',
    build: () =>
      build((log, a) => {
        const asked = decideAsk(log, a, 'x')
        log.consume(a, 'x', asked.leaf)
      }),
    expect: ['approval.not_approved'],
  },
  {
    name: 'an approval is answered twice',
    build: () =>
      build((log, a) => {
        decideAsk(log, a, 'x')
        log.answer(a, 'x', 'reject')
        log.answer(a, 'x')
      }),
    expect: ['approval.replayed'],
  },
  {
    name: 'an approval is used after its time',
    build: () =>
      build((log, a) => {
        const asked = decideAsk(log, a, 'x', '2026-11-30T11:00:00.000Z')
        log.answer(a, 'x')
        log.consume(a, 'x', asked.leaf)
      }),
    expect: ['approval.expired'],
  },
  {
    name: 'an approval is used after it had ended',
    build: () =>
      build((log, a) => {
        const asked = decideAsk(log, a, 'x')
        log.add('approval.expired', { approval: 'a-x', reason: 'restart' }, { run: a })
        log.consume(a, 'x', asked.leaf)
      }),
    expect: ['approval.expired'],
  },
  {
    name: 'an answer to nothing',
    build: () => build((log, a) => log.answer(a, 'nothing')),
    expect: ['approval.unknown'],
  },
  {
    name: 'an approval of other arguments',
    build: () =>
      build((log, a) => {
        const asked = log.decide(a, 'x', 'ask', '{}')
        log.ask(a, 'x', asked.leaf, {
          change: (record) => (record.commit = [{ n: 'args', c: Buffer.alloc(32, 1).toString('base64') }]),
        })
      }),
    expect: ['approval.args_mismatch'],
  },
  {
    name: 'a denied call ran',
    build: () => build((log, a) => log.complete(a, 'x', log.decide(a, 'x', 'deny', '{}'), '{}')),
    expect: ['policy.ran_against_deny'],
    exit: 3,
  },
  {
    name: 'a held call ran without approval',
    build: () => build((log, a) => log.complete(a, 'x', log.decide(a, 'x', 'ask', '{}'), '{}', 'error')),
    expect: ['policy.ran_without_approval'],
    exit: 3,
  },
  {
    name: 'an approved call ran twice',
    build: () =>
      build((log, a) => {
        const asked = decideAsk(log, a, 'x')
        log.answer(a, 'x')
        log.consume(a, 'x', asked.leaf)
        log.complete(a, 'x', asked, '{}')
        log.complete(a, 'x', asked, '{}')
      }),
    expect: ['policy.ran_without_approval'],
    exit: 3,
  },
  {
    name: 'a call ran with other arguments',
    build: () =>
      build((log, a) => log.complete(a, 'x', log.decide(a, 'x', 'allow', '{"command":"ls"}'), '{"command":"rm"}')),
    expect: ['policy.other_arguments'],
    exit: 3,
  },
  {
    name: 'another tool ran with the arguments that were decided on',
    build: () =>
      build((log, a) => {
        const decided = log.decide(a, 'x', 'allow', '{}')
        log.complete(a, 'x', decided, '{}', 'ok', 'Write')
      }),
    expect: ['policy.other_arguments'],
    exit: 3,
  },
  {
    name: 'a call ran under the decision on another one',
    build: () => build((log, a) => log.complete(a, 'y', log.decide(a, 'x', 'allow', '{}'), '{}')),
    expect: ['policy.other_arguments'],
    exit: 3,
  },
  {
    name: 'a call ran that nobody decided',
    build: () => build((log, a) => log.complete(a, 'x', null, '{}')),
    expect: ['policy.ungated'],
    exit: 3,
  },
  {
    name: 'nothing ran of what was denied or not reported',
    build: () =>
      build((log, a) => {
        log.complete(a, 'x', log.decide(a, 'x', 'deny', '{}'), '{}', 'denied')
        log.complete(a, 'y', log.decide(a, 'y', 'ask', '{}'), '{}', 'unreported')
      }),
    expect: [],
    exit: 0,
  },
  {
    name: 'a decision was only observed',
    build: () => build((log, a) => log.complete(a, 'x', log.decide(a, 'x', 'deny', '{}', false), '{}')),
    expect: [],
    exit: 0,
  },
]

function decideAsk(log: TestLog, run: { id: string; part: number }, id: string, expires?: string) {
  const asked = log.decide(run, id, 'ask', '{}')
  log.ask(run, id, asked.leaf, expires === undefined ? {} : { expires })
  return asked
}

type Run = { id: string; part: number }

/** A log with two open runs and one used approval (`ask`), then what the case adds, then everything closed and a checkpoint. */
function build(add: (log: TestLog, a: Run, b: Run, asked: { leaf: string }) => void, closeB = true, skip = 0): TestLog {
  const log = new TestLog()
  const a = log.openRun(RUN_A)
  const b = log.openRun(RUN_B)
  const asked = decideAsk(log, a, 'ask')
  log.answer(a, 'ask')
  log.consume(a, 'ask', asked.leaf)
  log.complete(a, 'ask', asked, '{}')
  log.skipOrdinals(skip)
  add(log, a, b, asked)
  if (closeB) log.closeRun(b)
  log.closeRun(a)
  log.checkpoint()
  return log
}

describe('tampering by someone who holds the keys', () => {
  it.each(SAID)('$name', async ({ build: make, expect: expected, exit = 1 }) => {
    const log = make()
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    const codes = report.findings.map(({ code }) => code)
    for (const code of expected) expect(codes).toContain(code)
    if (expected.length === 0)
      expect(codes.filter((code) => !code.startsWith('approval.un') && code !== 'run.open')).toEqual([])
    expect(report.exit).toBe(exit)
  })

  it('shows a cut tail and another history only against a checkpoint kept elsewhere', async () => {
    const log = sampleLog()
    const seen = [at(log.notes, -1)]
    const cut = sampleLog(log.keys, log.id)
    expect(await verifyHome({ root: cut.write(freshFolder()) })).toMatchObject({ status: 'self_consistent' })
    const forked = await verifyHome({ root: cut.write(freshFolder()), seen })
    expect(forked).toMatchObject({
      status: 'broken',
      findings: expect.arrayContaining([expect.objectContaining({ code: 'anchor.fork' })]),
    })
    log.records.splice(15)
    log.notes.splice(2)
    log.vault = log.vault.filter(({ head }) => head.seq < 15)
    const trust = log.trust
    expect(await verifyHome({ root: log.write(freshFolder()), trust })).toMatchObject({ status: 'intact' })
    const rolledBack = await verifyHome({ root: log.write(freshFolder()), trust, seen })
    expect(rolledBack.findings.map(({ code }) => code)).toContain('anchor.rollback')
    expect(rolledBack.exit).toBe(1)
  })
})
