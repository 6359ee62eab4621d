// Records that another collector signed and that came in on spans or log records: kept where a configured peer's key verifies them. They
// are that peer's word about itself and stay receipts here: nothing of them raises a tier, closes a gap or stands for a call of ours.
import type { ForeignRecord } from '../conventions/import.ts'
import { readRecordAttributes } from '../conventions/record-attribute.ts'
import { preAuthEncoding, RECORD_TYPE } from '../conventions/signing.ts'
import type { Config } from './config.ts'
import { sha256 } from './verify/crypto.ts'
import { type Ed25519Key, ed25519KeyOfSpki, verifyEd25519 } from './verify/ed25519.ts'
import { readRecord } from './verify/read-record.ts'

/** By kid, as records write it. */
export type Peers = ReadonlyMap<string, { name: string; key: Ed25519Key }>

/** The peers of a configuration that was read: their keys are good. */
export function peersOf(peers: Config['peers']): Peers {
  return new Map(
    peers.flatMap(({ name, key }) => {
      const spki = Buffer.from(key, 'base64')
      const usable = ed25519KeyOfSpki(spki)
      return usable === null ? [] : [[kidOf(spki), { name, key: usable }] as const]
    }),
  )
}

/** The record that an item's attributes carry; undefined where there is none, or none that a peer's key verifies. */
export function verifiedRecord(peers: Peers, read: (key: string) => unknown): ForeignRecord | undefined {
  const envelope = readRecordAttributes(read)
  const peer = peers.get(envelope?.kid ?? '')
  if (envelope === null || peer === undefined) return undefined
  const { kid, signature, record: bytes } = envelope
  if (!verifyEd25519(peer.key, preAuthEncoding(RECORD_TYPE, bytes), signature)) return undefined
  const { envelope: record, leaf64 } = readRecord(bytes)
  if (record === null) return undefined
  const { log, type, time, tier, trace } = record
  return {
    peer: peer.name,
    kid,
    log_id: log.id,
    log_seq: log.seq,
    leaf: leaf64,
    type,
    time,
    ...(tier !== undefined && { tier }),
    ...(trace !== undefined && { trace_id: trace.trace_id, span_id: trace.span_id }),
  }
}

const kidOf = (spki: Uint8Array) => `sha256:${Buffer.from(sha256(spki)).toString('hex')}`
