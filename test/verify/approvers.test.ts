// Signed answers: what counts, and what a forger who holds the log's keys, but no approver's, can't make of them. Rows 22 and 23 of the
// tampering table.
import { afterAll, describe, expect, it } from 'vitest'
import { verifyHome } from '../../collector/verify/index.ts'
import { fileApprover, softToken, type TestApprover } from '../support/approver.ts'
import { freshFolder, keyOfSeed, newKey, RUN_A, removeFolders, TestLog } from './support.ts'

afterAll(removeFolders)

const ALICE = keyOfSeed(5)
const alice = fileApprover('alice', ALICE)
const token = softToken('bob', keyOfSeed(6))
const pin = ({ public: { name, spki } }: TestApprover) => `approver ${name} ${spki}\n`

type Run = { id: string; part: number }
type Play = (log: TestLog, run: Run) => void

/** Asks about a call, lets `answer` give the answer, and uses it. */
function used(log: TestLog, run: Run, answer: () => void, id = 'x'): void {
  const decided = log.decide(run, id, 'ask', '{"command":"git push"}')
  log.ask(run, id, decided.leaf)
  answer()
  log.consume(run, id, decided.leaf)
  log.complete(run, id, decided, '{"command":"git push"}')
}

async function verified(play: Play, trust = '') {
  const log = new TestLog()
  const run = log.openRun(RUN_A)
  play(log, run)
  log.closeRun(run)
  log.checkpoint()
  const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust + trust })
  return {
    ...report,
    codes: report.findings.map(({ code }) => code).filter((code) => code !== 'approval.approver_not_pinned'),
  }
}

describe.each([
  ['a key file', alice],
  ['a security key (stand-in)', token],
])('an answer signed with %s', (_, by) => {
  const signedBy: Play = (log, run) => {
    log.addApprover(by)
    used(log, run, () => log.answer(run, 'x', 'approve', log.signed(by, run, 'x')))
  }

  it('counts', async () => {
    const report = await verified(signedBy, pin(by))
    expect(report).toMatchObject({ status: 'intact', exit: 0, findings: [] })
    expect(report.decisions).toMatchObject({ signed: 1, unauthenticated: 0 })
    expect(report.approvers).toMatchObject([{ name: by.public.name, answers: 1, vouched: 'pinned' }])
  })

  it('warns of an approver that nobody pinned', async () => {
    const { findings } = await verified(signedBy)
    expect(findings.map(({ code }) => code)).toEqual(['approval.approver_not_pinned'])
  })

  it('does not count where another approver is pinned', async () => {
    expect((await verified(signedBy, pin(fileApprover('carol', newKey())))).codes).toEqual([
      'approval.approver_signature',
    ])
  })

  it.each([
    ['run', 'cc'.repeat(16)],
    ['call', 'y'],
    ['attempt', 2],
    ['tool', 'Write'],
    ['args', Buffer.alloc(32, 1).toString('base64')],
    ['decision', Buffer.alloc(32, 1).toString('base64')],
    ['policy_hash', 'b'.repeat(64)],
    ['nonce', 'b'.repeat(32)],
    ['expires', '2027-11-30T13:00:00.000Z'],
  ])('does not count for another %s', async (member, value) => {
    const report = await verified((log, run) => {
      log.addApprover(by)
      used(log, run, () =>
        log.answer(
          run,
          'x',
          'approve',
          log.signed(by, run, 'x', 'approve', (binding) => (binding[member] = value)),
        ),
      )
    }, pin(by))
    expect(report.codes).toEqual(['approval.approver_signature'])
  })

  it('does not count as an approve when it was a reject', async () => {
    const report = await verified((log, run) => {
      log.addApprover(by)
      used(log, run, () => log.answer(run, 'x', 'approve', log.signed(by, run, 'x', 'reject')))
    }, pin(by))
    expect(report).toMatchObject({ status: 'broken', codes: ['approval.approver_signature'] })
  })
})

const BAD: [string, Play][] = [
  [
    'unsigned although there is an approver',
    (log, run) => {
      log.addApprover(alice)
      used(log, run, () => log.answer(run, 'x'))
    },
  ],
  [
    'signed by an approver that was removed',
    (log, run) => {
      log.addApprover(alice)
      log.addApprover(token, alice)
      log.removeApprover(token.public.kid, alice)
      used(log, run, () => log.answer(run, 'x', 'approve', log.signed(token, run, 'x')))
    },
  ],
  [
    'signed before its approver was added',
    (log, run) => {
      log.addApprover(alice)
      used(log, run, () => log.answer(run, 'x', 'approve', log.signed(token, run, 'x')))
      log.addApprover(token, alice)
    },
  ],
  [
    'by a second approver whom nobody signed for',
    (log, run) => {
      log.addApprover(alice)
      log.addApprover(token)
      used(log, run, () => log.answer(run, 'x', 'approve', log.signed(token, run, 'x')))
    },
  ],
  [
    'by a second approver who signed for itself',
    (log, run) => {
      log.addApprover(alice)
      log.addApprover(token, token)
      used(log, run, () => log.answer(run, 'x', 'approve', log.signed(token, run, 'x')))
    },
  ],
  [
    'by a security key that nobody touched',
    (log, run) => {
      const idle = softToken('bob', keyOfSeed(6), { flags: 0 })
      log.addApprover(alice)
      log.addApprover(idle, alice)
      used(log, run, () => log.answer(run, 'x', 'approve', log.signed(idle, run, 'x')))
    },
  ],
  [
    'with a counter that was changed',
    (log, run) => {
      log.addApprover(alice)
      log.addApprover(token, alice)
      used(log, run, () => {
        const signed = log.signed(token, run, 'x')
        log.answer(run, 'x', 'approve', { ...signed, counter: 1 } as typeof signed)
      })
    },
  ],
]

it.each(BAD)('refuses an answer %s', async (_, play) => {
  const report = await verified(play, pin(alice))
  expect(report).toMatchObject({ status: 'broken' })
  expect(report.codes).toContain('approval.approver_signature')
  // The same without pins: what the log says itself is enough.
  expect((await verified(play)).codes).toContain('approval.approver_signature')
})

it('counts an approver whom a pinned one signed for', async () => {
  const report = await verified((log, run) => {
    log.addApprover(alice)
    log.addApprover(token, alice)
    used(log, run, () => log.answer(run, 'x', 'approve', log.signed(token, run, 'x')))
  }, pin(alice))
  expect(report).toMatchObject({ status: 'intact', codes: [] })
  expect(report.approvers.map(({ vouched }) => vouched)).toEqual(['pinned', 'approver'])
})

it('refuses a change that was signed for another place: it is not said twice', async () => {
  const report = await verified((log) => {
    log.addApprover(alice)
    const before = log.approverLeaf
    log.addApprover(token, alice)
    log.removeApprover(token.public.kid, alice)
    log.addApprover(token, alice, before)
  })
  expect(report.codes).toEqual(['approval.unbound'])
})

it('says of a break-glass answer that a rule was not obeyed', async () => {
  const play: Play = (log, run) => {
    log.addApprover(alice)
    used(log, run, () => log.answer(run, 'x', 'approve', { authentication: 'break_glass' }))
  }
  expect(await verified(play, pin(alice))).toMatchObject({ status: 'intact', exit: 3, codes: ['approval.break_glass'] })
})
