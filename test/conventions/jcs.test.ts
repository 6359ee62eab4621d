// Canonical bytes: the reference files of RFC 8785, the published numbers, and that canonical text is a fixed point.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonical, canonicalBytes } from '../../conventions/jcs.ts'
import { type Json, parseStrict } from '../../conventions/strict-json.ts'

const DIR = `${import.meta.dirname}/../fixtures/tlog/jcs`

describe('the reference files', () => {
  const names = readdirSync(`${DIR}/input`)

  it('are all there', () => expect(names).toHaveLength(6))

  it.each(names)('%s', (name) => {
    const result = parseStrict(readFileSync(`${DIR}/input/${name}`))
    if (!result.ok) throw new Error(result.error.message)
    const hex = readFileSync(`${DIR}/outhex/${name.replace('.json', '.txt')}`, 'utf8').replace(/\s/g, '')
    expect(Buffer.from(canonicalBytes(result.value)).toString('hex')).toBe(hex)
    expect(canonical(result.value)).toBe(readFileSync(`${DIR}/output/${name}`, 'utf8'))
  })
})

describe('numbers', () => {
  const text = readFileSync(`${DIR}/es6numbers-1000.txt`, 'utf8')

  it('are the published ones', () => {
    expect(createHash('sha256').update(text).digest('hex')).toBe(
      'be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687',
    )
  })

  it('have the published text, all 1,000', () => {
    const lines = text.trim().split('\n')
    expect(lines).toHaveLength(1_000)
    for (const line of lines) {
      const [hex = '', expected] = line.split(',')
      const bytes = Buffer.from(hex.padStart(16, '0'), 'hex')
      expect(canonical(bytes.readDoubleBE())).toBe(expected)
    }
  })
})

describe('any value', () => {
  it('has one canonical text, which means the same and is its own canonical text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = canonical(value as Json)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonical(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse())
        expect(canonical(reversed)).toBe(canonical(value))
      }),
    )
  })

  it('sorts by UTF-16 units and normalises nothing', () => {
    expect(canonical({ '\ufb33': 1, '😀': 2 })).toBe('{"😀":2,"\ufb33":1}')
    expect(canonical({ '\u00e9': 1, 'e\u0301': 2 })).toBe('{"e\u0301":2,"\u00e9":1}')
  })
})

describe('what is not plain JSON', () => {
  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['half a surrogate pair', '\ud800'],
    ['a key of half a pair', { '\udc00': 1 }],
    ['undefined in an object', { a: undefined }],
    ['a hole in an array', Object.assign([1], { length: 2 })],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(2)],
    ['a function', () => 1],
    ['a bigint', 1n],
  ])('is refused: %s', (_, value) => {
    expect(() => canonical(value as unknown as Json)).toThrow(TypeError)
  })
})
