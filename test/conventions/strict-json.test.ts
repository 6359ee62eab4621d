// One meaning per input: what a strict parser refuses, with which code, and that it agrees with the engine's parser elsewhere.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonical } from '../../conventions/jcs.ts'
import { parseStrict } from '../../conventions/strict-json.ts'

const FIXTURE = `${import.meta.dirname}/../fixtures/tlog/jcs/strict-reject.json`
const {
  cases,
  accept,
}: { cases: { input_hex: string; error: string }[]; accept: { input: string; canonical: string }[] } = JSON.parse(
  readFileSync(FIXTURE, 'utf8'),
)

/** The same value with ordinary prototypes, so that it can be compared. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

describe('refusals', () => {
  it.each(cases)('$error of $input_hex', ({ input_hex, error }) => {
    expect(parseStrict(Buffer.from(input_hex, 'hex'))).toMatchObject({ ok: false, error: { code: error } })
  })

  it('say where, in words', () => {
    expect(parseStrict('{"a":1,"a":2}')).toEqual({
      ok: false,
      error: { code: 'duplicate_key', at: 10, message: 'the key "a" appears twice (at character 10)' },
    })
  })

  it('cover duplicate keys at any depth, and in any spelling', () => {
    for (const text of [
      '[{"x":{"a":1,"a":1}}]',
      '{"\\u0061":1,"a":2}',
      '{"__proto__":1,"__proto__":2}',
      '{"":1,"":1}',
    ]) {
      expect(parseStrict(text)).toMatchObject({ ok: false, error: { code: 'duplicate_key' } })
    }
  })

  it('leave depth 64 and refuse depth 65, without running out of stack', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}0${']'.repeat(depth)}`
    expect(parseStrict(nested(64)).ok).toBe(true)
    for (const depth of [65, 200_000])
      expect(parseStrict(nested(depth))).toMatchObject({ ok: false, error: { code: 'depth' } })
  })

  it('never throw, whatever the bytes', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"',
        ':',
        ',',
        '\\u',
        'd800',
        '-',
        '0',
        '1e9',
        'null',
        'tru',
        ' ',
        '\n',
        '\0',
        'é',
      ),
      { maxLength: 40 },
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void parseStrict(bytes)))
    fc.assert(
      fc.property(pieces, (parts) => void parseStrict(parts.join(''))),
      { numRuns: 500 },
    )
  })

  it('cover everything the engine refuses', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"a"',
        '"',
        ':',
        ',',
        '-',
        '0',
        '1',
        '.',
        'e5',
        'null',
        'true',
        ' ',
        '\t',
        '\\n',
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('')
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        if (!valid) expect(parseStrict(text).ok).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('what is accepted', () => {
  it.each(accept)('$input', ({ input, canonical: expected }) => {
    const result = parseStrict(input)
    if (!result.ok) throw new Error(result.error.message)
    expect(canonical(result.value)).toBe(expected)
  })

  it('is what the engine reads, for any value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const result = parseStrict(text)
        if (result.ok) expect(plain(result.value)).toEqual(JSON.parse(text))
        else expect(['int_range', 'negative_zero', 'lone_surrogate', 'duplicate_key']).toContain(result.error.code)
      }),
    )
  })

  it('keeps the exact text of each top-level value', () => {
    const result = parseStrict('{"a": {"x" :[1, 2]} , "b":"\\u0041","c":1.50}')
    expect(result.ok && [...result.raw]).toEqual([
      ['a', '{"x" :[1, 2]}'],
      ['b', '"\\u0041"'],
      ['c', '1.50'],
    ])
  })

  it('has no prototype: a key is only a key', () => {
    const result = parseStrict('{"__proto__":{"polluted":true},"constructor":1}')
    expect(result.ok && Object.keys(result.value as object)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('can hold large integers and -0 as the nearest double where the caller keeps the text', () => {
    const text = '{"a":9007199254740993,"b":-0}'
    expect(parseStrict(text).ok).toBe(false)
    const result = parseStrict(text, { looseNumbers: true })
    expect(result.ok && plain(result.value)).toEqual({ a: 9007199254740992, b: 0 })
    expect(result.ok && result.raw.get('a')).toBe('9007199254740993')
  })
})
