// Makes the proof that a record is in a home's log, by its leaf.
import type { SignedRecord } from '../../conventions/frame.ts'
import { homePaths } from '../../conventions/home.ts'
import { canonicalBytes } from '../../conventions/jcs.ts'
import { readCheckpointFiles } from './checkpoint-files.ts'
import { sameBytes } from './crypto.ts'
import { Findings } from './findings.ts'
import { checkpointWithin, envelopeOf, signedRecords } from './log-stream.ts'
import { Frontier, leafHash } from './merkle.ts'
import { snapshot } from './segments.ts'
import { formatTlogProof } from './tlog-proof.ts'

/** Leaves from `start` to before `end` that one hash of the proof stands for. */
interface Sibling {
  start: number
  end: number
  tree: Frontier
}

export type ProofResult = { ok: true; seq: number; size: number; text: string } | { ok: false; message: string }

/** The proof of the record with that leaf (32 bytes) under the newest checkpoint. Reads the log twice, in little memory. */
export function exportProof({ root, leaf }: { root: string; leaf: Uint8Array }): ProofResult {
  const home = homePaths(root)
  const sources = readCheckpointFiles(home, new Findings())
  const log = snapshot(home.log)
  let found: { seq: number; signed: SignedRecord } | undefined
  let size = 0
  for (const signed of signedRecords(log)) {
    if (signed === null) return { ok: false, message: `the log is damaged at record ${size}; run: spanseal verify` }
    if (found === undefined && sameBytes(leafHash(signed.record), leaf)) found = { seq: size, signed }
    size++
  }
  if (found === undefined) return { ok: false, message: 'no record of this log has that leaf' }
  const checkpoint = checkpointWithin(sources, size)
  if (checkpoint === null || checkpoint.size <= found.seq) {
    return { ok: false, message: `no checkpoint covers record ${found.seq} yet; one is made within seconds` }
  }
  const siblings = siblingsOf(found.seq, checkpoint.size)
  let seq = 0
  for (const signed of signedRecords(log)) {
    if (signed === null || seq === checkpoint.size) break
    siblings.find(({ start, end }) => start <= seq && seq < end)?.tree.append(leafHash(signed.record))
    seq++
  }
  const text = formatTlogProof({
    index: BigInt(found.seq),
    extra: canonicalBytes(envelopeOf(found.signed)),
    hashes: siblings.map(({ tree }) => tree.root()),
    checkpoint: checkpoint.text,
  })
  return { ok: true, seq: found.seq, size: checkpoint.size, text }
}

/** The subtrees of an inclusion proof (RFC 6962 section 2.1.1), from the leaf up. */
function siblingsOf(index: number, size: number, offset = 0): Sibling[] {
  if (size === 1) return []
  let split = 1
  while (split * 2 < size) split *= 2
  const sibling = (start: number, end: number): Sibling => ({
    start: offset + start,
    end: offset + end,
    tree: new Frontier(),
  })
  return index < split
    ? [...siblingsOf(index, split, offset), sibling(split, size)]
    : [...siblingsOf(index - split, size - split, offset + split), sibling(0, split)]
}
