// Erasing in vault segments: what is covered is gone from the file, everything else lies where it lay, byte for byte.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { eraseContent } from '../../collector/store/erase.ts'
import { readFrames } from '../../collector/store/segments.ts'
import { decodeVaultPayload, encodeFrame, encodeVaultPayload, segmentName } from '../../conventions/frame.ts'
import { LOG_START } from '../../conventions/log.ts'

const base = mkdtempSync(join(tmpdir(), 'spanseal-erase-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

interface Piece {
  content: Uint8Array
  goes: boolean
  dropped: boolean
}

const salt = 'ab'.repeat(32)
const frameOf = ({ content, dropped }: Piece, seq: number) =>
  encodeFrame(
    encodeVaultPayload(
      dropped
        ? { head: { seq, name: 'args', salt, dropped: true }, content: new Uint8Array(0) }
        : { head: { seq, name: 'args', salt }, content },
    ),
    crc32,
  )

/** A vault of segments of three frames each; the numbers of records are their places. */
function vaultOf(pieces: readonly Piece[]): string {
  const dir = mkdtempSync(join(base, 'v-'))
  for (let n = 0; n * 3 < pieces.length; n++) {
    const frames = pieces.slice(n * 3, n * 3 + 3).map((piece, i) => frameOf(piece, n * 3 + i))
    writeFileSync(join(dir, segmentName(n)), Buffer.concat(frames))
  }
  return dir
}

const framesOf = (dir: string) => readFrames(dir, LOG_START, Number.POSITIVE_INFINITY)
const all = { from: 0, to: Number.POSITIVE_INFINITY, record: 99 }

it('takes away what is covered and nothing else, and the same again changes nothing', async () => {
  const piece = fc.record({
    content: fc.uint8Array({ maxLength: 300 }),
    goes: fc.boolean(),
    dropped: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 14 }), fc.nat(5), async (pieces, end) => {
      const dir = vaultOf(pieces)
      const before = framesOf(dir)
      const covers = ({ seq }: { seq: number }) => pieces[seq]?.goes === true
      const erased = await eraseContent({ dir, end, covers, ...all })
      const after = framesOf(dir)
      expect(after.map(({ at }) => at)).toEqual(before.map(({ at }) => at))
      let values = 0
      for (const [seq, { payload }] of after.entries()) {
        const gone = covers({ seq }) && Math.floor(seq / 3) < end
        if (gone) values++
        const entry = decodeVaultPayload(payload)
        if (!gone) expect(Buffer.compare(payload, before[seq]?.payload ?? new Uint8Array(0))).toBe(0)
        else expect(entry).toEqual({ head: { seq, name: 'args', salt: '', erased: 99 }, content: new Uint8Array(0) })
        if (gone) expect(Buffer.from(payload.subarray(60)).every((byte) => byte === 0)).toBe(true)
      }
      expect(erased).toMatchObject({ values, damaged: [] })
      expect(await eraseContent({ dir, end, covers, ...all })).toMatchObject({ values: 0, bytes: 0 })
      rmSync(dir, { recursive: true })
    }),
    { numRuns: 300 },
  )
})

it('gives the space of large pieces back and leaves no byte of them in the folder', async () => {
  const secret = Buffer.alloc(5 * 1024 * 1024, 'the secret sentence. ')
  const dir = vaultOf([
    { content: secret, goes: true, dropped: false },
    { content: Buffer.from('kept'), goes: false, dropped: false },
  ])
  const path = join(dir, segmentName(0))
  const before = statSync(path)
  const erased = await eraseContent({ dir, end: 1, covers: ({ seq }) => seq === 0, ...all })
  expect(erased).toEqual({ values: 1, bytes: secret.length, damaged: [] })
  const after = statSync(path)
  expect(after.size).toBe(before.size)
  expect(after.blocks).toBeLessThan(before.blocks / 10)
  expect(after.mode & 0o777).toBe(0o600)
  expect(readdirSync(dir)).toEqual([segmentName(0)])
  expect(readFileSync(path).includes('secret sentence')).toBe(false)
  expect(readFileSync(path).includes('kept')).toBe(true)
})

it('looks only at segments that may hold what is covered, and says where it could not look', async () => {
  const pieces = Array.from({ length: 9 }, () => ({ content: Buffer.from('x'), goes: true, dropped: false }))
  const dir = vaultOf(pieces)
  const seen = new Set<number>()
  const covers = ({ seq }: { seq: number }) => {
    seen.add(seq)
    return seq >= 3 && seq < 5
  }
  expect(await eraseContent({ dir, end: 3, covers, from: 3, to: 5, record: 99 })).toMatchObject({ values: 2 })
  expect([...seen].sort()).toEqual([3, 4, 5])

  const path = join(dir, segmentName(2))
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  writeFileSync(path, bytes)
  const damaged = await eraseContent({ dir, end: 3, covers: () => true, ...all })
  expect(damaged).toMatchObject({ damaged: [2] })
})
