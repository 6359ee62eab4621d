// One text per byte string, and only that text is read back.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  equalBytes,
  fromBase64,
  fromBase64Url,
  fromHex,
  toBase64,
  toBase64Url,
  toHex,
} from '../../conventions/bytes.ts'

const any = fc.uint8Array({ maxLength: 100 })

describe('bytes as text', () => {
  it('come back, and agree with Node', () => {
    fc.assert(
      fc.property(any, (bytes) => {
        const node = Buffer.from(bytes)
        expect([toHex(bytes), toBase64(bytes), toBase64Url(bytes)]).toEqual([
          node.toString('hex'),
          node.toString('base64'),
          node.toString('base64url'),
        ])
        for (const back of [fromHex(toHex(bytes)), fromBase64(toBase64(bytes)), fromBase64Url(toBase64Url(bytes))]) {
          expect(back !== null && equalBytes(back, bytes)).toBe(true)
        }
      }),
    )
  })

  it('hold large values', () => {
    const bytes = new Uint8Array(200_000).fill(7)
    expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
  })

  it('are read from no other text: what is accepted is what is written', () => {
    const text = fc.string({ unit: fc.constantFrom(...'AaBb01+/-_= \n'), maxLength: 12 })
    fc.assert(
      fc.property(text, (value) => {
        for (const [read, write] of [
          [fromHex, toHex],
          [fromBase64, toBase64],
          [fromBase64Url, toBase64Url],
        ] as const) {
          const bytes = read(value)
          if (bytes !== null) expect(write(bytes)).toBe(value)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it.each(['AB', 'abc', 'zz', '0x00', ' 00'])('refuses hex %j', (text) => expect(fromHex(text)).toBeNull())
  it.each(['QQ', 'QR==', 'QQ=', 'QQ==\n', 'Q-==', 'QQ==QQ==', '===='])('refuses base64 %j', (text) =>
    expect(fromBase64(text)).toBeNull(),
  )
  it.each(['QQ==', 'QR', 'Q', 'Q+', 'Q Q'])('refuses base64url %j', (text) => expect(fromBase64Url(text)).toBeNull())

  it('are compared byte by byte', () => {
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true)
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false)
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1))).toBe(false)
  })
})
