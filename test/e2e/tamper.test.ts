// The tampering table: the evidence of a real collector, changed the way somebody with the files could, or with the keys too. Each case
// says what `spanseal verify` finds with the trust file alone, and with a checkpoint that was kept elsewhere as well.
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyHome } from '../../collector/verify/index.ts'
import { Collector, event, postToolUse, preToolUse } from '../support/collector.ts'
import { type Forged, freshKey, RealLog } from '../support/real-log.ts'
import { signNote } from '../verify/support.ts'

let base: string
let trust: string
let kept: string

/** A session with six calls, one that a person approved, an import; then an old copy is taken; then a session that does not end. */
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'spanseal-tamper-'))
  const collector = await new Collector({ root: join(base, 'home') }).start()
  await session(collector, 'S1')
  await collector.stop()
  trust = join(base, 'trust')
  writeFileSync(trust, (await cli(collector.root, '--print-trust')).stdout)
  cpSync(collector.root, join(base, 'old'), { recursive: true })
  await collector.start()
  await collector.hook('PreToolUse', preToolUse('S2', 'later'))
  await collector.stop()
  kept = join(base, 'kept')
  writeFileSync(kept, readFileSync(join(collector.root, 'log/checkpoint')))
  const other = await new Collector({ root: join(base, 'other') }).start()
  await session(other, 'S1')
  await other.stop()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function session(collector: Collector, name: string): Promise<void> {
  await collector.hook('UserPromptSubmit', event(name, 'UserPromptSubmit', { prompt: 'hello' }))
  for (let i = 0; i < 6; i++) {
    await collector.hook('PreToolUse', preToolUse(name, `c${i}`))
    await collector.hook('PostToolUse', postToolUse(name, `c${i}`))
  }
  const asked = await collector.hook('PreToolUse', preToolUse(name, 'push', 'git push origin main'))
  const id = /^spanseal\/1 hold (\S+)\n/.exec(asked.body)?.[1] ?? ''
  const waiting = collector.get(`/hook/wait/${id}`)
  await collector.admin('POST', `/approvals/${id}/approve`)
  await waiting
  await collector.hook('PostToolUse', postToolUse(name, 'push', 'git push origin main'))
  const span = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    name: 'x',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
  }
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })
  const headers = { 'content-type': 'application/json' }
  const imported = await fetch(`${collector.endpoint().otlp}/v1/traces`, { method: 'POST', headers, body })
  if (!imported.ok) throw new Error(`the import was refused: ${await imported.text()}`)
  await collector.hook('SessionEnd', event(name, 'SessionEnd'))
}

const cli = (home: string, ...args: string[]) => run(home, 'verify', ...args)

function run(home: string, ...args: string[]): Promise<{ status: number; stdout: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [resolve('dist/spanseal.mjs'), '--home', home, ...args], (error, stdout) =>
      done({ status: error === null ? 0 : Number(error.code), stdout }),
    )
  })
}

/** A copy of a home, changed. */
function changed(change: Change, from = 'home'): string {
  const home = mkdtempSync(join(base, 'copy-'))
  cpSync(join(base, from), home, { recursive: true })
  if (change !== null) {
    const log = new RealLog(home)
    if (change(log, home) !== 'as it lies') log.save()
  }
  return home
}

/** Changes the log in memory, which is saved then, or the files themselves. */
type Change = ((log: RealLog, home: string) => 'as it lies' | unknown) | null

/** What must be found: codes that break the evidence, codes that do not, or nothing at all. */
type Found = { broken: string[] } | { warning: string[] } | { exit3: string[] } | 'nothing'

interface Case {
  /** Number of the row in the design's table. */
  row: number
  name: string
  change: Change
  from?: 'home' | 'old' | 'other'
  trust: Found
  /** Where the checkpoint kept elsewhere changes the answer. */
  outside?: Found
  pins?: 'log key'
}

const calls = (records: Forged[]): Forged[] => records.filter(({ type }) => type === 'tool.decided')
const at = (records: Forged[], type: string): number => records.findIndex((record) => record.type === type)
const spliceCopy = (records: Forged[], from: number, to: number) =>
  records.splice(to, 0, JSON.parse(JSON.stringify(records[from])))

/** Cuts everything behind the record, and what the vault and the checkpoints know of it. */
function cut(log: RealLog, size: number, keepCheckpoints = false): void {
  log.records.splice(size)
  log.vault = log.vault.filter(({ head }) => head.seq < size)
  if (!keepCheckpoints) log.dropBeyond()
}

/** Order of the base point, added to S. */
const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n
function addOrder(signature: Uint8Array): Uint8Array {
  const out = Buffer.from(signature)
  const s = BigInt(`0x${Buffer.from(out.subarray(32)).reverse().toString('hex')}`) + ORDER
  Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().copy(out, 32)
  return out
}

/** A second segment that takes over in the middle. */
function split(log: RealLog, home: string): void {
  const whole = log.records
  log.records = whole.slice(0, 10)
  log.save()
  renameSync(join(home, 'log/00000000.seg'), join(home, 'first'))
  log.records = whole.slice(10)
  log.save()
  renameSync(join(home, 'log/00000000.seg'), join(home, 'log/00000001.seg'))
  renameSync(join(home, 'first'), join(home, 'log/00000000.seg'))
}

const CASES: Case[] = [
  { row: 1, name: 'untouched', change: null, trust: 'nothing' },
  {
    row: 2,
    name: 'a record is edited, its checksum fixed',
    change: (log) => log.edit(log.find('tool.decided'), (text) => text.replace('"tool":"Bash"', '"tool":"Cash"')),
    trust: { broken: ['record.signature', 'log.root_mismatch'] },
  },
  {
    row: 4,
    name: 'a record in the middle is removed',
    change: (log) => log.records.splice(8, 1),
    trust: { broken: ['log.seq_missing'] },
  },
  {
    row: 5,
    name: 'a record is removed and the others are renumbered',
    change: (log) => {
      log.records.splice(8, 1)
      for (let seq = 8; seq < log.records.length; seq++)
        log.edit(seq, (text) =>
          text.replace(`"seq":${seq + 1}}`, `"seq":${seq}}`).replace(`"seq":${seq + 1},`, `"seq":${seq},`),
        )
    },
    trust: { broken: ['record.signature'] },
  },
  {
    row: 6,
    name: 'two records are swapped',
    change: (log) => log.records.splice(6, 2, ...log.records.slice(6, 8).reverse()),
    trust: { broken: ['log.seq_missing', 'log.seq_duplicate'] },
  },
  {
    row: 7,
    name: 'a record of another log is inserted',
    change: (log) => log.records.splice(7, 0, ...new RealLog(join(base, 'other')).records.slice(3, 4)),
    trust: { broken: ['record.key_unknown'] },
  },
  {
    row: 8,
    name: 'a copy of an old record is appended',
    change: (log) => log.records.push(...log.records.slice(5, 6)),
    trust: { broken: ['log.seq_duplicate'] },
  },
  {
    row: 9,
    name: 'the tail is cut, the checkpoints stay',
    change: (log) => cut(log, log.records.length - 4, true),
    trust: { broken: ['checkpoint.beyond_log'] },
    outside: { broken: ['checkpoint.beyond_log', 'anchor.rollback'] },
  },
  {
    row: 10,
    name: 'the tail is cut and its checkpoints, with a run left open',
    change: (log) => cut(log, log.find('tool.completed', 3) + 1),
    trust: { warning: ['run.open'] },
    outside: { broken: ['anchor.rollback'] },
  },
  {
    row: 11,
    name: 'the same at the end of a run',
    change: (log) => cut(log, log.find('run.closed') + 1),
    trust: 'nothing',
    outside: { broken: ['anchor.rollback'] },
  },
  {
    row: 12,
    name: 'an old copy of the home is put in its place',
    from: 'old',
    change: null,
    trust: 'nothing',
    outside: { broken: ['anchor.rollback'] },
  },
  {
    row: 13,
    name: 'another tail is written with the real keys',
    change: (log) => {
      log.rewrite((records) => records.splice(-2, 1))
      log.checkpointAnew()
    },
    trust: 'nothing',
    outside: { broken: ['anchor.rollback'] },
  },
  {
    row: 13,
    name: 'another tail of the same length is written with the real keys',
    change: (log) => {
      log.rewrite((records) => {
        records.at(-1).body.reason = 'command'
      })
      log.checkpointAnew()
    },
    trust: 'nothing',
    outside: { broken: ['anchor.fork'] },
  },
  {
    row: 14,
    name: 'everything is written again with the real keys, without checkpoints',
    change: (log) => {
      log.rewrite((records) => {
        for (const { body } of records) if (body.tool === 'Bash') body.tool = 'Cash'
      })
      log.notes = []
    },
    trust: { broken: ['checkpoint.none'] },
    outside: { broken: ['checkpoint.none', 'anchor.fork'] },
  },
  {
    row: 15,
    name: 'the same, with a new checkpoint by the real log key',
    change: (log) => {
      log.rewrite((records) => {
        for (const { body } of records) if (body.tool === 'Bash') body.tool = 'Cash'
      })
      log.checkpointAnew()
    },
    trust: 'nothing',
    outside: { broken: ['anchor.fork'] },
  },
  {
    row: 16,
    name: 'everything is signed again with new keys',
    change: (log) => {
      log.useKeys({ log: freshKey(), record: freshKey() })
      log.checkpointAnew()
    },
    trust: { broken: ['genesis.mismatch', 'checkpoint.signature', 'checkpoint.none'] },
  },
  {
    row: 17,
    name: 'the same, with the log key alone pinned',
    pins: 'log key',
    change: (log) => {
      log.useKeys({ log: freshKey(), record: freshKey() })
      log.checkpointAnew()
    },
    trust: { broken: ['checkpoint.signature', 'checkpoint.none'] },
  },
  {
    row: 18,
    name: 'the same without checkpoints',
    pins: 'log key',
    change: (log) => {
      log.useKeys({ log: freshKey(), record: freshKey() })
      log.notes = []
    },
    trust: { broken: ['checkpoint.none'] },
  },
  {
    row: 19,
    name: 'the log key is stolen, the record key another',
    change: (log) => {
      const stranger = freshKey()
      for (let seq = 1; seq < log.records.length; seq++) log.sign(seq, stranger)
    },
    trust: { broken: ['record.key_unknown'] },
  },
  {
    row: 19,
    name: 'the log key is stolen, another record key declared',
    change: (log) => {
      log.useKeys({ record: freshKey() })
      log.checkpointAnew()
    },
    trust: { broken: ['genesis.mismatch'] },
  },
  {
    row: 21,
    name: 'a checkpoint is edited',
    change: (log) => log.notes.push(signNote(log.origin, 3, Buffer.alloc(32), log.keys.log).replace('\n3\n', '\n4\n')),
    trust: { broken: ['checkpoint.signature'] },
  },
  {
    row: 21,
    name: 'a checkpoint of another log is put in',
    change: (log) => log.notes.push(...new RealLog(join(base, 'other')).notes.slice(0, 1)),
    trust: { broken: ['checkpoint.origin'] },
  },
  {
    row: 22,
    name: 'an approval is used twice',
    change: (log) => {
      log.rewrite((records) =>
        spliceCopy(records, at(records, 'approval.consumed'), at(records, 'approval.consumed') + 1),
      )
      log.checkpointAnew()
    },
    trust: { broken: ['approval.replayed'] },
    outside: { broken: ['approval.replayed', 'anchor.fork'] },
  },
  {
    row: 22,
    name: 'an approval is used for another call',
    change: (log) => {
      log.rewrite((records) => {
        records[at(records, 'approval.consumed')].call.id = 'c1'
      })
      log.checkpointAnew()
    },
    trust: { broken: ['approval.wrong_call'] },
    outside: { broken: ['approval.wrong_call', 'anchor.fork'] },
  },
  {
    row: 22,
    name: 'an approval is asked for with other arguments',
    change: (log) => {
      log.rewrite((records) => {
        records[at(records, 'approval.requested')].commit = [{ n: 'args', c: Buffer.alloc(32, 1).toString('base64') }]
      })
      log.vault = []
      log.checkpointAnew()
    },
    trust: { broken: ['approval.args_mismatch'] },
    outside: { broken: ['approval.args_mismatch', 'anchor.fork'] },
  },
  {
    row: 23,
    name: 'a rejection becomes what was used',
    change: (log) => {
      log.rewrite((records) => {
        records[at(records, 'approval.answered')].body.answer = 'reject'
      })
      log.checkpointAnew()
    },
    trust: { broken: ['approval.not_approved'] },
    outside: { broken: ['approval.not_approved', 'anchor.fork'] },
  },
  {
    row: 24,
    name: 'a held call ran without approval',
    change: (log) => {
      log.rewrite((records) => records.splice(at(records, 'approval.requested'), 3))
      log.checkpointAnew()
      log.vault = []
    },
    trust: { exit3: ['policy.ran_without_approval'] },
    outside: { broken: ['anchor.rollback'] },
  },
  {
    row: 24,
    name: 'a denied call ran',
    change: (log) => {
      log.rewrite((records) => {
        calls(records)[2].body.decision = 'deny'
      })
      log.checkpointAnew()
    },
    trust: { exit3: ['policy.ran_against_deny'] },
    outside: { broken: ['anchor.fork'] },
  },
  {
    row: 24,
    name: 'a call ran with other arguments than were decided on',
    change: (log) => {
      log.rewrite((records) => {
        const completed = records.find(({ type }) => type === 'tool.completed')
        completed.commit.find(({ n }: { n: string }) => n === 'args').c = Buffer.alloc(32, 1).toString('base64')
      })
      log.vault = log.vault.filter(({ head }) => head.seq !== log.find('tool.completed'))
      log.checkpointAnew()
    },
    trust: { exit3: ['policy.other_arguments'] },
    outside: { broken: ['anchor.fork'] },
  },
  {
    row: 25,
    name: 'an import is recorded as T1',
    change: (log) => {
      log.rewrite((records) =>
        Object.assign(records[at(records, 'spans.imported')], { tier: 'T1', source: { kind: 'hook' } }),
      )
      log.checkpointAnew()
    },
    trust: { broken: ['tier.source_conflict'] },
    outside: { broken: ['tier.source_conflict', 'anchor.fork'] },
  },
  {
    row: 26,
    name: 'a record is moved to another run',
    change: (log) => {
      const seq = log.find('tool.completed', 2)
      log.edit(seq, (text) => text.replace(/"run":\{"id":"[0-9a-f]{2}/, '"run":{"id":"00'))
      log.sign(seq)
    },
    trust: { broken: ['run.chain', 'log.root_mismatch'] },
  },
  {
    row: 28,
    name: 'content is edited',
    change: (log) =>
      Object.assign(log.vault.find(({ content }) => content.length > 0) ?? {}, { content: Buffer.from('x') }),
    trust: { broken: ['content.mismatch'] },
  },
  {
    row: 28,
    name: 'two salts are swapped',
    change: (log) => {
      const [one, two] = log.vault.filter(({ content }) => content.length > 0).map(({ head }) => head)
      if (one !== undefined && two !== undefined) [one.salt, two.salt] = [two.salt, one.salt]
    },
    trust: { broken: ['content.mismatch'] },
  },
  {
    row: 29,
    name: 'content is deleted',
    change: (log) =>
      log.vault.splice(
        log.vault.findIndex(({ content }) => content.length > 0),
        1,
      ),
    trust: { warning: ['content.missing'] },
  },
  {
    row: 32,
    name: 'a duplicate key, signed',
    change: (log) => {
      log.edit(4, (text) => text.replace('{"body":', '{"v":1,"body":'))
      log.sign(4)
    },
    trust: { broken: ['record.syntax'] },
  },
  {
    row: 32,
    name: 'white space, signed',
    change: (log) => {
      log.edit(4, (text) => text.replace('{"body":', '{ "body":'))
      log.sign(4)
    },
    trust: { broken: ['record.syntax'] },
  },
  {
    row: 32,
    name: 'S + L in a signature',
    change: (log) =>
      Object.assign(log.records[4] ?? {}, { signature: addOrder(log.records[4]?.signature ?? new Uint8Array(64)) }),
    trust: { broken: ['record.signature'] },
  },
  {
    row: 33,
    name: 'the first segment is missing',
    change: (log, home) => {
      split(log, home)
      rmSync(join(home, 'log/00000000.seg'))
      return 'as it lies'
    },
    trust: { broken: ['log.frame', 'genesis.mismatch'] },
  },
  {
    row: 33,
    name: 'a segment is renamed',
    change: (log, home) => {
      split(log, home)
      renameSync(join(home, 'log/00000001.seg'), join(home, 'log/00000003.seg'))
      return 'as it lies'
    },
    trust: { broken: ['log.frame'] },
  },
  {
    row: 33,
    name: 'a segment is cut inside a frame',
    change: (log, home) => {
      split(log, home)
      truncateSync(join(home, 'log/00000000.seg'), 1_500)
      return 'as it lies'
    },
    trust: { broken: ['log.frame', 'log.seq_missing'] },
  },
  {
    row: 33,
    name: 'garbage in the place of a segment',
    change: (log, home) => {
      split(log, home)
      writeFileSync(join(home, 'log/00000001.seg'), Buffer.alloc(3_000, 0xa7))
      return 'as it lies'
    },
    trust: { broken: ['checkpoint.beyond_log'] },
    outside: { broken: ['checkpoint.beyond_log', 'anchor.rollback'] },
  },
  {
    row: 34,
    name: 'the last frame is torn',
    change: (_log, home) => {
      appendFileSync(join(home, 'log/00000000.seg'), Buffer.from([200, 1, 0, 0, 9, 9, 9, 9, 1, 2, 3]))
      return 'as it lies'
    },
    trust: 'nothing',
  },
  {
    row: 39,
    name: 'the DuckDB file is deleted',
    change: (_log, home) => {
      for (const name of ['spanseal.duckdb', 'spanseal.duckdb.wal']) rmSync(join(home, name), { force: true })
      return 'as it lies'
    },
    trust: 'nothing',
  },
  {
    row: 41,
    name: 'a tile is edited',
    change: (log, home) => {
      const size = Number(log.notes.at(-1)?.split('\n')[1])
      const path = join(home, `log/tile/0/000.p/${size}`)
      const bytes = readFileSync(path)
      bytes[5] = (bytes[5] ?? 0) ^ 1
      writeFileSync(path, bytes)
      return 'as it lies'
    },
    trust: { warning: ['tile.mismatch'] },
  },
  {
    row: 41,
    name: 'tiles are deleted',
    change: (_log, home) => {
      rmSync(join(home, 'log/tile/entries'), { recursive: true })
      return 'as it lies'
    },
    trust: { warning: ['tile.mismatch'] },
  },
]

/** Findings of every real home here: an answer nobody signed, and a run that goes on. */
const ALWAYS = ['approval.unauthenticated', 'run.open']

describe.each([
  ['the trust file alone', false],
  ['a checkpoint kept elsewhere as well', true],
] as const)('with %s', (_, witnessed) => {
  it.each(CASES)('row $row: $name', async ({ change, from, pins, trust: plain, outside }) => {
    const home = changed(change, from)
    const text = readFileSync(trust, 'utf8')
    const report = await verifyHome({
      root: home,
      trust: pins === 'log key' ? text.replace(/^genesis .*$/m, '') : text,
      seen: witnessed ? [readFileSync(kept, 'utf8')] : [],
    })
    const codes: string[] = report.findings.map(({ code }) => code)
    const found = witnessed ? (outside ?? plain) : plain
    if (found === 'nothing') {
      expect(codes.filter((code) => !ALWAYS.includes(code))).toEqual([])
      expect(report.exit).toBe(0)
    } else {
      const [kind = '', wanted = []] = Object.entries(found)[0] ?? []
      expect(codes).toEqual(expect.arrayContaining(wanted))
      expect(report.exit).toBe({ broken: 1, warning: 0, exit3: 3 }[kind])
    }
  })
})

it.each([
  [1, 'untouched', 0],
  [2, 'a record is edited, its checksum fixed', 1],
  [24, 'a denied call ran', 3],
])('row %i, %s, is told by the command with its exit code', async (_row, name, exit) => {
  const { change = null } = CASES.find((one) => one.name === name) ?? {}
  expect((await cli(changed(change), '--trust', trust)).status).toBe(exit)
})

it('says every line of the report, and never more than was pinned', async () => {
  const { status, stdout } = await cli(join(base, 'home'), '--trust', trust)
  expect(status).toBe(0)
  for (const line of [
    'Integrity    INTACT to record',
    'Outside      NOT SEEN OUTSIDE',
    'Custody      Collector ran as the SAME USER',
    'Enforcement  decided 8',
    'Evidence     T1 ',
    'Approvals    1 used once',
    'Content      ',
    'Not proven   ',
  ]) {
    expect(stdout).toContain(line)
  }
  expect((await cli(join(base, 'home'))).stdout).toContain('SELF-CONSISTENT ONLY')
  const seen = await cli(join(base, 'home'), '--trust', trust, '--checkpoint', kept)
  expect(seen.stdout).not.toContain('NOT SEEN OUTSIDE')
})

it('another log in the place of the home is named', async () => {
  const { status, stdout } = await cli(join(base, 'other'), '--trust', trust)
  expect(status).toBe(1)
  expect(stdout).toContain('genesis.mismatch')
})

it('34, 39, 41. what is derived or torn is made good by the next start, and the home is intact', async () => {
  const home = changed((_log, root) => {
    appendFileSync(join(root, 'log/00000000.seg'), Buffer.from([200, 1, 0, 0, 9, 9, 9, 9, 1, 2, 3]))
    writeFileSync(join(root, 'spanseal.duckdb'), 'not a database')
    rmSync(join(root, 'log/tile'), { recursive: true })
    return 'as it lies'
  })
  const collector = await new Collector({ root: home }).start()
  await collector.hook('PreToolUse', preToolUse('S3', 'c1'))
  await collector.stop()
  expect(existsSync(join(home, 'log/tile/entries'))).toBe(true)
  const { status, stdout } = await cli(home, '--trust', trust, '--checkpoint', kept, '--json')
  expect(status).toBe(0)
  const codes: string[] = JSON.parse(stdout).findings.map(({ code }: { code: string }) => code)
  expect(codes.filter((code) => !ALWAYS.includes(code))).toEqual([])
})

describe('3, 40. a copy of the DuckDB file', () => {
  // A command that reads brings the index up to the end of the log.
  beforeAll(() => run(join(base, 'home'), 'sql', 'SELECT 1'))
  const copy = (name: string) => {
    const path = join(base, `${name}.duckdb`)
    for (const ending of ['', '.wal']) {
      const file = join(base, `home/spanseal.duckdb${ending}`)
      if (existsSync(file)) cpSync(file, `${path}${ending}`)
    }
    return path
  }
  const change = async (path: string, ...statements: string[]) => {
    const instance = await DuckDBInstance.create(path)
    const connection = await instance.connect()
    for (const statement of statements) await connection.run(statement)
    connection.closeSync()
    instance.closeSync()
  }
  const verify = async (path: string, ...more: string[]) => {
    const { status, stdout } = await cli('/nowhere', '--index', path, '--trust', trust, '--json', ...more)
    const { findings, ...report } = JSON.parse(stdout)
    const codes: string[] = findings.map(({ code }: { code: string }) => code)
    return { exit: status, status: report.status, codes: codes.filter((code) => !ALWAYS.includes(code)), report }
  }

  it('alone is self-consistent, and intact with a checkpoint that was kept', async () => {
    const path = copy('good')
    const home = await verifyHome({ root: join(base, 'home'), trust: readFileSync(trust, 'utf8') })
    const alone = await verify(path)
    expect(alone).toMatchObject({ exit: 0, status: 'self_consistent', codes: [] })
    expect(alone.report).toMatchObject({ size: home.size, evidence: home.evidence, decisions: home.decisions })
    expect(await verify(path, '--checkpoint', kept)).toMatchObject({ exit: 0, status: 'intact', codes: [] })
    const words = await cli('/nowhere', '--index', path, '--trust', trust)
    expect(words.stdout).toContain('an index holds no checkpoint')
  })

  it.each<[string, string, string[], number]>([
    ['a column', "UPDATE records SET type = 'tool.denied' WHERE seq = 6", ['index.drift'], 0],
    ['a body', `UPDATE records SET body = '{"turn":"t9"}' WHERE seq = 6`, ['index.drift'], 0],
    ['a time', 'UPDATE records SET time = time + INTERVAL 1 SECOND WHERE seq = 6', ['index.drift'], 0],
    ['bytes', "UPDATE records SET bytes = bytes || '\\x20'::BLOB WHERE seq = 6", ['record.syntax'], 1],
    ['a signature', "UPDATE records SET signature = '\\x00'::BLOB WHERE seq = 6", ['record.signature'], 1],
    ['a row less', 'DELETE FROM records WHERE seq = 6', ['log.seq_missing'], 1],
    ['a row more', 'INSERT INTO records SELECT * FROM records WHERE seq = 6', ['log.seq_duplicate'], 1],
  ])('with %s changed is told', async (name, statement, expected, exit) => {
    const path = copy(name.replace(/\W/g, ''))
    await change(path, statement)
    const found = await verify(path)
    expect(found.codes).toEqual(expect.arrayContaining(expected))
    expect(found.exit).toBe(exit)
  })

  it('that is none, or another database, is unusable', async () => {
    const path = join(base, 'none.duckdb')
    writeFileSync(path, 'not a database')
    expect(await verify(path)).toMatchObject({ exit: 2, status: 'unusable' })
    const other = join(base, 'another.duckdb')
    await change(other, 'CREATE TABLE t (a INTEGER)')
    expect(await verify(other)).toMatchObject({ exit: 2, status: 'unusable' })
  })

  it('that a collector has open is not read, and said so', async () => {
    const home = changed(null)
    const collector = await new Collector({ root: home }).start()
    const { status } = await cli(home, '--index')
    await collector.stop()
    expect(status).toBe(2)
    expect((await cli(home, '--index')).status).toBe(0)
  })
})

it('42. of a home that was copied and continued twice, each is a fork to who knows the other', async () => {
  const seen: string[] = []
  const homes = ['one', 'two'].map(() => changed(null))
  for (const home of homes) {
    const collector = await new Collector({ root: home }).start()
    await collector.hook('PreToolUse', preToolUse('S4', `in ${home.slice(-6)}`))
    await collector.stop()
    const path = join(home, 'seen')
    writeFileSync(path, readFileSync(join(home, 'log/checkpoint')))
    seen.push(path)
  }
  for (const [i, home] of homes.entries()) {
    expect((await cli(home, '--trust', trust)).status).toBe(0)
    expect((await cli(home, '--trust', trust, '--checkpoint', seen[i] ?? '')).status).toBe(0)
    const { status, stdout } = await cli(home, '--trust', trust, '--checkpoint', seen[1 - i] ?? '')
    expect(status).toBe(1)
    expect(stdout).toMatch(/anchor\.(fork|rollback)/)
  }
})
