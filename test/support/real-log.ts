// The log of a real home in memory, to be changed the way somebody could who has the files, or the keys too, and written back.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readFrames } from '../../collector/store/segments.ts'
import {
  decodeLogPayload,
  decodeVaultPayload,
  encodeFrame,
  encodeLogPayload,
  encodeVaultPayload,
  type SignedRecord,
  type VaultEntry,
} from '../../conventions/frame.ts'
import { canonicalBytes } from '../../conventions/jcs.ts'
import { LOG_START } from '../../conventions/log.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { type Key, leafOf, rootOf, signBytes, signNote, vkeyOf } from '../verify/support.ts'

/** A record as JSON that a forger may edit before it is signed again. */
// biome-ignore lint/suspicious/noExplicitAny: a forger writes whatever he likes
export type Forged = any

function keyOf(privateKey: KeyObject): Key {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return { private: privateKey, spki, raw: spki.subarray(-32), kid: createHash('sha256').update(spki).digest() }
}

export const freshKey = (): Key => keyOf(generateKeyPairSync('ed25519').privateKey)

export class RealLog {
  readonly root: string
  records: SignedRecord[]
  vault: VaultEntry[]
  notes: string[]
  keys: { log: Key; record: Key }

  constructor(root: string) {
    this.root = root
    this.records = frames(join(root, 'log')).map((payload) => copyOf(decodeLogPayload(payload)))
    this.vault = frames(join(root, 'vault')).map((payload) => notNull(decodeVaultPayload(payload)))
    const list = join(root, 'log/checkpoints.jsonl')
    this.notes = existsSync(list)
      ? readFileSync(list, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
    const key = (name: string) => keyOf(createPrivateKey(readFileSync(join(root, 'keys', name))))
    this.keys = { log: key('log.pem'), record: key('record.pem') }
  }

  get leaves(): Buffer[] {
    return this.records.map(({ record }) => leafOf(record))
  }

  get origin(): string {
    return notNull(this.notes[0]).split('\n')[0] ?? ''
  }

  parsed(seq: number): Forged {
    return JSON.parse(Buffer.from(notNull(this.records[seq]).record).toString())
  }

  /** Number of the first record of a type, at `skip` more. */
  find(type: string, skip = 0): number {
    const found = this.records.flatMap((_, seq) => (this.parsed(seq).type === type ? [seq] : []))
    return notNull(found[skip])
  }

  /** Changes the text of one record and leaves its signature alone. */
  edit(seq: number, change: (text: string) => string): void {
    const signed = notNull(this.records[seq])
    const before = Buffer.from(signed.record).toString()
    const after = change(before)
    if (after === before) throw new Error(`the edit does not change record ${seq}`)
    signed.record = Buffer.from(after)
  }

  /** Signs the bytes of one record as they are. */
  sign(seq: number, key = this.keys.record): void {
    const signed = notNull(this.records[seq])
    Object.assign(signed, { kid: key.kid, signature: signBytes(signed.record, key) })
  }

  /** Writes another history with the real keys: numbers, roots, run links and references follow, everything is signed again. */
  rewrite(change: (records: Forged[]) => void): void {
    const records = this.records.map((_, seq) => this.parsed(seq))
    const old = new Map(records.map((record, seq) => [record, notNull(this.leaves[seq]).toString('base64')]))
    change(records)
    const renamed = new Map<string, string>()
    const runs = new Map<string, { seq: number; prev: string | null }>()
    const leaves: Buffer[] = []
    this.records = records.map((record, seq) => {
      record.log = { ...record.log, seq, root: rootOf(leaves).toString('base64') }
      const key = `${record.run?.id}/${record.run?.part}`
      if (record.run !== undefined) Object.assign(record.run, runs.get(key) ?? { seq: 0, prev: null })
      if (record.type === 'run.closed') record.body.records = record.run.seq + 1
      const decision = renamed.get(record.body.decision)
      if (decision !== undefined) record.body.decision = decision
      const bytes = canonicalBytes(record as Json)
      const leaf = leafOf(bytes)
      leaves.push(leaf)
      const before = old.get(record)
      if (before !== undefined) renamed.set(before, leaf.toString('base64'))
      if (record.run !== undefined) runs.set(key, { seq: record.run.seq + 1, prev: leaf.toString('base64') })
      return { kid: this.keys.record.kid, signature: signBytes(bytes, this.keys.record), record: bytes }
    })
  }

  /** Takes other keys, and says so in the first record. */
  useKeys(keys: Partial<RealLog['keys']>): void {
    Object.assign(this.keys, keys)
    const { log, record } = this.keys
    this.rewrite(([first]) => {
      first.body.log_key = vkeyOf(first.body.origin, log)
      const [declared] = first.body.keys
      Object.assign(declared, { kid: `sha256:${record.kid.toString('hex')}`, spki: record.spki.toString('base64') })
    })
  }

  /** Throws the checkpoints away and signs one over everything. */
  checkpointAnew(): void {
    const { origin } = this
    this.notes = [signNote(origin, this.records.length, rootOf(this.leaves), this.keys.log)]
  }

  /** Drops the checkpoints over more records than there are. */
  dropBeyond(): void {
    this.notes = this.notes.filter((note) => Number(note.split('\n')[1]) <= this.records.length)
  }

  /** Writes log, vault and checkpoints back. Tiles go: who changes a log does not leave them lying. */
  save(): void {
    rmSync(join(this.root, 'log/tile'), { recursive: true, force: true })
    saveFrames(join(this.root, 'log'), this.records.map(encodeLogPayload))
    saveFrames(join(this.root, 'vault'), this.vault.map(encodeVaultPayload))
    const newest = this.notes.at(-1)
    for (const name of ['checkpoint', 'checkpoints.jsonl']) rmSync(join(this.root, 'log', name), { force: true })
    if (newest === undefined) return
    writeFileSync(join(this.root, 'log/checkpoint'), newest)
    writeFileSync(
      join(this.root, 'log/checkpoints.jsonl'),
      this.notes.map((note) => `${JSON.stringify(note)}\n`).join(''),
    )
  }
}

function frames(dir: string): Uint8Array[] {
  return readFrames(dir, LOG_START, Number.POSITIVE_INFINITY).map(({ payload }) => Uint8Array.from(payload))
}

function saveFrames(dir: string, payloads: readonly Uint8Array[]): void {
  for (const name of readdirSync(dir)) if (name.endsWith('.seg')) rmSync(join(dir, name))
  writeFileSync(join(dir, '00000000.seg'), Buffer.concat(payloads.map((payload) => encodeFrame(payload, crc32))))
}

function copyOf(signed: SignedRecord | null): SignedRecord {
  const { kid, signature, record } = notNull(signed)
  return { kid: Uint8Array.from(kid), signature: Uint8Array.from(signature), record: Uint8Array.from(record) }
}

function notNull<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('the log of the test lacks something')
  return value
}
