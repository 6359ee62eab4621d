// Bundles: one file that proves a run offline, and what is wrong with one that was tampered with.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { exportBundle, renderReport, verifyBundle } from '../../collector/verify/index.ts'
import { freshFolder, newKey, RUN_A, RUN_B, removeFolders, sampleLog, signBytes, type TestLog } from './support.ts'

afterAll(removeFolders)

type Line = Record<string, unknown> & { kind: string }

function bundleOf(log: TestLog, id = RUN_A, part?: number): string[] {
  const result = exportBundle({ root: log.write(freshFolder(), 5), run: part === undefined ? { id } : { id, part } })
  if (!result.ok) throw new Error(result.message)
  return [...result.lines]
}

/** The lines after a change, with an end line that fits them: what a careful forger would hand over. */
function forge(lines: string[], change: (lines: Line[]) => void): string {
  const parsed: Line[] = lines.slice(0, -1).map((line) => JSON.parse(line))
  change(parsed)
  const texts = parsed.map((line) => `${JSON.stringify(line)}\n`)
  const sha256 = createHash('sha256').update(texts.join('')).digest('hex')
  return [...texts, `${JSON.stringify({ kind: 'end', lines: texts.length, sha256 })}\n`].join('')
}

const codes = (report: { findings: { code: string }[] }) => report.findings.map(({ code }) => code)

function find(lines: Line[], kind: string, skip = 0): Line {
  const line = lines.filter((candidate) => candidate.kind === kind)[skip]
  if (line === undefined) throw new Error(`the bundle has no ${kind} ${skip}`)
  return line
}

describe('a bundle', () => {
  it('proves a run, from text, from a file, gzipped', async () => {
    const log = sampleLog()
    const text = bundleOf(log).join('')
    const dir = freshFolder()
    writeFileSync(`${dir}/a.jsonl`, text)
    writeFileSync(`${dir}/a.jsonl.gz`, gzipSync(text))
    for (const input of [{ text }, { path: `${dir}/a.jsonl` }, { path: `${dir}/a.jsonl.gz` }]) {
      const report = await verifyBundle(input, { trust: log.trust })
      expect(codes(report)).toEqual(['approval.unauthenticated'])
      expect(report).toMatchObject({
        subject: 'bundle',
        status: 'intact',
        exit: 0,
        size: 19,
        scope: { run: RUN_A, part: null },
        checkpoint: { size: 19 },
      })
      expect(report.decisions).toMatchObject({ decided: 3, approvals_used: 1 })
      expect(renderReport(report)).toContain(`${report.read} records are shown, the others only hashed.`)
    }
  })

  it('shows the run, the keys and the last record, and hashes of the rest that cover every position once', () => {
    const lines: Line[] = bundleOf(sampleLog(), RUN_B).map((line) => JSON.parse(line))
    // Records 1 to 6 are hashed as 1, 2-3, 4-5, 6; records 8 to 14 as 8-11, 12-13, 14; record 17 alone.
    const shape = lines.map(({ kind, l, i, seq }) => (kind === 'node' ? `${l}/${i}` : kind === 'rec' ? seq : kind))
    expect(shape).toEqual([
      'bundle',
      'note',
      0,
      '0/1',
      '1/1',
      '1/2',
      '0/6',
      7,
      '2/2',
      '1/6',
      '0/14',
      15,
      16,
      '0/17',
      18,
      'end',
    ])
  })

  it('has the format it was first published with', () => {
    const [first = '', , third = ''] = bundleOf(sampleLog())
    expect(Object.keys(JSON.parse(first))).toEqual(['kind', 'log', 'scope', 'size', 'v'])
    expect(Object.keys(JSON.parse(third))).toEqual(['dsse', 'kind', 'seq'])
    expect(Object.keys(JSON.parse(third).dsse)).toEqual(['payload', 'payloadType', 'signatures'])
  })

  it('holds one part of a run when that is asked for', async () => {
    const log = sampleLog()
    const run = log.openRun(RUN_A, 1)
    log.closeRun(run)
    log.checkpoint()
    const report = await verifyBundle({ text: bundleOf(log, RUN_A, 1).join('') }, { trust: log.trust })
    expect(codes(report)).toEqual([])
    expect(report).toMatchObject({ status: 'intact', scope: { part: 1 }, decisions: { decided: 0 } })
  })

  it('discloses the content it was asked for, and only that', async () => {
    const log = sampleLog()
    const root = log.write(freshFolder())
    const refs = [
      { seq: 5, name: 'args' },
      { seq: 6, name: 'result' },
    ]
    const made = exportBundle({ root, run: { id: RUN_A }, open: refs })
    if (!made.ok) throw new Error(made.message)
    const text = [...made.lines].join('')
    const opened = text.split('\n').flatMap((line) => (line.includes('"kind":"open"') ? [JSON.parse(line)] : []))
    expect(opened.map(({ content }) => Buffer.from(content, 'base64').toString())).toEqual([
      '{"command":"ls"}',
      'result of c1',
    ])
    const report = await verifyBundle({ text }, { trust: log.trust })
    expect(report).toMatchObject({ status: 'intact', content: { matched: 2, mismatched: 0 } })
    expect(renderReport(report)).toContain('2 values opened and match')
    for (const [ref, message] of [
      [{ seq: 6, name: 'args' }, '6:args was not kept: the vault has only its salt'],
      [{ seq: 5, name: 'nothing' }, 'the vault has no content 5:nothing'],
      [{ seq: 14, name: 'body' }, 'record 14 is not one that the bundle shows'],
    ] as const) {
      expect(exportBundle({ root, run: { id: RUN_A }, open: [ref] })).toEqual({ ok: false, message })
    }
  })

  it.each<[string, (open: Line) => void]>([
    ['other bytes', (open) => (open.content = Buffer.from('{"command":"lz"}').toString('base64'))],
    ['another salt', (open) => (open.salt = '00'.repeat(32))],
    ['another name', (open) => (open.n = 'result')],
    ['another record', (open) => (open.seq = 6)],
    ['no base64', (open) => (open.content = '*')],
  ])('with content of %s is broken', async (_, change) => {
    const log = sampleLog()
    const open = [{ seq: 5, name: 'args' }]
    const made = exportBundle({ root: log.write(freshFolder()), run: { id: RUN_A }, open })
    if (!made.ok) throw new Error(made.message)
    const text = forge([...made.lines], (lines) => change(find(lines, 'open')))
    const report = await verifyBundle({ text }, { trust: log.trust })
    expect(codes(report)).toContain('content.mismatch')
    expect(report.exit).toBe(1)
  })

  it('says which records the checkpoint does not cover', async () => {
    const log = sampleLog()
    log.add('collector.started', { version: '0.1.0', after: 'crash' })
    log.add('policy.loaded', { policy_hash: 'a'.repeat(64), origin: 'builtin', rules: 3 })
    const report = await verifyBundle({ text: bundleOf(log).join('') }, { trust: log.trust })
    expect(report).toMatchObject({ status: 'intact', size: 21, signed_only: 2, checkpoint: { size: 19 } })
  })

  it('is self-consistent only without pins, and broken with the pins of another log', async () => {
    const text = bundleOf(sampleLog()).join('')
    expect(await verifyBundle({ text })).toMatchObject({ status: 'self_consistent', exit: 0 })
    const report = await verifyBundle({ text }, { trust: sampleLog().trust })
    expect(report.status).toBe('broken')
    expect(codes(report)).toEqual(
      expect.arrayContaining(['genesis.mismatch', 'checkpoint.signature', 'checkpoint.none']),
    )
  })

  it('is refused for a run that is not there, and for a damaged log', () => {
    const log = sampleLog()
    const root = log.write(freshFolder())
    expect(exportBundle({ root, run: { id: 'cc'.repeat(16) } })).toMatchObject({ ok: false })
    expect(exportBundle({ root, run: { id: RUN_A, part: 3 } })).toMatchObject({ ok: false })
    log.records.splice(4, 1)
    expect(exportBundle({ root: log.write(freshFolder()), run: { id: RUN_A } })).toMatchObject({
      ok: false,
      message: 'the log is damaged at record 4; run: spanseal verify',
    })
  })
})

describe('a forged bundle', () => {
  const cases: { name: string; change: (lines: Line[], log: TestLog) => void; expect: string[] }[] = [
    {
      name: 'a record rewritten',
      change: (lines) => editPayload(find(lines, 'rec', 3), (text) => text.replace('"allow"', '"flag"')),
      expect: ['log.root_mismatch', 'record.signature'],
    },
    {
      name: 'a record rewritten and signed by another key',
      change: (lines) => {
        const key = newKey()
        const line = find(lines, 'rec', 2)
        editPayload(line, (text) => text.replace('claude-code', 'other-agent'))
        const { payload } = line.dsse as { payload: string }
        const sig = signBytes(Buffer.from(payload, 'base64'), key).toString('base64')
        Object.assign(line.dsse as object, { signatures: [{ keyid: `sha256:${key.kid.toString('hex')}`, sig }] })
      },
      expect: ['record.key_unknown'],
    },
    {
      name: 'a record of the run hidden as a hash',
      change: (lines, log) => {
        const line = find(lines, 'rec', 3)
        const seq = Number(line.seq)
        const h = log.leaves[seq]?.toString('base64')
        lines[lines.indexOf(line)] = { kind: 'node', l: 0, i: seq, h }
      },
      expect: ['run.chain'],
    },
    {
      name: 'a record left out',
      change: (lines) => lines.splice(lines.indexOf(find(lines, 'rec', 3)), 1),
      expect: ['bundle.position', 'log.seq_missing'],
    },
    {
      name: 'the end of the run left out',
      change: (lines) => lines.splice(-2, 1),
      expect: ['bundle.position', 'run.open'],
    },
    {
      name: 'a hash changed',
      change: (lines) => (find(lines, 'node', 0).h = Buffer.alloc(32, 5).toString('base64')),
      expect: ['log.root_mismatch'],
    },
    {
      name: 'a hash at another place',
      change: (lines) => (find(lines, 'node', 0).i = 40),
      expect: ['bundle.position'],
    },
    {
      name: 'a hash far beyond the log',
      change: (lines) => lines.push({ kind: 'node', l: 52, i: 0, h: Buffer.alloc(32).toString('base64') }),
      expect: ['bundle.position'],
    },
    { name: 'a smaller size said', change: (lines) => (find(lines, 'bundle').size = 12), expect: ['bundle.position'] },
    {
      name: 'a larger size said',
      change: (lines) => (find(lines, 'bundle').size = 40),
      expect: ['bundle.position'],
    },
    {
      name: 'another log said',
      change: (lines) => (find(lines, 'bundle').log = 'cc'.repeat(16)),
      expect: ['log.id_mismatch'],
    },
    {
      name: 'another run said',
      change: (lines) => (find(lines, 'bundle').scope = { run: RUN_B, part: null }),
      expect: ['run.chain'],
    },
    { name: 'the checkpoint left out', change: (lines) => lines.splice(1, 1), expect: ['checkpoint.none'] },
    {
      name: 'the checkpoint edited',
      change: (lines) => (find(lines, 'note').note = String(find(lines, 'note').note).replace('\n19\n', '\n18\n')),
      expect: ['checkpoint.signature'],
    },
    {
      name: 'the checkpoint of another log',
      change: (lines) => (find(lines, 'note').note = sampleLog().notes[2]),
      expect: ['checkpoint.origin'],
    },
    {
      name: 'a line of an unknown kind',
      change: (lines) => lines.splice(2, 0, { kind: 'other' }),
      expect: ['bundle.line'],
    },
    { name: 'a line with more in it', change: (lines) => (find(lines, 'rec', 1).extra = 1), expect: ['bundle.line'] },
    { name: 'a second head', change: (lines) => lines.push(find(lines, 'bundle')), expect: ['bundle.line'] },
    { name: 'a checkpoint at the end', change: (lines) => lines.push(find(lines, 'note')), expect: ['bundle.line'] },
    {
      name: 'an approval payload type',
      change: (lines) =>
        Object.assign(find(lines, 'rec', 2).dsse as object, {
          payloadType: 'application/vnd.spanseal.approval.v1+json',
        }),
      expect: ['bundle.line'],
    },
  ]

  it.each(cases)('with $name is broken', async ({ change, expect: expected }) => {
    const log = sampleLog()
    const report = await verifyBundle(
      { text: forge(bundleOf(log), (lines) => change(lines, log)) },
      { trust: log.trust },
    )
    for (const code of expected) expect(codes(report)).toContain(code)
    expect(report).toMatchObject({ status: 'broken', exit: 1 })
  })

  it('whose lines are not those of its end is broken', async () => {
    const log = sampleLog()
    const lines = bundleOf(log)
    const swapped = [lines[0], lines[1], lines[1], ...lines.slice(2)].join('')
    const respelled = [`${JSON.stringify(JSON.parse(lines[0] ?? ''))} \n`, ...lines.slice(1)].join('')
    for (const text of [
      respelled,
      swapped,
      lines.slice(0, -1).join(''),
      `${lines.join('')}${lines[1]}`,
      lines.join('').slice(0, -1),
      lines.join('').slice(0, 4_000),
    ]) {
      const report = await verifyBundle({ text }, { trust: log.trust })
      expect(report.status).toBe('broken')
      expect(codes(report)).toContain('bundle.end')
    }
  })

  it('beyond the limits is broken, whatever it holds', async () => {
    const log = sampleLog()
    const text = forge(bundleOf(log), (lines) => lines.push({ kind: 'note', note: 'x'.repeat(3_000) }))
    expect(codes(await verifyBundle({ text }, { limits: { line: 2_500 } }))).toContain('bundle.limit')
    const small = await verifyBundle({ text }, { limits: { total: 4_000 } })
    expect(small).toMatchObject({ exit: 2, unusable: 'there is no record in it (bundle.limit: more than 4000 bytes)' })
    const path = `${freshFolder()}/bomb.gz`
    const [head = ''] = bundleOf(log)
    writeFileSync(path, gzipSync(Buffer.concat([Buffer.from(head), Buffer.alloc(100 * 1024 * 1024)])))
    expect(await verifyBundle({ path })).toMatchObject({
      exit: 2,
      unusable: 'there is no record in it (bundle.limit: a line of more than 1048576 bytes)',
    })
  })

  it.each([
    ['', 'there is no record in it (bundle.end: the end line is missing)'],
    ['{}\n', 'this is no bundle: its first line does not say so'],
    ['not json\n', 'this is no bundle: its first line does not say so'],
    ['{"kind":"bundle","v":2}\n', 'bundle format 2; this version reads format 1'],
    ['{"kind":"bundle","v":1}\n', 'the first line of the bundle can not be read'],
  ])('of %j is unusable', async (text, reason) => {
    expect(await verifyBundle({ text })).toMatchObject({ status: 'unusable', exit: 2, unusable: reason })
  })

  it('with lines of a later version, or no file at all, is unusable', async () => {
    const log = sampleLog()
    const text = forge(bundleOf(log), (lines) => lines.push({ kind: 'policy', sha256: 'a'.repeat(64), text: '' }))
    expect(await verifyBundle({ text })).toMatchObject({
      status: 'unusable',
      unusable: 'it holds a line of kind policy, which this version does not read',
    })
    expect(await verifyBundle({ path: `${freshFolder()}/absent` })).toMatchObject({
      status: 'unusable',
      unusable: "the bundle can't be read (ENOENT)",
    })
  })
})

function editPayload(line: Line, edit: (text: string) => string): void {
  const dsse = line.dsse as { payload: string }
  const before = Buffer.from(dsse.payload, 'base64').toString()
  expect(edit(before)).not.toBe(before)
  dsse.payload = Buffer.from(edit(before)).toString('base64')
}
