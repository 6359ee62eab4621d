// The tampering table: each case damages a real home in one way and names the codes that must be found. Cases of what someone does
// who holds the real keys are built with them.
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import type { Code } from '../../collector/verify/findings.ts'
import { verifyHome } from '../../collector/verify/index.ts'
import { encodeFrame, encodeLogPayload } from '../../conventions/frame.ts'
import { homePaths } from '../../conventions/home.ts'
import {
  freshFolder,
  newKey,
  removeFolders,
  rootOf,
  sampleLog,
  signBytes,
  signNote,
  type TestLog,
  vkeyOf,
  withSecondKey,
} from './support.ts'

afterAll(removeFolders)

/** Numbers of records in the sample log. */
const SEQ = {
  prompt: 4,
  decided: 5,
  completed: 6,
  runB: 7,
  denied: 8,
  asked: 9,
  requested: 10,
  answered: 11,
  consumed: 12,
  imported: 14,
}

interface Case {
  name: string
  /** Changes the sample log before it is written. */
  log?: (log: TestLog) => void
  /** Changes files after that. */
  files?: (root: string, log: TestLog) => void
  /** What is pinned: the log as it was (default), its log key alone, or the log that the case built. */
  pins?: 'original' | 'log key' | 'own'
  expect: Code[]
  /** Codes that must not be there: what the case does not do. */
  not?: Code[]
  exit?: number
  status?: string
}

function at<T>(list: readonly T[], i: number): T {
  const value = list.at(i)
  if (value === undefined) throw new Error(`the list has no ${i}`)
  return value
}

function editRecord(log: TestLog, seq: number, edit: (text: string) => string, resign = false): void {
  const entry = at(log.records, seq)
  entry.record = Buffer.from(edit(Buffer.from(entry.record).toString()))
  if (resign) entry.signature = signBytes(entry.record, log.keys.record)
}

function swap<T>(list: T[], i: number, j: number): void {
  const [a, b] = [at(list, i), at(list, j)]
  list[i] = b
  list[j] = a
}

const segments = (dir: string) =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.seg'))
    .sort()

/** Order of the base point, to be added to S. */
const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n

function addOrder(signature: Uint8Array): Uint8Array {
  const out = Buffer.from(signature)
  const s = BigInt(`0x${Buffer.from(out.subarray(32)).reverse().toString('hex')}`) + ORDER
  Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().copy(out, 32)
  return out
}

const STORE: Case[] = [
  {
    name: 'a byte of a record is flipped, its checksum fixed',
    log: (log) => editRecord(log, SEQ.decided, (t) => t.replace('allow', 'alloW')),
    expect: ['record.schema', 'log.root_mismatch', 'run.chain', 'checkpoint.root'],
  },
  {
    name: 'a denial is rewritten to allow',
    log: (log) => editRecord(log, SEQ.denied, (t) => t.replace('"decision":"deny"', '"decision":"flag"')),
    expect: ['record.signature', 'log.root_mismatch', 'checkpoint.root'],
  },
  {
    name: 'the same, signed again with the real record key',
    log: (log) => editRecord(log, SEQ.denied, (t) => t.replace('"decision":"deny"', '"decision":"flag"'), true),
    expect: ['log.root_mismatch', 'run.chain', 'checkpoint.root'],
    not: ['record.signature'],
  },
  {
    name: 'the last record is rewritten',
    log: (log) => editRecord(log, -1, (t) => t.replace('command', 'signal')),
    expect: ['record.signature', 'checkpoint.root'],
  },
  {
    name: 'a record in the middle is removed',
    log: (log) => log.records.splice(SEQ.denied, 1),
    expect: ['log.seq_missing', 'run.chain', 'checkpoint.root'],
  },
  {
    name: 'a record is removed and the rest renumbered',
    log: (log) => {
      log.records.splice(SEQ.denied, 1)
      for (let seq = SEQ.denied; seq < log.records.length; seq++)
        editRecord(log, seq, (t) => t.replace(`"seq":${seq + 1}`, `"seq":${seq}`))
    },
    expect: ['record.signature', 'checkpoint.beyond_log'],
  },
  {
    name: 'the same, signed again with the real record key',
    log: (log) => {
      log.records.splice(SEQ.denied, 1)
      for (let seq = SEQ.denied; seq < log.records.length; seq++)
        editRecord(log, seq, (t) => t.replace(`"seq":${seq + 1}`, `"seq":${seq}`), true)
    },
    expect: ['log.root_mismatch', 'run.chain', 'checkpoint.beyond_log'],
  },
  {
    name: 'two records are swapped',
    log: (log) => swap(log.records, SEQ.denied, SEQ.asked),
    expect: ['log.seq_missing', 'log.seq_duplicate'],
  },
  {
    name: 'a record by another key is inserted',
    log: (log) => {
      const other = newKey()
      const record = Buffer.from(
        Buffer.from(at(log.records, SEQ.asked).record).toString().replace('git push', 'git pull'),
      )
      log.records.splice(SEQ.asked, 0, { kid: other.kid, record, signature: signBytes(record, other) })
    },
    expect: ['record.key_unknown', 'log.seq_duplicate'],
  },
  {
    name: 'a record by another key takes the place of one',
    log: (log) => {
      const other = newKey()
      const entry = at(log.records, SEQ.denied)
      log.records[SEQ.denied] = { ...entry, kid: other.kid, signature: signBytes(entry.record, other) }
    },
    expect: ['record.key_unknown'],
  },
  {
    name: 'a copy of an old record is appended',
    log: (log) => log.records.push(at(log.records, SEQ.decided)),
    expect: ['log.seq_duplicate'],
  },
  {
    name: 'the tail is cut below the newest checkpoint',
    log: (log) => log.records.splice(-3),
    expect: ['checkpoint.beyond_log'],
  },
  {
    name: 'an old copy is put back, the newest checkpoint stays',
    log: (log) => {
      log.records.splice(7)
      log.vault = log.vault.filter(({ head }) => head.seq < 7)
    },
    expect: ['checkpoint.beyond_log'],
  },
  {
    name: 'the kid is swapped to another declared key',
    log: (log) => {
      // The log declares two keys; the record says the other one signed it.
      const other = newKey()
      const fresh = withSecondKey(log, other)
      at(fresh.records, 1).kid = other.kid
      Object.assign(log, fresh)
    },
    pins: 'own',
    expect: ['record.signature'],
  },
  {
    name: 'everything is signed again with new keys',
    log: (log) => Object.assign(log, sampleLog(undefined, log.id)),
    expect: ['genesis.mismatch', 'checkpoint.signature', 'checkpoint.none'],
  },
  {
    name: 'the same, only the log key is pinned',
    log: (log) => Object.assign(log, sampleLog(undefined, log.id)),
    pins: 'log key',
    expect: ['checkpoint.signature', 'checkpoint.none'],
  },
  {
    name: 'the same without checkpoints',
    log: (log) => Object.assign(log, sampleLog(undefined, log.id), { notes: [] }),
    pins: 'log key',
    expect: ['checkpoint.none'],
  },
  {
    name: 'the log key is kept, the record key replaced',
    log: (log) => Object.assign(log, sampleLog({ log: log.keys.log, record: newKey() }, log.id)),
    expect: ['genesis.mismatch'],
  },
  {
    name: 'the first record is edited',
    log: (log) => editRecord(log, 0, (t) => t.replace('"T1",', ''), true),
    expect: ['genesis.mismatch', 'log.root_mismatch'],
  },
  { name: 'all checkpoints are deleted', log: (log) => log.notes.splice(0), expect: ['checkpoint.none'] },
  {
    name: 'a checkpoint is edited',
    log: (log) => (log.notes[1] = at(log.notes, 1).replace('\n15\n', '\n14\n')),
    expect: ['checkpoint.signature'],
  },
  {
    name: 'a checkpoint line is cut',
    files: (root) => writeFileSync(homePaths(root).checkpoints, '"spanseal\n'),
    expect: ['checkpoint.signature'],
  },
  {
    name: 'the newest checkpoint file is edited',
    files: (root, log) => writeFileSync(homePaths(root).checkpoint, at(log.notes, -1).replace('\n19\n', '\n20\n')),
    expect: ['checkpoint.signature'],
  },
  {
    name: 'a checkpoint of another log is put in',
    log: (log) => log.notes.push(at(sampleLog().notes, 0)),
    expect: ['checkpoint.origin'],
  },
  {
    name: 'a checkpoint of another log by a key of this name',
    log: (log) => log.notes.push(signNote(log.origin, 3, rootOf(log.leaves.slice(0, 3)), newKey())),
    expect: ['checkpoint.signature'],
  },
  {
    name: 'the log key signed another history',
    log: (log) => log.notes.push(signNote(log.origin, 12, Buffer.alloc(32, 9), log.keys.log)),
    expect: ['checkpoint.root'],
  },
  {
    name: 'a duplicate key in a record',
    log: (log) => editRecord(log, 2, (t) => t.replace('{"body":', '{"v":1,"body":'), true),
    expect: ['record.syntax'],
  },
  {
    name: 'white space in a record',
    log: (log) => editRecord(log, 2, (t) => t.replace('"body":', '"body": '), true),
    expect: ['record.syntax'],
  },
  {
    name: 'an unknown field in a record',
    log: (log) => editRecord(log, 2, (t) => t.replace('"rules":3', '"rules":3,"z":1'), true),
    expect: ['record.schema'],
  },
  {
    name: 'bytes that are not UTF-8',
    log: (log) => (at(log.records, 2).record = Uint8Array.of(0xff, 0xfe)),
    expect: ['record.syntax'],
  },
  {
    name: 'S + L in a signature',
    log: (log) => (at(log.records, 3).signature = addOrder(at(log.records, 3).signature)),
    expect: ['record.signature'],
    not: ['log.root_mismatch'],
  },
]

const FILES: Case[] = [
  {
    name: 'the first segment is missing',
    files: (root) => rmSync(`${root}/log/00000000.seg`),
    expect: ['log.frame', 'genesis.mismatch', 'record.key_unknown'],
  },
  {
    name: 'a middle segment is missing',
    files: (root) => rmSync(`${root}/log/00000002.seg`),
    expect: ['log.frame', 'log.seq_missing'],
  },
  {
    name: 'the last segment is missing',
    files: (root) => rmSync(`${root}/log/${at(segments(`${root}/log`), -1)}`),
    expect: ['checkpoint.beyond_log'],
  },
  {
    name: 'a segment is renamed',
    files: (root) => renameSync(`${root}/log/00000001.seg`, `${root}/log/00000001.old`),
    expect: ['log.frame', 'log.seq_missing'],
  },
  {
    name: 'a middle segment is cut inside a frame',
    files: (root) => truncateSync(`${root}/log/00000001.seg`, 500),
    expect: ['log.frame', 'log.seq_missing'],
  },
  {
    name: 'the last segment is cut inside a frame',
    files: (root) => truncateSync(`${root}/log/${at(segments(`${root}/log`), -1)}`, 300),
    expect: ['checkpoint.beyond_log'],
  },
  {
    name: 'garbage in place of a segment',
    files: (root) => writeFileSync(`${root}/log/00000001.seg`, Buffer.alloc(3_000, 0xa7)),
    expect: ['log.frame', 'log.seq_missing'],
  },
  {
    name: 'zeros in place of a middle segment',
    files: (root) => writeFileSync(`${root}/log/00000001.seg`, Buffer.alloc(3_000)),
    expect: ['log.frame', 'log.seq_missing'],
  },
  {
    name: 'garbage behind the last frame',
    files: (root) => appendFileSync(`${root}/log/${at(segments(`${root}/log`), -1)}`, Buffer.alloc(300, 0xa7)),
    expect: ['log.frame'],
  },
  {
    name: 'an empty segment in the middle',
    files: (root) => writeFileSync(`${root}/log/00000001.seg`, ''),
    expect: ['log.seq_missing'],
  },
  {
    name: 'a flipped byte whose checksum is not fixed',
    files: (root) => flip(`${root}/log/00000001.seg`, 300),
    expect: ['log.frame', 'log.seq_missing'],
  },
  {
    name: 'a false length in the middle of the last segment',
    files: (root) => flip(`${root}/log/${at(segments(`${root}/log`), -1)}`, 1, 0x80),
    expect: ['log.frame'],
  },
  {
    name: 'a frame too short for a record',
    files: (root) =>
      appendFileSync(`${root}/log/${at(segments(`${root}/log`), -1)}`, encodeFrame(Buffer.from('short'), crc32)),
    expect: ['log.frame'],
  },
  {
    name: 'a record longer than an entry may be',
    files: (root, log) => {
      const record = Buffer.from(JSON.stringify({ a: 'x'.repeat(60_090) }))
      const payload = encodeLogPayload({
        kid: log.keys.record.kid,
        signature: signBytes(record, log.keys.record),
        record,
      })
      appendFileSync(`${root}/log/${at(segments(`${root}/log`), -1)}`, encodeFrame(payload, crc32))
    },
    expect: ['limit.record'],
  },
]

const VAULT: Case[] = [
  {
    name: 'content is edited',
    log: (log) => (at(log.vault, 0).content = Buffer.from('list filet')),
    expect: ['content.mismatch'],
  },
  {
    name: 'a salt is edited',
    log: (log) => (at(log.vault, 0).head.salt = '00'.repeat(32)),
    expect: ['content.mismatch'],
  },
  { name: 'a salt is no salt', log: (log) => (at(log.vault, 0).head.salt = 'zz'), expect: ['content.mismatch'] },
  {
    name: 'the salts of two values are swapped',
    log: (log) => {
      const [one, two] = [at(log.vault, 0).head, at(log.vault, 1).head]
      const { salt } = one
      one.salt = two.salt
      two.salt = salt
    },
    expect: ['content.mismatch'],
  },
  {
    name: 'content is said to have been dropped',
    log: (log) => (log.vault[0] = { head: { ...at(log.vault, 0).head, dropped: true }, content: Buffer.alloc(0) }),
    expect: ['content.missing'],
    exit: 0,
  },
  {
    name: 'dropped content has bytes',
    log: (log) => (log.vault[0] = { head: { ...at(log.vault, 0).head, dropped: true }, content: Buffer.from('no') }),
    expect: ['content.mismatch'],
  },
  { name: 'a vault frame is deleted', log: (log) => log.vault.splice(1, 1), expect: ['content.missing'], exit: 0 },
  {
    name: 'the vault is deleted',
    files: (root) => rmSync(`${root}/vault`, { recursive: true }),
    expect: ['content.missing'],
    exit: 0,
  },
  {
    name: 'content is moved to another record',
    log: (log) => (at(log.vault, 0).head.seq = 2),
    expect: ['content.missing', 'content.unreferenced'],
    exit: 0,
  },
  {
    name: 'content is there twice',
    log: (log) => log.vault.splice(1, 0, at(log.vault, 0)),
    expect: ['content.unreferenced'],
    exit: 0,
  },
  { name: 'two vault frames are swapped', log: (log) => swap(log.vault, 0, 3), expect: [], exit: 0 },
  {
    name: 'garbage in the vault',
    files: (root) => writeFileSync(`${root}/vault/00000000.seg`, Buffer.alloc(900, 0xa7)),
    expect: ['content.mismatch', 'content.missing'],
  },
]

function flip(path: string, offset: number, bit = 1): void {
  const bytes = readFileSync(path)
  bytes[offset] = (bytes[offset] ?? 0) ^ bit
  writeFileSync(path, bytes)
}

describe.each([
  ['what lies in the log', STORE, 1_000],
  ['the log files', FILES, 5],
  ['the vault', VAULT, 1_000],
] as const)('tampering with %s', (_, cases, perSegment) => {
  it.each(cases)('$name', async ({ log: change, files, pins = 'original', expect: expected, not = [], exit = 1 }) => {
    const log = sampleLog()
    const original = log.trust
    change?.(log)
    const root = log.write(freshFolder(), perSegment)
    files?.(root, log)
    const trust = pins === 'own' ? log.trust : pins === 'log key' ? original.replace(/^genesis .*$/m, '') : original
    const report = await verifyHome({ root, trust })
    const codes = report.findings.map(({ code }) => code)
    for (const code of expected) expect(codes).toContain(code)
    for (const code of not) expect(codes).not.toContain(code)
    expect(report.exit).toBe(exit)
    if (exit === 1) expect(report.status).toBe('broken')
  })
})

describe('findings', () => {
  it('are all there at once, counted, and listed up to a limit', async () => {
    const log = sampleLog()
    for (let i = 0; i < 50; i++) log.records.push(at(log.records, 2))
    editRecord(log, 4, (t) => t.replace('t1', 't2'))
    at(log.vault, 2).content = Buffer.from('?')
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    const codes = report.findings.map(({ code }) => code)
    expect(codes).toEqual(
      expect.arrayContaining(['record.signature', 'log.seq_duplicate', 'log.root_mismatch', 'content.mismatch']),
    )
    const duplicates = report.findings.find(({ code }) => code === 'log.seq_duplicate')
    expect(duplicates?.count).toBe(50)
    expect(duplicates?.records).toHaveLength(20)
  })

  it('name the records', async () => {
    const log = sampleLog()
    editRecord(log, SEQ.denied, (t) => t.replace('deny', 'flag'))
    const report = await verifyHome({ root: log.write(freshFolder()), trust: log.trust })
    expect(report.findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'record.signature', records: [SEQ.denied] }),
        expect.objectContaining({ code: 'log.root_mismatch', records: [SEQ.asked] }),
      ]),
    )
    expect(report.checkpoint).toMatchObject({
      size: 7,
      key: vkeyOf(log.origin, log.keys.log).split('+').slice(0, 2).join('+'),
    })
  })
})
