// One bundle for each code that a bundle can raise, and a home for each of the others: what was done, and the files that result.
import { createHash } from 'node:crypto'
import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { Tiles } from '../../collector/store/tiles.ts'
import type { Code } from '../../collector/verify/findings.ts'
import { exportBundle } from '../../collector/verify/index.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { fileApprover, softToken } from '../support/approver.ts'
import {
  freshFolder,
  keyOfSeed,
  RUN_A,
  rootOf,
  sampleLog,
  signBytes,
  signNote,
  type TestLog,
  withSecondKey,
} from '../verify/support.ts'
import { asked, emptyLog, goldenLog, KEYS, logOf } from './logs.ts'

type Line = Record<string, Json> & { kind: string }

export interface Negative {
  /** Bytes of the bundle; gzipped when it begins so. */
  bundle: Uint8Array
  /** Trust file, where it is not the golden one. */
  trust?: string
  /** A checkpoint that was kept elsewhere. */
  seen?: string
}

/** Lines of a log's bundle, with some content disclosed. */
export function bundleLines(log: TestLog, open: { seq: number; name: string }[] = []): string[] {
  const root = freshFolder()
  const made = exportBundle({ root: log.write(root), run: { id: RUN_A }, open })
  if (!made.ok) throw new Error(made.message)
  const lines = [...made.lines]
  rmSync(root, { recursive: true })
  return lines
}

/** What the golden bundle discloses. */
export const OPEN = [
  { seq: 5, name: 'args' },
  { seq: 6, name: 'result' },
]

/** The golden bundle after a change, with an end line that fits: what a careful forger would hand over. */
function forged(change: (lines: Line[]) => void, log = goldenLog()): Negative {
  const lines: Line[] = bundleLines(log, log.vault.length > 2 ? OPEN : []).map((line) => JSON.parse(line))
  lines.pop()
  change(lines)
  return { bundle: ended(lines.map((line) => `${JSON.stringify(line)}\n`)) }
}

function ended(texts: string[]): Buffer {
  const sha256 = createHash('sha256').update(texts.join('')).digest('hex')
  return Buffer.from([...texts, `${JSON.stringify({ kind: 'end', lines: texts.length, sha256 })}\n`].join(''))
}

const found = (lines: Line[], kind: string, skip = 0): Line => {
  const line = lines.filter((candidate) => candidate.kind === kind)[skip]
  if (line === undefined) throw new Error(`the bundle has no ${kind} ${skip}`)
  return line
}

/** Rewrites a shown record; signs it again with `key`. */
function rewrite(line: Line, edit: (text: string) => string, key: ReturnType<typeof keyOfSeed> | null): void {
  const dsse = line.dsse as { payload: string; signatures: { keyid: string; sig: string }[] }
  const bytes = Buffer.from(edit(Buffer.from(dsse.payload, 'base64').toString()))
  dsse.payload = bytes.toString('base64')
  if (key === null) return
  dsse.signatures = [{ keyid: `sha256:${key.kid.toString('hex')}`, sig: signBytes(bytes, key).toString('base64') }]
}

/** The bundle of a log that somebody built who holds the keys. */
const built = (add: Parameters<typeof logOf>[0], closed = true): Negative => ({
  bundle: Buffer.from(bundleLines(logOf(add, closed)).join('')),
})

const ORIGIN = goldenLog().origin
const note = (size: number, root: Uint8Array) => signNote(ORIGIN, size, root, KEYS.log)

/** The golden log with other arguments in its first call: another history under the same keys. */
function otherHistory(): TestLog {
  const log = emptyLog()
  log.add('collector.started', { version: '0.1.0', after: 'crash' })
  while (log.records.length < 19) log.add('collector.started', { version: '0.1.0', after: 'stop' })
  return log
}

export const BUNDLES: { [C in Code]?: () => Negative } = {
  'record.syntax': () =>
    forged((lines) => rewrite(found(lines, 'rec', 2), (t) => t.replace('"body":', '"body": '), KEYS.record)),
  'record.schema': () =>
    forged((lines) => rewrite(found(lines, 'rec', 2), (t) => t.replace('{"bytes":', '{"aytes":'), KEYS.record)),
  'record.signature': () =>
    forged((lines) => rewrite(found(lines, 'rec', 3), (t) => t.replace('"allow"', '"flag"'), null)),
  'record.key_unknown': () => forged((lines) => rewrite(found(lines, 'rec', 3), (t) => t, keyOfSeed(9))),
  'record.key_retired': () =>
    built((log, run) => {
      log.rotate(keyOfSeed(3))
      log.add('gap', { kind: 'no_transcript', count: 1 }, { run, key: KEYS.record })
    }),
  'record.key_revoked': () =>
    built((log) => {
      log.rotate(keyOfSeed(3))
      const kid = `sha256:${KEYS.record.kid.toString('hex')}`
      log.add('key.revoked', { kid, from_seq: 1, reason: 'stolen' })
    }),
  'tier.key_scope': () => {
    const log = withSecondKey(emptyLog(), keyOfSeed(3), ['T3'])
    return { bundle: Buffer.from(bundleLines(log).join('')), trust: log.trust }
  },
  'tier.source_conflict': () =>
    built((log, run) =>
      log.add('gap', { kind: 'no_transcript', count: 1 }, { run, change: (record) => (record.tier = 'T1') }),
    ),
  'log.seq_missing': () => forged((lines) => lines.splice(lines.indexOf(found(lines, 'rec', 3)), 2)),
  'log.seq_duplicate': () => forged((lines) => lines.splice(-1, 0, found(lines, 'rec', 2))),
  'log.id_mismatch': () => forged((lines) => (found(lines, 'bundle').log = 'cc'.repeat(16))),
  'log.root_mismatch': () => forged((lines) => (found(lines, 'node').h = Buffer.alloc(32, 5).toString('base64'))),
  'genesis.mismatch': () => ({
    bundle: Buffer.from(
      bundleLines(sampleLog({ log: KEYS.log, record: keyOfSeed(4) }, '0f'.repeat(16), () => Buffer.alloc(32, 1))).join(
        '',
      ),
    ),
  }),
  'run.chain': () =>
    forged((lines) => {
      const line = found(lines, 'rec', 2)
      const seq = Number(line.seq)
      const h = goldenLog().leaves[seq]?.toString('base64') ?? ''
      lines[lines.indexOf(line)] = { kind: 'node', l: 0, i: seq, h }
    }),
  'run.after_close': () =>
    built((log, run) => {
      log.closeRun(run)
      log.add('gap', { kind: 'no_transcript', count: 1 }, { run })
    }, false),
  'run.open': () => built((log, run) => void log.decide(run, 'c1', 'allow', '{}'), false),
  'time.backwards': () =>
    built((log, run) =>
      log.add(
        'gap',
        { kind: 'late_activity', count: 1 },
        { run, change: (record) => (record.time = '2026-11-30T11:00:00.000Z') },
      ),
    ),
  'checkpoint.signature': () =>
    forged((lines) => (found(lines, 'note').note = String(found(lines, 'note').note).replace('\n19\n', '\n18\n'))),
  'checkpoint.origin': () =>
    forged((lines) => (found(lines, 'note').note = signNote('log.example/other', 19, Buffer.alloc(32), KEYS.log))),
  'checkpoint.root': () => forged((lines) => (found(lines, 'note').note = note(19, Buffer.alloc(32, 9)))),
  'checkpoint.beyond_log': () => forged((lines) => (found(lines, 'note').note = note(25, Buffer.alloc(32, 9)))),
  'checkpoint.none': () => forged((lines) => lines.splice(1, 1)),
  'anchor.rollback': () => ({ ...forged(() => {}), seen: note(25, Buffer.alloc(32, 9)) }),
  'anchor.fork': () => ({ ...forged(() => {}), seen: note(19, rootOf(otherHistory().leaves)) }),
  'approval.unbound': () => built((log, run) => log.ask(run, 'x', log.decide(run, 'x', 'allow', '{}').leaf)),
  'approval.replayed': () =>
    built((log, run) => {
      const call = asked(log, run, 'x')
      log.answer(run, 'x')
      log.consume(run, 'x', call.leaf)
      log.consume(run, 'x', call.leaf)
    }),
  'approval.not_approved': () =>
    built((log, run) => {
      const call = asked(log, run, 'x')
      log.answer(run, 'x', 'reject')
      log.consume(run, 'x', call.leaf)
    }),
  'approval.expired': () =>
    built((log, run) => {
      const call = asked(log, run, 'x', '2026-11-30T11:00:00.000Z')
      log.answer(run, 'x')
      log.consume(run, 'x', call.leaf)
    }),
  'approval.wrong_run': () =>
    built((log, run) => {
      const part = log.openRun(run.id, 1)
      const call = asked(log, run, 'x')
      log.answer(run, 'x')
      log.consume(part, 'x', call.leaf)
      log.closeRun(part)
    }),
  'approval.wrong_call': () =>
    built((log, run) => {
      const call = asked(log, run, 'x')
      log.answer(run, 'x')
      log.consume(run, 'x', call.leaf, 'y')
    }),
  'approval.args_mismatch': () =>
    built((log, run) =>
      log.ask(run, 'x', log.decide(run, 'x', 'ask', '{}').leaf, {
        change: (record) => (record.commit = [{ n: 'args', c: Buffer.alloc(32, 1).toString('base64') }]),
      }),
    ),
  'approval.unauthenticated': () => forged(() => {}),
  'approval.approver_signature': () => ({
    ...forged(() => {}),
    trust: `${goldenLog().trust}approver alice ${keyOfSeed(5).spki.toString('base64')}\n`,
  }),
  'approval.approver_not_pinned': () =>
    built((log, run) => {
      const alice = fileApprover('alice', keyOfSeed(5))
      const token = softToken('bob', keyOfSeed(6))
      log.addApprover(alice)
      log.addApprover(token, alice)
      for (const [id, by] of [
        ['x', alice],
        ['y', token],
      ] as const) {
        const call = asked(log, run, id)
        log.answer(run, id, 'approve', log.signed(by, run, id))
        log.consume(run, id, call.leaf)
      }
      asked(log, run, 'z')
      log.answer(run, 'z', 'reject', log.signed(token, run, 'z', 'reject'))
      log.removeApprover(token.public.kid, alice)
    }),
  'approval.break_glass': () =>
    built((log, run) => {
      log.addApprover(fileApprover('alice', keyOfSeed(5)))
      const call = asked(log, run, 'x')
      log.answer(run, 'x', 'approve', { authentication: 'break_glass' })
      log.consume(run, 'x', call.leaf)
    }),
  'policy.ran_against_deny': () =>
    built((log, run) => log.complete(run, 'x', log.decide(run, 'x', 'deny', '{}'), '{}')),
  'policy.ran_without_approval': () =>
    built((log, run) => log.complete(run, 'x', log.decide(run, 'x', 'ask', '{}'), '{}')),
  'policy.other_arguments': () =>
    built((log, run) => log.complete(run, 'x', log.decide(run, 'x', 'allow', '{"command":"ls"}'), '{"command":"rm"}')),
  'policy.ungated': () => built((log, run) => log.complete(run, 'x', null, '{}')),
  'content.mismatch': () =>
    forged((lines) => (found(lines, 'open').content = Buffer.from('{"command":"lz"}').toString('base64'))),
  'limit.record': () =>
    forged((lines) => rewrite(found(lines, 'rec', 2), () => JSON.stringify({ a: 'x'.repeat(60_000) }), KEYS.record)),
  'bundle.line': () => forged((lines) => lines.splice(2, 0, { kind: 'other' })),
  'bundle.limit': () => {
    const lines = bundleLines(goldenLog(), OPEN).slice(0, -1)
    const long = `${JSON.stringify({ kind: 'note', note: 'x'.repeat(1024 * 1024) })}\n`
    return { bundle: gzipSync(ended([...lines, long]), { level: 9 }) }
  },
  'bundle.position': () => forged((lines) => (found(lines, 'node').i = 40)),
  'bundle.end': () => ({ bundle: Buffer.from(bundleLines(goldenLog(), OPEN).slice(0, -1).join('')) }),
}

/** What only shows where all of a log lies on a disk. Each writes a home and damages it. */
export const HOMES: { [C in Code]?: (root: string) => void } = {
  'log.frame': (root) => {
    goldenLog().write(root, 8)
    truncateSync(`${root}/log/00000001.seg`, 500)
  },
  'run.ordinal_gap': (root) => {
    const log = emptyLog()
    log.skipOrdinals(2)
    log.closeRun(log.openRun(RUN_A))
    log.checkpoint()
    log.write(root)
  },
  'approval.unknown': (root) => void logOf((log, run) => log.answer(run, 'nothing')).write(root),
  'content.missing': (root) => {
    const log = goldenLog()
    log.vault.splice(1, 1)
    log.write(root)
  },
  'content.expired_early': (root) => {
    const log = goldenLog()
    log.add('content.expired', { scope: 'record', reason: 'purge', seq: 5 }, { source: { kind: 'person' } })
    log.erase(({ seq }) => seq === 5)
    log.checkpoint()
    log.write(root)
  },
  'content.unreferenced': (root) => {
    const log = goldenLog()
    const [first] = log.vault
    if (first !== undefined) log.vault.splice(1, 0, first)
    log.write(root)
  },
  'tile.mismatch': (root) => {
    writeHome(root)
    writeFileSync(`${root}/log/tile/0/000.p/19`, Buffer.alloc(19 * 32))
  },
}

/** The golden log as a home, with its tiles. */
export function writeHome(root: string): void {
  const log = goldenLog()
  log.write(root)
  const tiles = new Tiles(`${root}/log`)
  for (const [i, { record }] of log.records.entries()) tiles.add(record, log.leaves[i] ?? Buffer.alloc(0))
  tiles.publish(log.records.length)
}
