// What nobody touched verifies, and the report says how much that means.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { readTrust, renderReport, verifyHome } from '../../collector/verify/index.ts'
import { homePaths } from '../../conventions/home.ts'
import { freshFolder, newKey, RUN_A, removeFolders, sampleLog, TestLog, vkeyOf } from './support.ts'

afterAll(removeFolders)

const NOW = new Date('2026-12-01T00:00:00.000Z')
const codes = (report: { findings: { code: string }[] }) => report.findings.map(({ code }) => code)

describe('an untouched home', () => {
  it('is intact with both pins, whatever the size of its segments', async () => {
    for (const perSegment of [1, 7, 1_000]) {
      const log = sampleLog()
      const report = await verifyHome({ root: log.write(freshFolder(), perSegment), trust: log.trust })
      expect(codes(report)).toEqual(['approval.unauthenticated'])
      expect(report).toMatchObject({ status: 'intact', exit: 0, signed_only: 0, read: log.records.length })
      expect(report.content).toEqual({ matched: 7, salt_only: 2, expired: 0, missing: 0, mismatched: 0, later: 0 })
    }
  })

  it('says each line of the report in its words', async () => {
    const log = sampleLog()
    const text = renderReport(await verifyHome({ root: log.write(freshFolder()), trust: log.trust, now: NOW }))
    const key = vkeyOf(log.origin, log.keys.log).split('+').slice(0, 2).join('+')
    expect(text.split('\n')).toEqual([
      `Integrity    INTACT to record 18, checkpoint over 19 records by ${key}. Nothing edited, removed, inserted or reordered. 0 later records are signed only.`,
      'Outside      NOT SEEN OUTSIDE: whoever holds the keys could have rewritten all of it; a cut-off tail would not show.',
      'Custody      Collector ran as the SAME USER as the agent, as far as the records say: the agent could have read the keys. Only records an outside copy already had are protected against it.',
      'Enforcement  decided 3, ran after deny 0, ran without approval 0, other arguments 0, ungated 0 (fail mode closed)',
      "Evidence     T1 8 (what the hook reported), T2 0, T3 1 (someone else's word: receipt only), gaps 1: no_transcript 1 (2026-11-30T12:00:00)",
      'Approvals    1 used once, for exactly the approved arguments (of 1 asked for). 0 rejected, 0 ended unanswered. 1 unauthenticated: any process of this user could have given them.',
      'Content      7 values opened and match; 2 kept as salt only; 0 expired; 0 missing; 0 do not match.',
      'Not proven   That every action was captured; that a reported result is true; why anything was done; clock times.',
      '',
      'Warnings:',
      '  approval.unauthenticated      1 x an answer that any process of this user could have given. At record 11. Approve.',
      '',
    ])
    expect(text).not.toMatch(/complete|tamper|immutable/i)
  })

  it('says records after the newest checkpoint are signed only', async () => {
    const log = sampleLog()
    log.add('collector.started', { version: '0.1.0', after: 'stop' })
    log.add('collector.stopped', { reason: 'command' })
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(report).toMatchObject({ status: 'intact', signed_only: 2, size: 21, checkpoint: { size: 19 } })
    expect(renderReport(report)).toContain('INTACT to record 18')
    expect(renderReport(report)).toContain('2 later records are signed only.')
  })

  it('is self-consistent only as long as one of the pins is missing', async () => {
    const log = sampleLog()
    const root = log.write(freshFolder())
    const key = `log ${vkeyOf(log.origin, log.keys.log)}\n`
    const genesis = `genesis ${log.genesis}\n`
    for (const [trust, missing] of [
      [undefined, 'because the genesis and the log key are not pinned'],
      ['# nothing\n', 'because the genesis and the log key are not pinned'],
      [key, 'because the genesis is not pinned'],
      [genesis, 'because the log key is not pinned'],
    ] as const) {
      const report = await verifyHome({ root, ...(trust === undefined ? {} : { trust }) })
      expect(report).toMatchObject({ status: 'self_consistent', exit: 0 })
      expect(renderReport(report)).toContain('SELF-CONSISTENT ONLY, to record 18')
      expect(renderReport(report)).toContain(missing)
    }
  })

  it('has no finding for having no checkpoint yet, but says so', async () => {
    const log = new TestLog()
    const report = await verifyHome({ root: log.write(freshFolder()) })
    expect(codes(report)).toEqual([])
    expect(renderReport(report)).toContain('It has no checkpoint.')
  })

  it('leaves types it does not know to their envelope', async () => {
    const log = sampleLog()
    log.add(
      'collector.started',
      { version: '0.1.0', after: 'new' },
      { change: (record) => (record.type = 'future.thing') },
    )
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(report).toMatchObject({ status: 'intact', evidence: { unknown_types: 1 } })
    expect(renderReport(report)).toContain('1 of types this version does not know')
  })

  it('gets exit code 3 with strict for warnings or missing pins', async () => {
    const log = new TestLog()
    log.checkpoint()
    const root = log.write(freshFolder())
    expect(await verifyHome({ root, trust: log.trust, strict: true })).toMatchObject({ exit: 0 })
    expect(await verifyHome({ root, strict: true })).toMatchObject({ exit: 3 })
    log.openRun(RUN_A)
    log.checkpoint()
    expect(await verifyHome({ root: log.write(freshFolder()), trust: log.trust, strict: true })).toMatchObject({
      exit: 3,
      findings: [{ code: 'run.open' }],
    })
  })

  it('names a checkpoint that was kept elsewhere and agrees', async () => {
    const log = sampleLog()
    const [first = ''] = log.notes
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust, seen: [first] })
    expect(report).toMatchObject({ status: 'intact', outside: { size: 7 } })
    expect(renderReport(report)).toContain('Outside      A checkpoint kept elsewhere saw this history up to record 6.')
  })
})

describe('a home whose collector was killed or still runs', () => {
  const last = (dir: string) =>
    `${dir}/${readdirSync(dir)
      .filter((name) => name.endsWith('.seg'))
      .sort()
      .at(-1)}`

  it('passes with a last frame that was being written, in log, vault and checkpoints', async () => {
    const log = sampleLog()
    const { trust } = log
    const root = log.write(freshFolder())
    log.add('gap', { kind: 'collector_down', count: 1 }, { contents: [{ name: 'x', text: 'y'.repeat(90) }] })
    const longer = homePaths(log.write(freshFolder()))
    const home = homePaths(root)
    appendFileSync(home.checkpoints, '"spanseal.test')
    for (const dir of ['vault', 'log'] as const) {
      const whole = readFileSync(last(longer[dir]))
      const size = statSync(last(home[dir])).size
      for (const end of [size + 1, size + 7, size + 8, size + 60, whole.length - 1]) {
        writeFileSync(last(home[dir]), whole.subarray(0, end))
        const report = await verifyHome({ root, trust })
        expect(codes(report)).toEqual(['approval.unauthenticated'])
        expect(report).toMatchObject({ status: 'intact', torn_end: dir === 'log', size: 19 })
      }
    }
    expect(renderReport(await verifyHome({ root, trust }))).toContain(
      'The last write was cut short; nothing had been acknowledged by it.',
    )
  })

  it('passes with zeros where the last frame should be', async () => {
    const log = sampleLog()
    const root = log.write(freshFolder())
    appendFileSync(last(homePaths(root).log), Buffer.alloc(4096))
    expect(await verifyHome({ root, trust: log.trust })).toMatchObject({ status: 'intact', torn_end: true })
  })

  it('counts content whose record was not durable, without a finding', async () => {
    const log = sampleLog()
    log.vault.push({
      head: { seq: log.records.length, name: 'args', salt: '00'.repeat(32) },
      content: Buffer.from('x'),
    })
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(codes(report)).toEqual(['approval.unauthenticated'])
    expect(report.content?.later).toBe(1)
  })

  it('names a run that was left open', async () => {
    const log = new TestLog()
    log.openRun(RUN_A)
    log.checkpoint()
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(report).toMatchObject({ status: 'intact', findings: [{ code: 'run.open', records: [1] }] })
  })
})

describe('what can not be verified', () => {
  it('is unusable: no home, no log, an empty log', async () => {
    const empty = freshFolder()
    mkdirSync(`${empty}/log`)
    const nothing = freshFolder()
    mkdirSync(`${nothing}/log`)
    writeFileSync(`${nothing}/log/00000000.seg`, '')
    for (const root of [`${empty}/absent`, empty, nothing]) {
      const report = await verifyHome({ root })
      expect(report).toMatchObject({ status: 'unusable', exit: 2 })
      expect(renderReport(report)).toMatch(/^Unusable {5}there is no (log|record) in /)
    }
  })

  it('is unusable when it is too new', async () => {
    const log = new TestLog()
    const newer = log.records[0]
    if (newer === undefined) throw new Error('a log has a first record')
    newer.record = Buffer.from(Buffer.from(newer.record).toString().replace('"v":1', '"v":2'))
    const report = await verifyHome({ root: log.write(freshFolder()) })
    expect(report).toMatchObject({
      status: 'unusable',
      exit: 2,
      unusable: 'written in format 2; this version reads format 1',
    })
  })

  it('reads part of a file that ends inside its first frame as no record', async () => {
    const root = sampleLog().write(freshFolder())
    truncateSync(`${root}/log/00000000.seg`, 40)
    expect(await verifyHome({ root })).toMatchObject({ status: 'unusable' })
  })
})

describe('the trust file', () => {
  const key = vkeyOf('log.example/a', newKey())

  it('reads logs, genesis, comments, white space', () => {
    const result = readTrust(
      `# mine\n\n \tlog\t${key}  https://log.example/\n  # more\ngenesis ${'ab'.repeat(32)}\nquorum none`,
    )
    expect(result).toMatchObject({ ok: true, trust: { logs: [{ name: 'log.example/a' }], genesis: ['ab'.repeat(32)] } })
  })

  it('lets only pinned keys sign records, and only pinned approvers approve, where there are any', async () => {
    const log = sampleLog()
    const root = log.write(freshFolder())
    const verified = async (line: string) => codes(await verifyHome({ root, trust: `${log.trust}${line}\n` }))
    const own = `record-key sha256:${log.keys.record.kid.toString('hex')}`
    expect(await verified(own)).toEqual(['approval.unauthenticated'])
    expect(await verified(`record-key sha256:${'ab'.repeat(32)}`)).toContain('record.key_unknown')
    expect(await verified(`record-key sha256:${'ab'.repeat(32)}\n${own}`)).toEqual(['approval.unauthenticated'])
    expect(await verified(`approver alice ${newKey().spki.toString('base64')}`)).toEqual([
      'approval.approver_signature',
      'approval.unauthenticated',
    ])
  })

  it.each([
    [2, `log ${key}\nwitness w1 ${key}\n`],
    [1, `log ${key.slice(0, -4)}\n`],
    [1, 'log\n'],
    [3, `\nlog ${key}\nlog ${key}\n`],
    [1, 'genesis ABCD\n'],
    [1, `genesis ${'AB'.repeat(32)}\n`],
    [2, '# a\nquorum w1\n'],
    [1, `log ${key}\r\n`],
    [1, 'record-key x\n'],
    [1, `record-key ${'ab'.repeat(32)}\n`],
    [1, 'approver alice\n'],
    [1, `approver alice ${Buffer.alloc(44).toString('base64')}\n`],
    [1, `log ${key} a b\n`],
  ])('refuses line %i of %j and says so', async (line, text) => {
    expect(readTrust(text)).toMatchObject({ ok: false, line })
    const report = await verifyHome({ root: sampleLog().write(freshFolder()), trust: text })
    expect(report).toMatchObject({ status: 'unusable', exit: 2 })
    expect(report.unusable).toContain(`trust file, line ${line}:`)
  })
})
