// The signed records of a home's log, one after the other; for those who write something of it.
import { crc32 } from 'node:zlib'
import { toBase64, toHex } from '../../conventions/bytes.ts'
import { decodeLogPayload, type SignedRecord } from '../../conventions/frame.ts'
import { RECORD_TYPE } from '../../conventions/signing.ts'
import { isTornGroup } from '../../conventions/torn.ts'
import type { BundleLine } from './bundle-format.ts'
import type { CheckpointSource } from './checkpoints.ts'
import { MAX_LOG_PAYLOAD } from './home.ts'
import { parseCheckpoint, parseNote } from './note.ts'
import { readSegments, type Snapshot } from './segments.ts'

/** A record, or null for a part of the log that can't be read. */
export function* signedRecords(log: Snapshot): Generator<SignedRecord | null> {
  let records = 0
  for (const item of readSegments(log, MAX_LOG_PAYLOAD)) {
    if (item.kind === 'payload') records++
    else if (item.kind === 'rest' && isTornGroup(item.tail, records, crc32)) return
    yield item.kind === 'payload' ? decodeLogPayload(item.payload) : null
  }
}

/** The newest checkpoint over at most `size` records. Nothing of it is verified. */
export function checkpointWithin(
  sources: readonly CheckpointSource[],
  size: number,
): { text: string; size: number } | null {
  let newest: { text: string; size: number } | null = null
  for (const { text } of sources) {
    const covers = Number(parseCheckpoint(parseNote(text)?.text ?? '')?.size ?? -1n)
    if (covers >= (newest?.size ?? 0) && covers <= size) newest = { text, size: covers }
  }
  return newest
}

/** The DSSE envelope of a record. */
export function envelopeOf({ kid, signature, record }: SignedRecord): Extract<BundleLine, { kind: 'rec' }>['dsse'] {
  const keyid = `sha256:${toHex(kid)}`
  return { payload: toBase64(record), payloadType: RECORD_TYPE, signatures: [{ keyid, sig: toBase64(signature) }] }
}
