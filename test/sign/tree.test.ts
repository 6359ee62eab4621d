// The incremental tree gives the roots RFC 6962 defines; signatures and commitments are what node:crypto and the format say.
import { createHash, createHmac, generateKeyPairSync, verify } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { signCheckpoint, verifierKey } from '../../collector/sign/checkpoint.ts'
import { commit, signRecord } from '../../collector/sign/signer.ts'
import { EMPTY_ROOT, leafHash, Tree } from '../../collector/sign/tree.ts'
import { preAuthEncoding, RECORD_TYPE } from '../../conventions/signing.ts'

const sha = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** RFC 6962 section 2.1, word for word. */
function root(leaves: Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return sha('')
  if (leaves.length === 1) return leaves[0] as Uint8Array
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return sha(Uint8Array.of(1), root(leaves.slice(0, k)), root(leaves.slice(k)))
}

it('has the root of RFC 6962 at every size', () => {
  const tree = new Tree()
  const leaves: Uint8Array[] = []
  expect(Buffer.from(tree.root())).toEqual(Buffer.from(EMPTY_ROOT))
  for (let i = 0; i < 130; i++) {
    const leaf = leafHash(Buffer.from(`record ${i}`))
    leaves.push(leaf)
    tree.append(leaf)
    expect(Buffer.from(tree.root()).equals(root(leaves))).toBe(true)
  }
  expect(tree.size).toBe(130)
})

it('hashes a leaf and a node into different worlds', () => {
  expect(Buffer.from(leafHash(Buffer.from('x'))).equals(sha(Uint8Array.of(0), 'x'))).toBe(true)
})

it('signs the DSSE encoding of a record, so that another payload type never verifies', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (record) => {
      const signature = signRecord(privateKey, record)
      expect(verify(null, preAuthEncoding(RECORD_TYPE, record), publicKey, signature)).toBe(true)
      expect(
        verify(null, preAuthEncoding('application/vnd.spanseal.approval.v1+json', record), publicKey, signature),
      ).toBe(false)
    }),
    { numRuns: 50 },
  )
})

it('commits with a fresh salt, or with the one it is given', () => {
  const content = { name: 'args', bytes: Buffer.from('yes'), keep: true }
  const first = commit(content)
  const second = commit(content)
  expect(first.commitment).not.toBe(second.commitment)
  expect(commit({ ...content, salt: first.salt }).commitment).toBe(first.commitment)
  expect(first.commitment).toBe(
    createHmac('sha256', first.salt).update('spanseal/commit/v1\0args\0yes').digest('base64'),
  )
  expect(commit({ ...content, keep: false }).kept).toBeUndefined()
})

it('writes a checkpoint whose signature is over its text and whose key id is the verifier key’s', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  const note = signCheckpoint('spanseal.log/x', 3, Buffer.alloc(32, 7), privateKey, raw)
  const [body = '', line = ''] = note.split(/\n(?=— )/)
  const blob = Buffer.from(line.trim().split(' ')[2] ?? '', 'base64')
  expect(verify(null, Buffer.from(body), publicKey, blob.subarray(4))).toBe(true)
  expect(body.endsWith('\n')).toBe(true)
  expect(verifierKey('spanseal.log/x', raw).split('+')[1]).toBe(blob.subarray(0, 4).toString('hex'))
})
