// One answer for every signature, whatever library: the published vectors, and another implementation.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as noble from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { describe, expect, it } from 'vitest'
import { ed25519Key, ed25519KeyOfSpki, verifyEd25519, verifyEd25519Async } from '../../collector/verify/ed25519.ts'
import * as browser from '../../collector/verify/html/ed25519.ts'
import { keyOfSeed, signBytes } from './support.ts'

noble.hashes.sha512 = sha512

const read = (name: string) =>
  JSON.parse(readFileSync(`${import.meta.dirname}/../fixtures/tlog/ed25519/${name}`, 'utf8'))
const bytes = (hex: string) => Buffer.from(hex, 'hex')

/** What node:crypto answers under the profile; the browser's @noble/ed25519 must answer the same, whatever is asked. */
function verifies(publicKey: string, message: Uint8Array, signature: string): boolean {
  const key = ed25519Key(bytes(publicKey))
  const here = key !== null && verifyEd25519(key, message, bytes(signature))
  const pageKey = browser.ed25519Key(bytes(publicKey))
  expect(pageKey !== null && browser.verifyEd25519(pageKey, message, bytes(signature))).toBe(here)
  return here
}

describe('RFC 8032', () => {
  for (const { pub, msg, sig } of read('rfc8032.json')) {
    it(`accepts the test of ${pub.slice(0, 8)}, and no change of it`, () => {
      expect(verifies(pub, bytes(msg), sig)).toBe(true)
      expect(verifies(pub, Buffer.concat([bytes(msg), Buffer.alloc(1)]), sig)).toBe(false)
      const changed = bytes(sig)
      changed[40] = (changed[40] ?? 0) ^ 1
      expect(verifies(pub, bytes(msg), changed.toString('hex'))).toBe(false)
    })
  }
})

describe('Wycheproof', () => {
  const groups: { publicKey: { pk: string }; tests: { tcId: number; msg: string; sig: string; result: string }[] }[] =
    read('wycheproof_ed25519_test.json').testGroups
  const cases = groups.flatMap(({ publicKey, tests }) => tests.map((test) => ({ ...test, pk: publicKey.pk })))

  it('has all its 151 cases answered as it says', () => {
    expect(cases).toHaveLength(151)
    const wrong = cases.filter(({ pk, msg, sig, result }) => verifies(pk, bytes(msg), sig) !== (result === 'valid'))
    expect(wrong.map(({ tcId }) => tcId)).toEqual([])
  })

  it('agrees with the other implementation', () => {
    for (const { pk, msg, sig } of cases) {
      const other = sig.length === 128 && noble.verify(bytes(sig), bytes(msg), bytes(pk), { zip215: false })
      expect(verifies(pk, bytes(msg), sig)).toBe(other)
    }
  })
})

describe('CCTV', () => {
  const cases: { number: number; key: string; sig: string; msg: string; flags: string[] | null }[] =
    read('cctv_ed25519vectors.json')
  const REFUSED = ['low_order_A', 'low_order_R', 'non_canonical_A', 'non_canonical_R', 'low_order_residue']

  it('accepts exactly the 43 of 914 without a doubtful point', () => {
    expect(cases).toHaveLength(914)
    const accepted = cases.filter(({ key, sig, msg }) => verifies(key, Buffer.from(msg), sig))
    const expected = cases.filter(({ flags }) => !flags?.some((flag) => REFUSED.includes(flag)))
    expect(expected).toHaveLength(43)
    expect(accepted.map(({ number }) => number)).toEqual(expected.map(({ number }) => number))
  })

  it('accepts nothing that the other implementation refuses', () => {
    const accepted = cases.filter(({ key, sig, msg }) => verifies(key, Buffer.from(msg), sig))
    for (const { key, sig, msg } of accepted) {
      expect(noble.verify(bytes(sig), Buffer.from(msg), bytes(key), { zip215: false })).toBe(true)
    }
  })
})

describe('the cases of eprint 2020/1244', () => {
  it('refuses small order, other spellings and S beyond the order', () => {
    const cases: { message: string; pub_key: string; signature: string }[] = read('noble-edge-cases.json')
    expect(cases).toHaveLength(12)
    // Case 3 has mixed-order points and no small-order part in the equation without the cofactor: a plain valid signature.
    const accepted = cases.map(({ message, pub_key, signature }) => verifies(pub_key, bytes(message), signature))
    expect(accepted.flatMap((yes, i) => (yes ? [i] : []))).toEqual([3])
  })
})

describe('keys and signatures of other sizes', () => {
  const key = keyOfSeed(7)

  it('refuses keys that are not 32 bytes, and SPKI that is not exactly RFC 8410', () => {
    expect(ed25519Key(key.raw.subarray(1))).toBeNull()
    expect(ed25519KeyOfSpki(key.spki)).not.toBeNull()
    expect(browser.ed25519KeyOfSpki(key.spki)?.raw).toEqual(ed25519KeyOfSpki(key.spki)?.raw)
    expect(ed25519KeyOfSpki(Buffer.concat([key.spki, Buffer.alloc(1)]))).toBeNull()
    expect(browser.ed25519Key(key.raw.subarray(1))).toBeNull()
    expect(browser.ed25519KeyOfSpki(Buffer.concat([key.spki, Buffer.alloc(1)]))).toBeNull()
    const otherCurve = Buffer.from(key.spki)
    otherCurve[8] = 0x6f
    expect(ed25519KeyOfSpki(otherCurve)).toBeNull()
  })

  it('answers the same on the thread pool', async () => {
    const known = ed25519Key(key.raw)
    if (known === null) throw new Error('the key of the test is not accepted')
    const message = Buffer.from(hash('sha256', 'record', 'hex'))
    const signature = signBytes(message, key)
    const signed = Buffer.concat([
      Buffer.from(`DSSEv1 39 application/vnd.spanseal.record.v1+json ${message.length} `),
      message,
    ])
    expect(await verifyEd25519Async(known, signed, signature)).toBe(verifyEd25519(known, signed, signature))
    expect(await verifyEd25519Async(known, signed, signature.subarray(1))).toBe(false)
    expect(await verifyEd25519Async(known, message, signature)).toBe(false)
    const inPage = browser.ed25519Key(key.raw)
    expect(inPage !== null && (await browser.verifyEd25519Async(inPage, signed, signature))).toBe(true)
  })
})
