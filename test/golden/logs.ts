// The logs the golden files are made of: fixed keys, ids, times and salts, so that the bytes are the same each time.
import type { Body, RecordType } from '../../conventions/record.ts'
import { COLLECTOR, keyOfSeed, RUN_A, sampleLog, TestLog } from '../verify/support.ts'

export const KEYS = { log: keyOfSeed(1), record: keyOfSeed(2) }
const LOG_ID = '0f'.repeat(16)

/** Salts 1, 2, 3 ... as 32 bytes each: only test data may be that plain. */
function countedSalts(): () => Buffer {
  let n = 0
  return () => Buffer.alloc(32, ++n)
}

/** An empty log whose first record is the golden one. */
export const emptyLog = () => new TestLog(KEYS, LOG_ID, [], countedSalts())

/** The golden log: two runs, every kind of decision, an approval, an import. */
export const goldenLog = () => sampleLog(KEYS, LOG_ID, countedSalts())

type Run = { id: string; part: number }

/** The golden log's beginning, then what `add` says of one run, then everything closed and a checkpoint. */
export function logOf(add: (log: TestLog, run: Run) => void, closed = true): TestLog {
  const log = emptyLog()
  const run = log.openRun(RUN_A)
  add(log, run)
  if (closed) log.closeRun(run)
  log.checkpoint()
  return log
}

/** A call that was asked about. */
export function asked(log: TestLog, run: Run, id: string, expires?: string): { leaf: string } {
  const decided = log.decide(run, id, 'ask', '{}')
  log.ask(run, id, decided.leaf, expires === undefined ? {} : { expires })
  return decided
}

const kidOf = (seed: number) => `sha256:${keyOfSeed(seed).kid.toString('hex')}`

/** Bodies of the types that the golden log does not have. */
const MORE: { [T in RecordType]?: Body<T> } = {
  'constraints.stated': { turn: 't1', kinds: [], in_force: 0, refused: 0, lifts: 1 },
  'key.added': { kid: kidOf(3), spki: keyOfSeed(3).spki.toString('base64'), tiers: ['T1', 'T2', 'T3'] },
  'key.retired': { kid: kidOf(3), last_seq: 20 },
  'key.revoked': { kid: kidOf(3), from_seq: 20, reason: 'lost' },
  'retention.set': { content_days: 30 },
  'content.expired': { scope: 'before', reason: 'retention', before_seq: 4 },
  'config.loaded': { config_hash: 'c'.repeat(64) },
  'session.imported': { session: 'e'.repeat(16), part: 0, name: 'chat' },
  'session.closed': { session: 'e'.repeat(16), part: 0, requests: 1, reason: 'idle' },
  'logs.imported': { count: 1, rejected: 0, encoding: 'json', bytes: 100, spoofed: 0, sessions: 0 },
  'metrics.imported': { count: 1, rejected: 0, encoding: 'protobuf', bytes: 100, spoofed: 0 },
  'turn.closed': {
    turn: 't1',
    part: 0,
    reason: 'stop',
    calls: 1,
    denied: 0,
    opened: '2026-11-30T12:00:00.020Z',
    finished: true,
  },
  'model.message': {
    turn: 't1',
    kind: 'text',
    model: 'claude-opus-4',
    message: 'msg_1',
    offset: 1200,
    usage: { input: 10, output: 20, cache_read: 5 },
  },
  'transcript.mark': { turn: 't1', state: 'absent', offset: 0 },
  'approval.refused': { turn: 't1', approval: 'apr-1', kind: 'args_mismatch' },
  'approver.added': {
    kid: kidOf(5),
    name: 'alice',
    kind: 'sk-ssh-ed25519',
    spki: keyOfSeed(5).spki.toString('base64'),
    application: 'ssh:',
    after: Buffer.alloc(32, 7).toString('base64'),
    authentication: 'signed',
    approver: kidOf(6),
    signature: Buffer.alloc(64, 7).toString('base64'),
    flags: 1,
    counter: 9,
  },
  'approver.removed': {
    kid: kidOf(5),
    after: Buffer.alloc(32, 7).toString('base64'),
    authentication: 'unauthenticated',
  },
  'approval.expired': { turn: 't1', approval: 'apr-1', reason: 'timeout' },
  'subagent.started': { turn: 't1', sub: 'a1', sub_type: 'Explore', background: false },
  'subagent.ended': {
    turn: 't1',
    sub: 'a1',
    sub_type: 'Explore',
    opened: '2026-11-30T12:00:00.030Z',
    finished: true,
  },
  compaction: { turn: 't1', phase: 'before', trigger: 'auto' },
  'permission.requested': { turn: 't1', tool: 'Bash' },
  'settings.changed': { scope: 'local_settings', decision: 'deny', problem: 'hooks_disabled' },
  violation: {
    turn: 't1',
    kind: 'executed_against_policy',
    tool: 'Bash',
    decision: Buffer.alloc(32, 7).toString('base64'),
  },
  'clock.stepped': { ms: -3600000 },
}

/** The golden log with one record of each type that it lacks, and one of a type that no version knows yet. */
export function everyType(): TestLog {
  const log = goldenLog()
  for (const [type, body] of Object.entries(MORE)) {
    const source = /\.imported$/.test(type) ? ({ kind: 'otlp' } as const) : COLLECTOR
    log.add(type as RecordType, body as Body<RecordType>, { source })
  }
  log.add('clock.stepped', { ms: 1 }, { source: COLLECTOR, change: (record) => (record.type = 'future.type') })
  return log
}
