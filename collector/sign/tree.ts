// RFC 6962 Merkle tree, incremental: keeps only the roots of the complete subtrees, so append and root cost O(log n).
import { hash } from 'node:crypto'
import { leafInput, nodeInput } from '../../conventions/signing.ts'

// Asking for text is several times faster than asking for a buffer, and each record takes a dozen hashes.
const sha256 = (bytes: Uint8Array): Uint8Array => Buffer.from(hash('sha256', bytes, 'binary'), 'binary')

/** Root of the tree with no leaves: SHA-256 of the empty string (RFC 6962 section 2.1). */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0))

/** Leaf of a record. */
export function leafHash(record: Uint8Array): Uint8Array {
  return sha256(leafInput(record))
}

export class Tree {
  /** Number of leaves. */
  size = 0
  /** Roots of the complete subtrees, largest first: one for each set bit of `size`. */
  private readonly range: Uint8Array[] = []
  private rootNow: Uint8Array | undefined = EMPTY_ROOT

  /** Adds a leaf hash. */
  append(leaf: Uint8Array): void {
    let node = leaf
    for (let n = this.size; n % 2 === 1; n = (n - 1) / 2) {
      const left = this.range.pop()
      if (left === undefined) throw new Error('the compact range lost a subtree')
      node = sha256(nodeInput(left, node))
    }
    this.range.push(node)
    this.size++
    this.rootNow = undefined
  }

  /** Root over all leaves so far. */
  root(): Uint8Array {
    this.rootNow ??= this.fold()
    return this.rootNow
  }

  private fold(): Uint8Array {
    const [last, ...rest] = this.range.toReversed()
    if (last === undefined) return EMPTY_ROOT
    return rest.reduce((right, left) => sha256(nodeInput(left, right)), last)
  }
}
