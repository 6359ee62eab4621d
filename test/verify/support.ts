// Builds real homes on disk (real keys, frames, signatures, commitments) from the written contract alone, so that the verifier is
// tested against something that is not the collector's writer. Tests then damage them.
import {
  createHash,
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { TIER_OF_SOURCE, type Tier } from '../../conventions/decision.ts'
import {
  encodeErasedHead,
  encodeFrame,
  encodeLogPayload,
  encodeVaultPayload,
  type SignedRecord,
  segmentName,
  type VaultEntry,
} from '../../conventions/frame.ts'
import { homePaths } from '../../conventions/home.ts'
import { canonicalBytes } from '../../conventions/jcs.ts'
import type { Body, RecordType, Source } from '../../conventions/record.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { answerBytes, changeBytes, type TestApprover } from '../support/approver.ts'

const sha256 = (...parts: (Uint8Array | string)[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export const leafOf = (record: Uint8Array) => sha256(Uint8Array.of(0), record)

/** RFC 6962 root, bottom up: written another way than the verifier's. */
export function rootOf(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256('')
  let level = [...leaves]
  while (level.length > 1) {
    const above: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) {
      const [left, right] = [level[i], level[i + 1]]
      if (left !== undefined) above.push(right === undefined ? left : sha256(Uint8Array.of(1), left, right))
    }
    level = above
  }
  return Buffer.from(level[0] ?? sha256(''))
}

export interface Key {
  private: KeyObject
  raw: Buffer
  spki: Buffer
  kid: Buffer
}

export function newKey(): Key {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return keyOf(privateKey, publicKey.export({ format: 'der', type: 'spki' }))
}

/** A key of a fixed seed, for cases that must be the same each time. */
export function keyOfSeed(seed: number): Key {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, seed)])
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const jwk = privateKey.export({ format: 'jwk' })
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(String(jwk.x), 'base64url')])
  return keyOf(privateKey, spki)
}

function keyOf(privateKey: KeyObject, spki: Buffer): Key {
  return { private: privateKey, spki, raw: spki.subarray(12), kid: sha256(spki) }
}

const noteKeyId = (name: string, key: Key) => sha256(`${name}\n`, Uint8Array.of(1), key.raw).subarray(0, 4)

export function vkeyOf(name: string, key: Key): string {
  return `${name}+${noteKeyId(name, key).toString('hex')}+${Buffer.concat([Uint8Array.of(1), key.raw]).toString('base64')}`
}

export function signNote(origin: string, size: number, root: Uint8Array, key: Key): string {
  const body = `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`
  const signature = Buffer.concat([noteKeyId(origin, key), sign(null, Buffer.from(body), key.private)])
  return `${body}\n— ${origin} ${signature.toString('base64')}\n`
}

export function signBytes(record: Uint8Array, key: Key): Buffer {
  const type = 'application/vnd.spanseal.record.v1+json'
  return sign(
    null,
    Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${record.length} `), record]),
    key.private,
  )
}

export interface AddOptions {
  run?: { id: string; part: number }
  source?: Source
  call?: { id: string; attempt: number }
  /** Content by name; null keeps the salt alone. */
  contents?: { name: string; text: string; salt?: Buffer; keep?: boolean }[]
  key?: Key
  /** Changes the record before it is signed: what someone who holds the keys could do. */
  change?: (record: Record<string, Json>) => void
}

const HOOK: Source = { kind: 'hook', adapter: 'claude-code', event: 'PreToolUse' }
export const COLLECTOR: Source = { kind: 'collector' }

export interface LogKeys {
  log: Key
  record: Key
}

/** A log in memory, as lists that a test may cut, swap and edit, and then write to disk. */
export class TestLog {
  readonly keys: LogKeys
  readonly origin: string
  readonly id: string
  records: SignedRecord[] = []
  vault: VaultEntry[] = []
  notes: string[] = []
  /** The key that signs where none is named. */
  signer: Key
  private time = Date.parse('2026-11-30T12:00:00.000Z')
  private ordinals = 0
  private readonly newSalt: () => Buffer
  private readonly runs = new Map<string, { seq: number; prev: string | null }>()

  constructor(
    keys: LogKeys = { log: newKey(), record: newKey() },
    id = randomBytes(16).toString('hex'),
    others: { key: Key; tiers: string[] }[] = [],
    newSalt: () => Buffer = () => randomBytes(32),
  ) {
    this.newSalt = newSalt
    this.keys = keys
    this.signer = keys.record
    this.id = id
    this.origin = `spanseal.test/${this.id.slice(0, 8)}`
    this.add('log.opened', {
      format: 1,
      origin: this.origin,
      log_key: vkeyOf(this.origin, keys.log),
      keys: [{ key: keys.record, tiers: ['T1', 'T2', 'T3'] }, ...others].map(({ key, tiers }) => ({
        kid: `sha256:${key.kid.toString('hex')}`,
        spki: key.spki.toString('base64'),
        tiers: tiers as Tier[],
      })),
    })
  }

  get leaves(): Buffer[] {
    return this.records.map(({ record }) => leafOf(record))
  }

  get genesis(): string {
    return this.leaves[0]?.toString('hex') ?? ''
  }

  /** A trust file that pins this log. */
  get trust(): string {
    return `# test\nlog ${vkeyOf(this.origin, this.keys.log)}\ngenesis ${this.genesis}\nquorum none\n`
  }

  private lastApproverLeaf: string | undefined

  /** What the next change of approvers must name. */
  get approverLeaf(): string {
    return this.lastApproverLeaf ?? this.leaves[0]?.toString('base64') ?? ''
  }
  set approverLeaf(leaf: string) {
    this.lastApproverLeaf = leaf
  }

  /** Appends a record; returns its number, its leaf and the salts of its content. */
  add<T extends RecordType>(type: T, body: Body<T>, options: AddOptions = {}) {
    const { run, source = COLLECTOR, call, contents = [], key = this.signer } = options
    const seq = this.records.length
    this.time += 10
    const record: Record<string, Json> = {
      v: 1,
      type,
      log: { id: this.id, seq, root: rootOf(this.leaves).toString('base64') },
      time: new Date(this.time).toISOString(),
      source: { ...source } as Json,
      body: body as Json,
    }
    const tier = TIER_OF_SOURCE[source.kind]
    if (tier !== undefined) record.tier = tier
    if (call !== undefined) record.call = { ...call }
    const runKey = `${run?.id}/${run?.part}`
    if (run !== undefined) record.run = { ...run, ...(this.runs.get(runKey) ?? { seq: 0, prev: null }) }
    const salts = new Map<string, Buffer>()
    if (contents.length > 0) {
      record.commit = contents.map(({ name, text, salt = this.newSalt(), keep = true }) => {
        salts.set(name, salt)
        const head = { seq, name, salt: salt.toString('hex') }
        this.vault.push(
          keep
            ? { head, content: Buffer.from(text) }
            : { head: { ...head, dropped: true }, content: new Uint8Array(0) },
        )
        return {
          n: name,
          c: createHmac('sha256', salt).update(`spanseal/commit/v1\0${name}\0${text}`).digest('base64'),
        }
      })
    }
    options.change?.(record)
    const bytes = canonicalBytes(record)
    this.records.push({ kid: key.kid, signature: signBytes(bytes, key), record: bytes })
    const leaf = leafOf(bytes).toString('base64')
    if (run !== undefined) this.runs.set(runKey, { seq: (this.runs.get(runKey)?.seq ?? 0) + 1, prev: leaf })
    return { seq, leaf, salts }
  }

  openRun(id: string, part = 0, options: { mode?: 'enforce' | 'observe' } = {}): { id: string; part: number } {
    const run = { id, part }
    this.add(
      'run.opened',
      {
        session: `s-${id.slice(0, 4)}`,
        agent: 'claude-code',
        ordinal: this.ordinals++,
        mode: options.mode ?? 'enforce',
        fail_mode: 'closed',
        reason: 'startup',
      },
      { run, source: HOOK },
    )
    return run
  }

  /** Makes the next run say that others came before it. */
  skipOrdinals(count: number): void {
    this.ordinals += count
  }

  closeRun(run: { id: string; part: number }): void {
    const records = (this.runs.get(`${run.id}/${run.part}`)?.seq ?? 0) + 1
    this.add('run.closed', { records, reason: 'session_end' }, { run })
  }

  decide(
    run: { id: string; part: number },
    id: string,
    decision: Body<'tool.decided'>['decision'],
    args: string,
    enforced = true,
  ) {
    return this.add(
      'tool.decided',
      {
        turn: 't1',
        tool: 'Bash',
        decision,
        rules: [],
        rules_total: 0,
        policy_hash: 'a'.repeat(64),
        enforced,
        args_source: 'raw',
      },
      { run, source: HOOK, call: { id, attempt: 1 }, contents: [{ name: 'args', text: args }] },
    )
  }

  complete(
    run: { id: string; part: number },
    id: string,
    decided: { leaf: string; salts: Map<string, Buffer> } | null,
    args: string,
    status: Body<'tool.completed'>['status'] = 'ok',
    tool = 'Bash',
  ) {
    const salt = decided?.salts.get('args')
    return this.add(
      'tool.completed',
      { turn: 't1', tool, status, decision: decided?.leaf ?? null },
      {
        run,
        source: HOOK,
        call: { id, attempt: 1 },
        contents: [
          { name: 'args', text: args, keep: false, ...(salt === undefined ? {} : { salt }) },
          { name: 'result', text: `result of ${id}` },
        ],
      },
    )
  }

  ask(
    run: { id: string; part: number },
    id: string,
    decision: string,
    options: { expires?: string; nonce?: string; change?: AddOptions['change'] } = {},
  ): string {
    const approval = `a-${id}`
    this.add(
      'approval.requested',
      {
        approval,
        tool: 'Bash',
        decision,
        policy_hash: 'a'.repeat(64),
        nonce: options.nonce ?? nonceOf(id),
        expires: options.expires ?? '2026-11-30T13:00:00.000Z',
      },
      { run, call: { id, attempt: 1 }, ...(options.change === undefined ? {} : { change: options.change }) },
    )
    return approval
  }

  answer(
    run: { id: string; part: number },
    id: string,
    answer: 'approve' | 'reject' = 'approve',
    proof: Pick<Body<'approval.answered'>, 'authentication'> = { authentication: 'unauthenticated' },
  ): void {
    const broken = proof.authentication === 'break_glass'
    this.add(
      'approval.answered',
      { approval: `a-${id}`, answer, ...proof, nonce: nonceOf(id), waited_ms: 5 },
      {
        run,
        source: { kind: 'person' },
        call: { id, attempt: 1 },
        ...(broken ? { contents: [{ name: 'reason', text: 'nobody is there' }] } : {}),
      },
    )
  }

  /** What an approver gives to answer a call that `ask` asked about; `change` edits what is signed. */
  signed(
    by: TestApprover,
    run: { id: string },
    id: string,
    answer: 'approve' | 'reject' = 'approve',
    change: (binding: Record<string, Json>) => void = () => {},
  ): Pick<Body<'approval.answered'>, 'authentication'> {
    const parsed = this.records.map(({ record }) => JSON.parse(Buffer.from(record).toString()))
    const asked = parsed.findLast(({ type, body }) => type === 'approval.requested' && body.approval === `a-${id}`)
    const at = this.leaves.findIndex((leaf) => leaf.toString('base64') === asked.body.decision)
    const binding: Record<string, Json> = {
      run: run.id,
      call: id,
      attempt: 1,
      tool: 'Bash',
      args: parsed[at].commit[0].c,
      decision: asked.body.decision,
      policy_hash: asked.body.policy_hash,
      nonce: asked.body.nonce,
      expires: asked.body.expires,
    }
    change(binding)
    return { authentication: 'signed', ...by.sign(answerBytes(answer, binding)) }
  }

  /** Adds an approver; `by` signs it. */
  addApprover(added: TestApprover, by?: TestApprover, after = this.approverLeaf): void {
    const change = { action: 'add', after, ...added.public }
    const proof =
      by === undefined
        ? { authentication: 'unauthenticated' as const }
        : { authentication: 'signed' as const, ...by.sign(changeBytes(change)) }
    const { leaf } = this.add('approver.added', { ...added.public, after, ...proof }, { source: { kind: 'person' } })
    this.approverLeaf = leaf
  }

  removeApprover(kid: string, by: TestApprover): void {
    const change = { action: 'remove', after: this.approverLeaf, kid }
    const { leaf } = this.add(
      'approver.removed',
      { kid, after: change.after, authentication: 'signed', ...by.sign(changeBytes(change)) },
      { source: { kind: 'person' } },
    )
    this.approverLeaf = leaf
  }

  consume(run: { id: string; part: number }, id: string, decision: string, call = id): void {
    this.add(
      'approval.consumed',
      { approval: `a-${id}`, decision, nonce: nonceOf(id) },
      { run, call: { id: call, attempt: 1 } },
    )
  }

  /** Lets `key` sign, by the word of the key that signs now; it retires that one, and signs everything from here on. */
  rotate(key: Key): void {
    const added = this.add('key.added', {
      kid: `sha256:${key.kid.toString('hex')}`,
      spki: key.spki.toString('base64'),
      tiers: ['T1', 'T2', 'T3'],
    })
    const kid = `sha256:${this.signer.kid.toString('hex')}`
    this.signer = key
    this.add('key.retired', { kid, last_seq: added.seq })
  }

  /** Takes content out of the vault in the name of the last record. */
  erase(covers: (head: VaultEntry['head']) => boolean, erased = this.records.length - 1): void {
    this.vault = this.vault.map((entry) =>
      covers(entry.head)
        ? { head: { seq: entry.head.seq, name: entry.head.name, salt: '', erased }, content: entry.content }
        : entry,
    )
  }

  /** Signs a checkpoint over all records so far. */
  checkpoint(): string {
    const note = signNote(this.origin, this.records.length, rootOf(this.leaves), this.keys.log)
    this.notes.push(note)
    return note
  }

  /** Writes the home, `perSegment` frames in each segment file. */
  write(root: string, perSegment = 1_000): string {
    const home = homePaths(root)
    for (const dir of [home.log, home.vault]) {
      rmSync(dir, { recursive: true, force: true })
      mkdirSync(dir, { recursive: true })
    }
    writeSegments(home.log, this.records.map(encodeLogPayload), perSegment)
    writeSegments(home.vault, this.vault.map(vaultPayload), perSegment)
    if (this.notes.length > 0) {
      writeFileSync(home.checkpoints, this.notes.map((note) => `${JSON.stringify(note)}\n`).join(''))
      writeFileSync(home.checkpoint, this.notes.at(-1) ?? '')
    }
    return root
  }
}

const nonceOf = (id: string) => createHash('md5').update(id).digest('hex')

/** An erased one has zeros up to the length that it had. */
function vaultPayload(entry: VaultEntry): Uint8Array {
  const { seq, name, erased } = entry.head
  if (erased === undefined) return encodeVaultPayload(entry)
  const whole = encodeVaultPayload({ head: { seq, name, salt: '0'.repeat(64) }, content: entry.content })
  whole.fill(0)
  whole.set(encodeErasedHead(seq, name, erased))
  return whole
}

function writeSegments(dir: string, payloads: Uint8Array[], perSegment: number): void {
  for (let i = 0; i < Math.max(1, Math.ceil(payloads.length / perSegment)); i++) {
    const frames = payloads.slice(i * perSegment, (i + 1) * perSegment).map((payload) => encodeFrame(payload, crc32))
    writeFileSync(join(dir, segmentName(i)), Buffer.concat(frames))
  }
}

export const RUN_A = 'aa'.repeat(16)
export const RUN_B = 'bb'.repeat(16)

/** A log with two runs, every kind of decision, an approval, an import and three checkpoints; nothing wrong with it. */
export function sampleLog(keys?: LogKeys, id?: string, newSalt?: () => Buffer): TestLog {
  const log = new TestLog(keys, id, [], newSalt)
  log.add('collector.started', { version: '0.1.0', after: 'new' })
  log.add('policy.loaded', { policy_hash: 'a'.repeat(64), origin: 'builtin', rules: 3 })
  const a = log.openRun(RUN_A)
  log.add(
    'prompt.submitted',
    { turn: 't1', machine: false, bytes: 11 },
    { run: a, source: HOOK, contents: [{ name: 'prompt', text: 'list files' }] },
  )
  const listed = log.decide(a, 'c1', 'allow', '{"command":"ls"}')
  log.complete(a, 'c1', listed, '{"command":"ls"}')
  log.checkpoint()
  const b = log.openRun(RUN_B)
  log.decide(a, 'c2', 'deny', '{"command":"rm -rf /"}')
  const asked = log.decide(a, 'c3', 'ask', '{"command":"git push"}')
  log.ask(a, 'c3', asked.leaf)
  log.answer(a, 'c3')
  log.consume(a, 'c3', asked.leaf)
  log.complete(a, 'c3', asked, '{"command":"git push"}')
  log.add(
    'spans.imported',
    { count: 3, rejected: 0, encoding: 'json', bytes: 900, spoofed: 0 },
    { source: { kind: 'otlp' }, contents: [{ name: 'body', text: '{}' }] },
  )
  log.checkpoint()
  log.add('gap', { kind: 'no_transcript', count: 1 }, { run: b })
  log.closeRun(b)
  log.closeRun(a)
  log.add('collector.stopped', { reason: 'command' })
  log.checkpoint()
  return log
}

/** A log that declares a second key with the given tiers, which signs its last record. */
export function withSecondKey(log: TestLog, other: Key, tiers = ['T1', 'T2', 'T3']): TestLog {
  const fresh = new TestLog(log.keys, log.id, [{ key: other, tiers }])
  fresh.add('collector.started', { version: '0.1.0', after: 'new' })
  const run = fresh.openRun(RUN_A)
  fresh.add('gap', { kind: 'no_transcript', count: 1 }, { run, source: { kind: 'hook' }, key: other })
  fresh.closeRun(run)
  fresh.checkpoint()
  return fresh
}

const made: string[] = []

/** A fresh folder; removed by `removeFolders`. */
export function freshFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'spanseal-verify-'))
  made.push(dir)
  return dir
}

export function removeFolders(): void {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true })
}
