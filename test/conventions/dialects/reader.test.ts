// What looks like JSON is told from its first characters: that must give what parsing gives.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from '../../../conventions/dialects/reader.ts'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r', '\u00a0', '\f'), maxLength: 2 })
const nearly = fc.oneof(
  fc.json(),
  fc.string(),
  fc.double().map(String),
  fc.constantFrom(
    'true',
    'false',
    'null',
    'truely',
    'nul',
    '-',
    '-0',
    '1e5',
    '1E+400',
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    '2026-01-01',
  ),
  fc.string({ unit: fc.constantFrom(...'[]{}",:0-+.eEtrufalsn \n'), maxLength: 8 }),
)

describe('parse', () => {
  it('gives what JSON.parse gives, and undefined where that throws', () => {
    fc.assert(
      fc.property(blank, nearly, blank, (before, text, after) => {
        const whole = before + text + after
        expect(parse(whole)).toEqual(parsed(whole))
      }),
      { numRuns: 3_000 },
    )
  })

  it('takes no text nested deeper than can be written again', () => {
    expect(parse('['.repeat(5_000) + ']'.repeat(5_000))).toBeUndefined()
    expect(parse(`"${'['.repeat(5_000)}"`)).toBe('['.repeat(5_000))
  })
})
