// Writes the log as C2SP tlog-tiles beside its segments, so that standard clients can read it while the collector runs. Everything
// here is derived: what is missing or differs at a start is written again from the log.
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { concat, nodeInput } from '../../conventions/signing.ts'
import { bundleEntry, TILE_WIDTH, type TileKind, tilePath } from '../../conventions/tiles.ts'

/** Records that may wait for a publication that keeps failing; then tiles stay behind until the next start. At most about 32 MB. */
const MAX_WAITING = 8_192

interface Entry {
  bytes: Uint8Array
  leaf: Uint8Array
}

export class Tiles {
  /** Folder of the checkpoint. */
  private readonly dir: string
  /** Records that are in no tile yet. */
  private waiting: Entry[] = []
  private gaveUp = false
  /** Records of the newest entry bundle, and the hashes of the newest tile of each level. */
  private entries: Uint8Array[] = []
  private levels: Uint8Array[][] = [[]]
  /** Records taken into tiles so far. */
  private size = 0

  constructor(dir: string) {
    this.dir = dir
  }

  /** The next record, not written before it is published. */
  add(bytes: Uint8Array, leaf: Uint8Array): void {
    if (this.gaveUp) return
    this.waiting.push({ bytes, leaf })
    if (this.waiting.length <= MAX_WAITING) return
    this.gaveUp = true
    this.waiting = []
  }

  /** Writes the full tiles of the first `size` records. Throws the system's error; a later call tries the same again. */
  fill(size: number): void {
    this.closeFull()
    for (const { bytes, leaf } of this.waiting.slice(0, size - this.size)) {
      this.entries.push(bundleEntry(bytes))
      this.levels[0]?.push(leaf)
      this.size++
      this.waiting.shift()
      this.closeFull()
    }
  }

  /** Writes all tiles of the tree over the first `size` records, before a checkpoint over them is kept. Throws likewise. */
  publish(size: number): void {
    if (this.gaveUp) throw new Error('the tiles stay behind the log; they are written again at the next start')
    this.fill(size)
    if (this.entries.length > 0) this.write('entries', this.at(0), this.entries)
    for (const [level, hashes] of this.levels.entries()) {
      if (hashes.length > 0) this.write(level, this.at(level), hashes)
    }
  }

  /** Number of the newest tile of a level. */
  private at(level: number): number {
    return Math.floor(this.size / TILE_WIDTH ** (level + 1))
  }

  /** Writes the tiles that have become full. Only when all of them are on disk they are forgotten here. */
  private closeFull(): void {
    if (this.entries.length < TILE_WIDTH) return
    const n = this.size / TILE_WIDTH - 1
    this.write('entries', n, this.entries)
    const next: Uint8Array[][] = []
    let carried: Uint8Array | undefined
    for (let level = 0; level === 0 || carried !== undefined; level++) {
      const hashes = [...(this.levels[level] ?? []), ...(carried === undefined ? [] : [carried])]
      carried = undefined
      if (hashes.length === TILE_WIDTH) {
        this.write(level, Math.floor(n / TILE_WIDTH ** level), hashes)
        carried = subtreeRoot(hashes)
      }
      next.push(carried === undefined ? hashes : [])
    }
    this.levels = [...next, ...this.levels.slice(next.length)]
    this.entries = []
  }

  /** A full tile never changes; the partial ones before it are of no use any more. */
  private write(kind: TileKind, n: number, parts: readonly Uint8Array[]): void {
    const path = `${this.dir}/${tilePath(kind, n, parts.length)}`
    const bytes = concat(...parts)
    if (!existsSync(path) || !readFileSync(path).equals(bytes)) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      // No sync: after a power cut the next start finds what is wrong.
      writeFileSync(`${path}.new`, bytes, { mode: 0o600 })
      renameSync(`${path}.new`, path)
    }
    if (parts.length === TILE_WIDTH) rmSync(`${path}.p`, { recursive: true, force: true })
  }
}

/** Root of a complete subtree. */
function subtreeRoot(hashes: readonly Uint8Array[]): Uint8Array {
  let row = hashes
  while (row.length > 1) {
    const above: Uint8Array[] = []
    for (let i = 0; i < row.length; i += 2) {
      const [left, right] = [row[i], row[i + 1]]
      if (left === undefined || right === undefined) throw new Error('a subtree that is not complete')
      above.push(Buffer.from(hash('sha256', nodeInput(left, right), 'binary'), 'binary'))
    }
    row = above
  }
  return row[0] ?? new Uint8Array(0)
}
