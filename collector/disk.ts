// Room on the disk: third-party spans are refused first, so that hooks can still be recorded when little is left.
import { statfsSync } from 'node:fs'

/** Bytes of free disk below which third-party spans are refused: thousands of tool calls still fit. */
const LOW_WATER_BYTES = 256 * 1024 * 1024
/** Milliseconds for which a look at the disk is good. */
const LOOK_MS = 1_000

/** Says whether the disk that holds `path` is nearly full; `free`: bytes left, for tests. */
export function lowWater(path: string, free: () => number = () => freeBytes(path)): () => boolean {
  let looked = Number.NEGATIVE_INFINITY
  let low = false
  return () => {
    const now = performance.now()
    if (now - looked > LOOK_MS) {
      looked = now
      low = free() < LOW_WATER_BYTES
    }
    return low
  }
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}
