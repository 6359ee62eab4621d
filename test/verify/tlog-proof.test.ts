// Proofs by leaf: the published parser cases, and that what is exported proves the record, and only that record.
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { exportProof } from '../../collector/verify/index.ts'
import { leafHash, verifyInclusion } from '../../collector/verify/merkle.ts'
import { parseCheckpoint, parseNote, parseVerifierKey, verifyNote } from '../../collector/verify/note.ts'
import { formatTlogProof, parseTlogProof } from '../../collector/verify/tlog-proof.ts'
import { freshFolder, removeFolders, sampleLog, vkeyOf } from './support.ts'

afterAll(removeFolders)

describe('published proofs', () => {
  const { cases }: { cases: { desc: string; text: string; valid: boolean; index?: string; hashes?: number }[] } =
    JSON.parse(readFileSync(`${import.meta.dirname}/../fixtures/tlog/c2sp/tlog-proof.json`, 'utf8'))

  it('are all there', () => expect(cases).toHaveLength(10))

  it.each(cases)('$desc', ({ text, valid, index, hashes }) => {
    const proof = parseTlogProof(text)
    expect(proof !== null).toBe(valid)
    if (proof === null) return
    expect([String(proof.index), proof.hashes.length]).toEqual([index, hashes])
    expect(formatTlogProof(proof)).toBe(text)
  })
})

describe('the proof of a record', () => {
  it('shows its place under the checkpoint, for each record of a log', () => {
    const log = sampleLog()
    const root = log.write(freshFolder(), 4)
    const key = parseVerifierKey(vkeyOf(log.origin, log.keys.log))
    if (key === null) throw new Error('the key of the test is not accepted')
    for (const [seq, leaf] of log.leaves.entries()) {
      const made = exportProof({ root, leaf })
      const proof = made.ok ? parseTlogProof(made.text) : null
      const note = parseNote(proof?.checkpoint ?? '')
      const checkpoint = parseCheckpoint(note?.text ?? '')
      if (proof === null || note === null || checkpoint === null) throw new Error(`no proof of record ${seq}`)
      expect(verifyNote(note, [key]).ok).toBe(true)
      const { payload } = JSON.parse(Buffer.from(proof.extra ?? []).toString())
      const proves = (record: Uint8Array, index: bigint) =>
        verifyInclusion(leafHash(record), index, checkpoint.size, proof.hashes, checkpoint.root)
      expect(proves(Buffer.from(payload, 'base64'), proof.index)).toBe(true)
      expect(proof.index).toBe(BigInt(seq))
      expect(proves(Buffer.concat([Buffer.from(payload, 'base64'), Buffer.alloc(1)]), proof.index)).toBe(false)
      expect(proves(Buffer.from(payload, 'base64'), (proof.index + 1n) % checkpoint.size)).toBe(false)
    }
  })

  it('is refused in words where there is none', () => {
    const log = sampleLog()
    log.add('collector.started', { version: '0.1.0', after: 'stop' })
    const root = log.write(freshFolder())
    expect(exportProof({ root, leaf: Buffer.alloc(32) })).toMatchObject({
      message: 'no record of this log has that leaf',
    })
    expect(exportProof({ root, leaf: log.leaves.at(-1) ?? Buffer.alloc(0) })).toMatchObject({
      message: 'no checkpoint covers record 19 yet; one is made within seconds',
    })
    log.records.splice(3, 1, { kid: Buffer.alloc(32), signature: Buffer.alloc(64), record: Buffer.alloc(0) })
    log.notes.splice(0)
    expect(exportProof({ root: log.write(freshFolder()), leaf: log.leaves[4] ?? Buffer.alloc(0) })).toMatchObject({
      ok: false,
    })
  })
})
