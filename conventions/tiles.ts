// C2SP tlog-tiles (https://c2sp.org/tlog-tiles): the tree and its entries as files under the folder of the checkpoint, for any
// standard client. Names and bytes only.

/** Hashes in a full tile, and entries in a full bundle. */
export const TILE_WIDTH = 256

/** Of hashes: the level. Level n is over full tiles of level n-1. */
export type TileKind = number | 'entries'

/** Path of tile `n`, relative to the checkpoint's folder. `width`: number of hashes or entries; 256 is the full tile. */
export function tilePath(kind: TileKind, n: number, width: number = TILE_WIDTH): string {
  const groups: string[] = []
  for (let rest = n; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1_000)) {
    groups.unshift(`${groups.length === 0 ? '' : 'x'}${String(rest % 1_000).padStart(3, '0')}`)
  }
  return `tile/${kind}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

/** One entry as it lies in an entry bundle: its length (u16, big-endian), then its bytes. */
export function bundleEntry(entry: Uint8Array): Uint8Array {
  const out = new Uint8Array(2 + entry.length)
  new DataView(out.buffer).setUint16(0, entry.length)
  out.set(entry, 2)
  return out
}

/** Entries of a bundle, or null when its bytes are no whole entries. */
export function bundleEntries(bundle: Uint8Array): Uint8Array[] | null {
  const view = new DataView(bundle.buffer, bundle.byteOffset, bundle.byteLength)
  const entries: Uint8Array[] = []
  for (let at = 0; at < bundle.length; ) {
    const end = at + 2 <= bundle.length ? at + 2 + view.getUint16(at) : bundle.length + 1
    if (end > bundle.length) return null
    entries.push(bundle.subarray(at + 2, end))
    at = end
  }
  return entries
}
