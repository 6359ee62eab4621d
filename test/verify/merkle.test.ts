// The tree against published trees, proofs and sums.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  EMPTY_ROOT,
  Frontier,
  leafHash,
  nodeHash,
  treeRoot,
  verifyConsistency,
  verifyInclusion,
} from '../../collector/verify/merkle.ts'
import { parseCheckpoint, parseNote, parseVerifierKey, verifyNote } from '../../collector/verify/note.ts'
import { rootOf } from './support.ts'

const FIXTURES = `${import.meta.dirname}/../fixtures/tlog`
const read = (name: string) => JSON.parse(readFileSync(`${FIXTURES}/merkle/${name}`, 'utf8'))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const base64 = (text: string) => Buffer.from(text, 'base64')

describe('the published tree of eight leaves', () => {
  const tree: { leaf_inputs: string[]; node_hashes: string[][]; empty_root: string; root_hashes: string[] } =
    read('tree.json')
  const leaves = tree.leaf_inputs.map((input) => leafHash(Buffer.from(input, 'hex')))

  it('has those leaves, nodes and roots', () => {
    expect(hex(EMPTY_ROOT)).toBe(tree.empty_root)
    expect(leaves.map(hex)).toEqual(tree.node_hashes[0])
    expect(hex(nodeHash(leaves[0] ?? EMPTY_ROOT, leaves[1] ?? EMPTY_ROOT))).toBe(tree.node_hashes[1]?.[0])
    for (const [i, root] of tree.root_hashes.entries()) expect(hex(treeRoot(leaves.slice(0, i + 1)))).toBe(root)
  })

  it('grows leaf by leaf to the same roots', () => {
    const frontier = new Frontier()
    expect(hex(frontier.root())).toBe(tree.empty_root)
    for (const [i, root] of tree.root_hashes.entries()) {
      frontier.append(leaves[i] ?? EMPTY_ROOT)
      expect(hex(frontier.root())).toBe(root)
    }
  })
})

describe('the accumulated sums over all subtrees', () => {
  it('agree', () => {
    const leaves = Array.from({ length: 130 }, (_, i) => leafHash(Uint8Array.of(i)))
    const sum = createHash('sha256')
    for (let end = 0; end <= 130; end++) {
      for (let start = 0; start <= end; start++) {
        // Valid subtrees, the empty ones included: the start is a multiple of the smallest power of two that covers the length.
        let span = 1
        while (span < end - start) span *= 2
        if (start % span === 0) sum.update(`[${start}, ${end}) ${hex(treeRoot(leaves.slice(start, end)))}\n`)
      }
    }
    expect(sum.digest('hex')).toBe(read('accumulated.json').subtree_hash)
  })
})

describe('the three ways to a root', () => {
  it('agree for any number of leaves, and for subtrees given as one hash', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 70 }),
        fc.integer({ min: 0, max: 6 }),
        (inputs, level) => {
          const leaves = inputs.map(leafHash)
          const byLeaf = new Frontier()
          for (const leaf of leaves) byLeaf.append(leaf)
          const span = 2 ** level
          const bySubtree = new Frontier()
          for (let i = 0; i < leaves.length; ) {
            const whole = i + span <= leaves.length
            const part = leaves.slice(i, whole ? i + span : i + 1)
            expect(bySubtree.append(treeRoot(part), whole ? level : 0)).toBe(true)
            i += part.length
          }
          const root = hex(treeRoot(leaves))
          expect([hex(byLeaf.root()), hex(bySubtree.root()), hex(rootOf(leaves))]).toEqual([root, root, root])
        },
      ),
    )
  })

  it('refuses a subtree where none can begin', () => {
    const frontier = new Frontier()
    frontier.append(EMPTY_ROOT)
    expect(frontier.append(EMPTY_ROOT, 1)).toBe(false)
    expect(frontier.size).toBe(1)
  })
})

describe('published proofs', () => {
  it('accepts and refuses 98 inclusion proofs as they say', () => {
    const cases: {
      name: string
      leafIdx: string
      treeSize: string
      root: string
      leafHash: string
      proof: string[] | null
      wantErr: boolean
    }[] = read('inclusion.json')
    expect(cases).toHaveLength(98)
    const wrong = cases.filter(({ leafIdx, treeSize, root, leafHash: leaf, proof, wantErr }) => {
      return (
        verifyInclusion(base64(leaf), BigInt(leafIdx), BigInt(treeSize), (proof ?? []).map(base64), base64(root)) ===
        wantErr
      )
    })
    expect(wrong.map(({ name }) => name)).toEqual([])
  })

  it('accepts and refuses 98 consistency proofs as they say, but for roots of 12 bytes', () => {
    const cases: {
      name: string
      size1: string
      size2: string
      root1: string
      root2: string
      proof: string[] | null
      wantErr: boolean
    }[] = read('consistency.json')
    expect(cases).toHaveLength(98)
    const wrong = cases.filter(({ size1, size2, root1, root2, proof, wantErr }) => {
      return (
        verifyConsistency(BigInt(size1), BigInt(size2), (proof ?? []).map(base64), base64(root1), base64(root2)) ===
        wantErr
      )
    })
    expect(wrong.map(({ name }) => name)).toEqual(['additional/sizes-are-equal-one-and-proof-is-empty'])
  })
})

describe('a log of other software', () => {
  it('has the roots its checkpoints say, by its key', () => {
    const dir = `${FIXTURES}/tessera-log`
    const key = parseVerifierKey(readFileSync(`${dir}/log.vkey`, 'utf8').trim())
    const tile = readFileSync(`${dir}/tile/0/000.p/15`)
    const leaves = Array.from({ length: 15 }, (_, i) => tile.subarray(32 * i, 32 * i + 32))
    for (let size = 0; size <= 15; size++) {
      const note = parseNote(readFileSync(`${dir}/checkpoint.${size}`, 'utf8'))
      if (note === null || key === null) throw new Error(`checkpoint ${size} can't be read`)
      expect(verifyNote(note, [key]).ok).toBe(true)
      const checkpoint = parseCheckpoint(note.text)
      expect(checkpoint?.size).toBe(BigInt(size))
      expect(hex(checkpoint?.root ?? new Uint8Array(0))).toBe(hex(treeRoot(leaves.slice(0, size))))
    }
  })
})
