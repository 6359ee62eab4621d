// Tiles: what a standard client reads is the tree of the log, at every size, after every crash; a full tile never changes.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Tiles } from '../../collector/store/tiles.ts'
import { Findings } from '../../collector/verify/findings.ts'
import { leafHash, treeRoot } from '../../collector/verify/merkle.ts'
import { parseCheckpoint, parseNote } from '../../collector/verify/note.ts'
import { TileCheck } from '../../collector/verify/tiles.ts'
import { bundleEntries, tilePath } from '../../conventions/tiles.ts'
import { TestPipeline } from '../support/pipeline.ts'
import { freshFolder, removeFolders } from '../verify/support.ts'

afterAll(removeFolders)

const record = (i: number) => Buffer.from(`record ${i}`)

function grow(tiles: Tiles, from: number, to: number): void {
  for (let i = from; i < to; i++) tiles.add(record(i), leafHash(record(i)))
}

/** Entries of a tree of that size as a client finds them. */
function clientEntries(dir: string, size: number): Uint8Array[] {
  const entries: Uint8Array[] = []
  for (let n = 0; n * 256 < size; n++) {
    const width = Math.min(256, size - n * 256)
    const partial = `${dir}/${tilePath('entries', n, width)}`
    const path = existsSync(partial) ? partial : `${dir}/${tilePath('entries', n)}`
    entries.push(...(bundleEntries(readFileSync(path)) ?? []).slice(0, width))
  }
  return entries
}

function findings(dir: string, size: number): string[] {
  const found = new Findings()
  const check = new TileCheck(dir, size, found)
  for (let i = 0; i < size; i++) check.take(record(i), leafHash(record(i)))
  return found.list().flatMap(({ code, notes }) => notes.map((note) => `${code} ${note}`))
}

describe('names', () => {
  it('are those of the specification', () => {
    expect(tilePath(0, 0)).toBe('tile/0/000')
    expect(tilePath(2, 1_234_067)).toBe('tile/2/x001/x234/067')
    expect(tilePath('entries', 999_000, 17)).toBe('tile/entries/x999/000.p/17')
  })
})

describe('the log of other software', () => {
  const dir = `${import.meta.dirname}/../fixtures/tlog/tessera-log`

  it('is read at each of its sizes: entries, leaves and roots agree', () => {
    for (let size = 0; size <= 15; size++) {
      const entries = clientEntries(dir, size)
      expect(entries).toHaveLength(size)
      const checkpoint = parseCheckpoint(parseNote(readFileSync(`${dir}/checkpoint.${size}`, 'utf8'))?.text ?? '')
      expect(Buffer.from(checkpoint?.root ?? [])).toEqual(Buffer.from(treeRoot(entries.map(leafHash))))
      const found = new Findings()
      const check = new TileCheck(dir, size, found)
      for (const entry of entries) check.take(entry, leafHash(entry))
      expect(found.list()).toEqual([])
    }
  })
})

describe('tiles', () => {
  it('of any sizes, with restarts between, are those of the tree', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.boolean()), { minLength: 1, maxLength: 5 }),
        (steps) => {
          const dir = freshFolder()
          let tiles = new Tiles(dir)
          let size = 0
          for (const [more, restart] of steps) {
            grow(tiles, size, size + more)
            // Some of what was added is not durable yet.
            const published = size + more - (more % 3)
            tiles.publish(published)
            size += more
            expect(findings(dir, published)).toEqual([])
            expect(clientEntries(dir, published).map(String)).toEqual(
              Array.from({ length: published }, (_, i) => String(record(i))),
            )
            if (!restart) continue
            tiles = new Tiles(dir)
            grow(tiles, 0, size)
          }
          rmSync(dir, { recursive: true })
        },
      ),
      { numRuns: 25 },
    )
  })

  it('have a second level, whose partial tile grows', () => {
    const dir = freshFolder()
    const tiles = new Tiles(dir)
    for (let n = 0; n < 256; n++) {
      grow(tiles, n * 256, n * 256 + 256)
      tiles.fill(n * 256 + 256)
    }
    tiles.publish(256 * 256)
    expect(statSync(`${dir}/tile/1/000`).size).toBe(256 * 32)
    expect(statSync(`${dir}/tile/2/000.p/1`).size).toBe(32)
    grow(tiles, 256 * 256, 256 * 257 + 5)
    tiles.publish(256 * 257 + 5)
    expect(statSync(`${dir}/tile/1/001.p/1`).size).toBe(32)
    expect(statSync(`${dir}/tile/0/257.p/5`).size).toBe(5 * 32)
    expect(findings(dir, 256 * 257 + 5)).toEqual([])
  })

  it('that are full stay as they are, and take the place of the partial ones', () => {
    const dir = freshFolder()
    const tiles = new Tiles(dir)
    grow(tiles, 0, 300)
    tiles.publish(100)
    expect(readdirSync(`${dir}/tile/0`)).toEqual(['000.p'])
    tiles.publish(256)
    const before = statSync(`${dir}/tile/0/000`)
    expect(readdirSync(`${dir}/tile/0`)).toEqual(['000'])
    grow(tiles, 300, 700)
    tiles.publish(700)
    const again = new Tiles(dir)
    grow(again, 0, 700)
    again.publish(700)
    expect(statSync(`${dir}/tile/0/000`).ino).toBe(before.ino)
  })

  it('that differ or are missing are named, and written again at a start', () => {
    const dir = freshFolder()
    const tiles = new Tiles(dir)
    grow(tiles, 0, 600)
    tiles.publish(600)
    writeFileSync(`${dir}/tile/0/000`, Buffer.alloc(256 * 32))
    rmSync(`${dir}/tile/entries/001`)
    writeFileSync(`${dir}/tile/1/000.p/2`, 'short')
    expect(findings(dir, 600)).toEqual([
      'tile.mismatch tile/0/000',
      'tile.mismatch tile/entries/001 is missing',
      'tile.mismatch tile/1/000.p/2',
    ])
    const again = new Tiles(dir)
    grow(again, 0, 600)
    again.publish(600)
    expect(findings(dir, 600)).toEqual([])
  })

  it('that can not be written are written later, and what waits for them is bounded', () => {
    const dir = freshFolder()
    mkdirSync(`${dir}/tile`)
    writeFileSync(`${dir}/tile/entries`, 'in the way')
    const tiles = new Tiles(dir)
    grow(tiles, 0, 700)
    expect(() => tiles.publish(700)).toThrow()
    rmSync(`${dir}/tile/entries`)
    tiles.publish(700)
    expect(findings(dir, 700)).toEqual([])
    grow(tiles, 700, 10_000)
    expect(() => tiles.publish(10_000)).toThrow('stay behind')
    const again = new Tiles(dir)
    for (let i = 0; i < 10_000; i++) {
      grow(again, i, i + 1)
      again.fill(i + 1)
    }
    again.publish(10_000)
    expect(findings(dir, 10_000)).toEqual([])
  })
})

describe('a log that is written', () => {
  let t: TestPipeline
  beforeEach(async () => {
    t = await new TestPipeline().start()
  })
  afterEach(() => t.close())

  it('has the tiles of each checkpoint, also after a restart, and a checkpoint when they can not be written', async () => {
    await t.claim({ event: 'prompt', session: 'S1', turn: 'p1', prompt: 'hello' })
    t.log.checkpoints.now()
    const size = Number(t.log.checkpoints.newest?.split('\n')[1])
    const leaves = clientEntries(t.home.log, size).map(leafHash)
    expect(Buffer.from(treeRoot(leaves)).toString('base64')).toBe(t.log.checkpoints.newest?.split('\n')[2])
    await t.log.close()
    rmSync(`${t.home.log}/tile`, { recursive: true })
    writeFileSync(`${t.home.log}/tile`, 'in the way')
    await t.reopenClosed()
    await t.claim({ event: 'prompt', session: 'S1', turn: 'p2', prompt: 'hello again' })
    t.log.checkpoints.now()
    expect(Number(t.log.checkpoints.newest?.split('\n')[1])).toBeGreaterThan(size)
  })
})
