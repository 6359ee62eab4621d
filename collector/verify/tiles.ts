// Compares the tiles beside a log with the log. Tiles are derived: whatever is wrong with them, the evidence is the log.
import { readFileSync } from 'node:fs'
import { concat } from '../../conventions/signing.ts'
import { bundleEntry, TILE_WIDTH, type TileKind, tilePath } from '../../conventions/tiles.ts'
import type { Findings } from './findings.ts'
import { treeRoot } from './merkle.ts'

export class TileCheck {
  private readonly dir: string
  private readonly findings: Findings
  /** Tiles are there for the tree of this size. */
  private readonly published: number
  private size = 0
  private entries: Uint8Array[] = []
  private readonly levels: Uint8Array[][] = []

  /** `dir`: folder of the checkpoint. `published`: size of the newest checkpoint; tiles of later records may be missing. */
  constructor(dir: string, published: number, findings: Findings) {
    this.dir = dir
    this.published = published
    this.findings = findings
  }

  /** Takes the next record as it lies in the log. */
  take(bytes: Uint8Array, leaf: Uint8Array): void {
    if (this.size === this.published) return
    this.size++
    this.entries.push(bundleEntry(bytes))
    this.push(0, leaf)
    if (this.entries.length === TILE_WIDTH) {
      this.compare('entries', this.size / TILE_WIDTH - 1, this.entries)
      this.entries = []
    }
    if (this.size === this.published) this.end()
  }

  private push(level: number, hash: Uint8Array): void {
    const hashes = this.levels[level] ?? []
    this.levels[level] = hashes
    hashes.push(hash)
    if (hashes.length < TILE_WIDTH) return
    this.compare(level, this.size / TILE_WIDTH ** (level + 1) - 1, hashes)
    this.levels[level] = []
    this.push(level + 1, treeRoot(hashes))
  }

  /** The checkpoint's size is reached: its partial tiles. */
  private end(): void {
    const tileOf = (level: number) => Math.floor(this.size / TILE_WIDTH ** (level + 1))
    if (this.entries.length > 0) this.compare('entries', tileOf(0), this.entries)
    for (const [level, hashes] of this.levels.entries()) {
      if (hashes.length > 0) this.compare(level, tileOf(level), hashes)
    }
  }

  private compare(kind: TileKind, n: number, parts: readonly Uint8Array[]): void {
    const name = tilePath(kind, n, parts.length)
    const expected = concat(...parts)
    // A collector that runs may have put the full tile in the place of a partial one.
    const found = read(`${this.dir}/${name}`) ?? read(`${this.dir}/${tilePath(kind, n)}`)?.subarray(0, expected.length)
    if (found === undefined) this.findings.add('tile.mismatch', `${name} is missing`)
    else if (!found.equals(expected)) this.findings.add('tile.mismatch', name)
  }
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
