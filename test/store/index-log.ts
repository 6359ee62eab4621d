// Makes a log and vault on disk as the collector would, but for the signatures: those are random bytes here, nothing checks them.
import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { crc32 } from 'node:zlib'
import { segmentPath } from '../../collector/store/segments.ts'
import { encodeFrame, encodeLogPayload, encodeVaultPayload } from '../../conventions/frame.ts'
import { canonicalBytes } from '../../conventions/jcs.ts'
import type { Position } from '../../conventions/log.ts'
import type { Body, CallRef, RecordType, Source } from '../../conventions/record.ts'
import type { Json } from '../../conventions/strict-json.ts'

export interface Entry<T extends RecordType = RecordType> {
  type: T
  body: Body<T>
  run?: { id: string; part: number }
  source?: Source
  call?: CallRef
  contents?: { name: string; bytes: Uint8Array; dropped?: boolean }[]
}

const START = Date.UTC(2026, 10, 30, 17, 0, 0)
const KID = randomBytes(32)
export const RUN = 'a'.repeat(32)

export class LogFixture {
  readonly dir = mkdtempSync(`${tmpdir()}/spanseal-index-`)
  readonly logDir = `${this.dir}/log`
  readonly vaultDir = `${this.dir}/vault`
  readonly path = `${this.dir}/index.duckdb`
  seq = 0
  segment = 0
  private readonly logId = randomBytes(16).toString('hex')
  private readonly runSeqs = new Map<string, number>()

  constructor() {
    mkdirSync(this.logDir)
    mkdirSync(this.vaultDir)
  }

  get options() {
    return { path: this.path, logDir: this.logDir, vaultDir: this.vaultDir }
  }

  /** Appends content, then the record; returns where the next record goes. */
  add<T extends RecordType>(entry: Entry<T>): Position {
    return this.addAll([entry])
  }

  /** Appends many at once, as a group commit does. */
  addAll(entries: Entry[]): Position {
    const log: Uint8Array[] = []
    const vault: Uint8Array[] = []
    for (const entry of entries) {
      const record = this.record(entry)
      const signed = { kid: KID, signature: randomBytes(64), record }
      log.push(encodeFrame(encodeLogPayload(signed), crc32))
      for (const { name, bytes, dropped } of entry.contents ?? []) {
        const salt = randomBytes(32).toString('hex')
        const head = { seq: this.seq, name, salt, ...(dropped === true ? { dropped: true as const } : {}) }
        vault.push(encodeFrame(encodeVaultPayload({ head, content: bytes }), crc32))
      }
      this.seq++
    }
    appendFileSync(segmentPath(this.vaultDir, this.segment), Buffer.concat(vault))
    appendFileSync(segmentPath(this.logDir, this.segment), Buffer.concat(log))
    return this.end
  }

  get end(): Position {
    return { segment: this.segment, offset: statSync(segmentPath(this.logDir, this.segment)).size }
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }

  private record(entry: Entry): Uint8Array {
    const source = entry.source ?? { kind: 'hook', adapter: 'claude-code', event: 'PreToolUse' }
    const record: { [key: string]: Json } = {
      v: 1,
      type: entry.type,
      log: { id: this.logId, seq: this.seq, root: createHash('sha256').update(String(this.seq)).digest('base64') },
      time: new Date(START + this.seq * 1000).toISOString(),
      source: { ...source } as { [key: string]: Json },
      tier: source.kind === 'otlp' ? 'T3' : 'T1',
      body: JSON.parse(JSON.stringify(entry.body)),
    }
    if (entry.run !== undefined) {
      const key = `${entry.run.id}/${entry.run.part}`
      const seq = this.runSeqs.get(key) ?? 0
      this.runSeqs.set(key, seq + 1)
      record.run = { ...entry.run, seq, prev: null }
    }
    if (entry.call !== undefined) record.call = { ...entry.call }
    if (entry.contents !== undefined) {
      record.commit = entry.contents.map(({ name }) => ({ n: name, c: randomBytes(32).toString('base64') }))
    }
    return canonicalBytes(record)
  }
}

const HASH = `${'A'.repeat(43)}=`
const run = { id: RUN, part: 0 }

export function decided(id: string, decision: 'deny' | 'ask' | 'flag' | 'allow', args = 'ls'): Entry<'tool.decided'> {
  return {
    type: 'tool.decided',
    run,
    call: { id, attempt: 1 },
    body: {
      turn: 't1',
      tool: 'Bash',
      decision,
      rules: decision === 'allow' ? [] : ['shell.rm'],
      rules_total: decision === 'allow' ? 0 : 1,
      policy_hash: 'b'.repeat(64),
      enforced: true,
      args_source: 'raw',
    },
    contents: [{ name: 'args', bytes: Buffer.from(args) }],
  }
}

export function completed(id: string, status: 'ok' | 'error' = 'ok', result = 'done'): Entry<'tool.completed'> {
  return {
    type: 'tool.completed',
    run,
    call: { id, attempt: 1 },
    body: { turn: 't1', tool: 'Bash', status, exit_code: status === 'ok' ? 0 : 1, duration_ms: 12, decision: HASH },
    contents: [{ name: 'result', bytes: Buffer.from(result) }],
  }
}

/** A small run with one of everything that the views speak of. */
export function smallRun(): Entry[] {
  const source: Source = { kind: 'collector' }
  const message = (
    kind: 'reasoning' | 'text' | 'tool_use',
    usage: NonNullable<Body<'model.message'>['usage']>,
    offset: number,
  ): Entry<'model.message'> => ({
    type: 'model.message',
    run,
    source: { kind: 'transcript', adapter: 'claude-code' },
    body: { turn: 't1', kind, model: 'm1', message: 'msg_1', offset, usage },
    contents: [{ name: 'content', bytes: Buffer.from(`thoughts ${offset}`) }],
  })
  const held = { approval: 'ap1', nonce: 'c'.repeat(32) }
  const call = { id: 'c3', attempt: 1 }
  return [
    { type: 'collector.started', source, body: { version: '0.1.0', after: 'new' } },
    {
      type: 'run.opened',
      run,
      body: {
        session: 's1',
        agent: 'claude-code',
        ordinal: 0,
        mode: 'enforce',
        fail_mode: 'closed',
        reason: 'startup',
      },
    },
    {
      type: 'prompt.submitted',
      run,
      body: { turn: 't1', machine: false, bytes: 11 },
      contents: [{ name: 'prompt', bytes: Buffer.from('clean it up') }],
    },
    message('reasoning', { input: 100, output: 3, cache_read: 7 }, 10),
    // What the last line of the message knew more.
    message('tool_use', { input: 0, output: 17 }, 20),
    decided('c1', 'allow'),
    completed('c1'),
    decided('c2', 'deny', 'rm -rf /'),
    decided('c3', 'ask', 'git push'),
    {
      type: 'approval.requested',
      run,
      call,
      body: {
        turn: 't1',
        tool: 'Bash',
        decision: HASH,
        policy_hash: 'b'.repeat(64),
        expires: '2026-11-30T18:00:00.000Z',
        ...held,
      },
    },
    {
      type: 'approval.answered',
      run,
      call,
      source: { kind: 'person' },
      body: { turn: 't1', answer: 'approve', authentication: 'unauthenticated', waited_ms: 900, ...held },
    },
    { type: 'approval.consumed', run, call, body: { turn: 't1', decision: HASH, ...held } },
    completed('c3', 'error'),
    { type: 'gap', run, source, body: { turn: 't1', kind: 'decided_not_completed', count: 2, tool: 'Bash' } },
    {
      type: 'violation',
      run,
      call: { id: 'c2', attempt: 1 },
      body: { turn: 't1', kind: 'executed_against_policy', tool: 'Bash', decision: HASH },
    },
    { type: 'run.closed', run, source, body: { records: 14, reason: 'session_end' } },
  ]
}
