// Reading what a file gained, on files as nobody should leave them.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PIECE_BYTES, type Place, readTail } from '../../collector/watch/tail.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanseal-tail-'))
  file = join(folder, 'file')
})

afterEach(() => rmSync(folder, { recursive: true }))

const START: Place = { offset: 0, inLongLine: false }

/** Reads on from a place until there is no more, and what the lines were. */
async function readAll(place = START): Promise<{ lines: string[]; place: Place; long: number }> {
  const lines: string[] = []
  let long = 0
  for (;;) {
    const tail = await readTail(file, place, (line) => lines.push(line))
    if (tail === null) throw new Error('there is no file to read')
    place = tail.place
    long += tail.long
    if (!tail.more) return { lines, place, long }
  }
}

it('hands out each line once, whatever pieces the file grows by', async () => {
  const texts = fc.array(fc.oneof(fc.string(), fc.constant('\n'), fc.constant('é🌍\n')), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(texts, async (pieces) => {
      writeFileSync(file, '')
      const lines: string[] = []
      let place = START
      for (const piece of pieces) {
        appendFileSync(file, piece)
        const read = await readAll(place)
        lines.push(...read.lines)
        place = read.place
      }
      expect(lines).toEqual(pieces.join('').split('\n').slice(0, -1))
    }),
    { numRuns: 100 },
  )
})

it('drops a line that is longer than a piece, all of it, and goes on behind it', async () => {
  writeFileSync(file, `before\n${'x'.repeat(20 * PIECE_BYTES)}`)
  const first = await readAll()
  expect(first).toMatchObject({ lines: ['before'], long: 1, place: { inLongLine: true } })
  appendFileSync(file, 'the end of it\nafter\n')
  expect(await readAll(first.place)).toMatchObject({ lines: ['after'], long: 0, place: { inLongLine: false } })
})

it('reads no pipe, no folder, no link, and nothing that became shorter', async () => {
  execFileSync('mkfifo', [`${folder}/pipe`])
  writeFileSync(file, 'line\n')
  symlinkSync(file, `${folder}/link`)
  const never = () => {
    throw new Error('a line was read')
  }
  expect(await readTail(`${folder}/pipe`, START, never)).toBeNull()
  expect(await readTail(folder, START, never)).toBeNull()
  await expect(readTail(`${folder}/link`, START, never)).rejects.toThrow('ELOOP')
  expect(await readTail(file, { offset: 6, inLongLine: false }, never)).toBeNull()
})
