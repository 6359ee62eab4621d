// The Merkle tree of RFC 6962 section 2.1, by its definition, and the proofs of RFC 9162 sections 2.1.3.2 and 2.1.4.2.
import { leafInput } from '../../conventions/signing.ts'
import { sameBytes, sha256 } from './crypto.ts'

const HASH_BYTES = 32

/** Root of the empty tree. */
export const EMPTY_ROOT = sha256(new Uint8Array(0))

/** Hash of a leaf's bytes. */
export function leafHash(bytes: Uint8Array): Uint8Array {
  return sha256(leafInput(bytes))
}

/** 0x01, left, right: filled anew for each node, because long logs have many. */
const NODE = new Uint8Array(1 + 2 * HASH_BYTES)
NODE[0] = 0x01

/** Hash of the node over two hashes of 32 bytes. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  NODE.set(left, 1)
  NODE.set(right, 1 + HASH_BYTES)
  return sha256(NODE)
}

/** Root over leaf hashes, exactly as RFC 6962 defines it: split at the largest power of two below the size. */
export function treeRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves
  if (only === undefined) return EMPTY_ROOT
  if (leaves.length === 1) return only
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return nodeHash(treeRoot(leaves.slice(0, split)), treeRoot(leaves.slice(split)))
}

/** The tree so far as the roots of its complete subtrees, largest first: all that is needed to go on and to give the root. */
export class Frontier {
  /** Number of leaves. */
  size = 0
  private readonly stack: { level: number; hash: Uint8Array }[] = []
  private current: Uint8Array | null = EMPTY_ROOT

  /** Adds a leaf hash, or the root of a complete subtree of 2^level leaves. False when such a subtree can't begin here. */
  append(hash: Uint8Array, level = 0): boolean {
    if (this.size % 2 ** level !== 0) return false
    let node = { level, hash }
    for (;;) {
      const left = this.stack.at(-1)
      if (left?.level !== node.level) break
      this.stack.pop()
      node = { level: node.level + 1, hash: nodeHash(left.hash, node.hash) }
    }
    this.stack.push(node)
    this.size += 2 ** level
    this.current = null
    return true
  }

  root(): Uint8Array {
    this.current ??= this.fold()
    return this.current
  }

  private fold(): Uint8Array {
    let root: Uint8Array | undefined
    for (let i = this.stack.length - 1; i >= 0; i--) {
      const node = this.stack[i]
      if (node !== undefined) root = root === undefined ? node.hash : nodeHash(node.hash, root)
    }
    return root ?? EMPTY_ROOT
  }
}

/** True when `proof` shows `leaf` at `index` of the tree of `size` leaves with that root. Sizes are BigInt: they go up to 2^64-1. */
export function verifyInclusion(
  leaf: Uint8Array,
  index: bigint,
  size: bigint,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (index < 0n || index >= size || !allHashes([leaf, root, ...proof])) return false
  let node = index
  let last = size - 1n
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0n) return false
    if ((node & 1n) === 1n || node === last) {
      hash = nodeHash(sibling, hash)
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n
        last >>= 1n
      }
    } else {
      hash = nodeHash(hash, sibling)
    }
    node >>= 1n
    last >>= 1n
  }
  return last === 0n && sameBytes(hash, root)
}

/** True when `proof` shows that the tree of `size2` leaves begins with the one of `size1`. An empty first tree needs no proof. */
export function verifyConsistency(
  size1: bigint,
  size2: bigint,
  proof: readonly Uint8Array[],
  root1: Uint8Array,
  root2: Uint8Array,
): boolean {
  if (size1 < 0n || size1 > size2 || !allHashes([root1, root2, ...proof])) return false
  if (size1 === size2) return proof.length === 0 && sameBytes(root1, root2)
  if (size1 === 0n) return proof.length === 0 && sameBytes(root1, EMPTY_ROOT)
  const isPowerOfTwo = (size1 & (size1 - 1n)) === 0n
  const path = isPowerOfTwo ? [root1, ...proof] : [...proof]
  const first = path.shift()
  if (first === undefined || proof.length === 0) return false
  let node = size1 - 1n
  let last = size2 - 1n
  while ((node & 1n) === 1n) {
    node >>= 1n
    last >>= 1n
  }
  let hash1 = first
  let hash2 = first
  for (const sibling of path) {
    if (last === 0n) return false
    if ((node & 1n) === 1n || node === last) {
      hash1 = nodeHash(sibling, hash1)
      hash2 = nodeHash(sibling, hash2)
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n
        last >>= 1n
      }
    } else {
      hash2 = nodeHash(hash2, sibling)
    }
    node >>= 1n
    last >>= 1n
  }
  return last === 0n && sameBytes(hash1, root1) && sameBytes(hash2, root2)
}

function allHashes(values: readonly Uint8Array[]): boolean {
  return values.every((value) => value.length === HASH_BYTES)
}
