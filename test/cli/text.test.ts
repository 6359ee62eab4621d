import fc from 'fast-check'
import { expect, test } from 'vitest'
import { painter, table } from '../../collector/cli/output.ts'
import { shorten, visible, visibleLines } from '../../collector/cli/text.ts'
import { clock, counted, dateTime, duration } from '../../collector/cli/times.ts'

test('no text of somebody else moves the cursor, changes colours, hides or turns anything', () => {
  expect(visible('\x1b[2J\x1b]0;owned\x07 ok')).toBe('\\e[2J\\e]0;owned\\x07 ok')
  expect(visible('a\nb\tc\rd\0')).toBe('a\\nb\\tc\\rd\\x00')
  expect(visible('safe\u202egpj.exe')).toBe('safe\\u{202e}gpj.exe')
  expect(visible('zero\u200bwidth, tag \u{e0041}')).toBe('zero\\u{200b}width, tag \\u{e0041}')
  expect(visible('\x9b31m')).toBe('\\x9b31m')
  expect(visible('half \ud800 pair')).toBe('half \\u{d800} pair')
  expect(visible('Grüße 🌍 日本語')).toBe('Grüße 🌍 日本語')
})

test('whatever the text, nothing but printable characters is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(text)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u)
    }),
  )
})

test('lines stay lines, and only they', () => {
  expect(visibleLines('a\r\nb\n\x1b[1mc\td')).toEqual(['a', 'b', '\\e[1mc    d'])
})

test('cutting marks the cut and halves no character', () => {
  expect(shorten('abcdef', 6)).toBe('abcdef')
  expect(shorten('abcdefg', 6)).toBe('abcde…')
  expect(shorten('🌍🌍🌍', 2)).toBe('🌍…')
})

test('a table is aligned, numbers to the right, also with wide characters', () => {
  expect(
    table(
      ['NAME', 'N'],
      [
        ['日本', 5],
        ['a\x1b[0m', 1234],
      ],
    ),
  ).toBe('NAME       N\n日本       5\na\\e[0m  1234\n')
  expect(table(['A', 'B'], [])).toBe('A  B\n')
})

test('colours only where somebody sees them', () => {
  const plain = (env: NodeJS.ProcessEnv, terminal: boolean) => painter(env, terminal)('red', 'x') === 'x'
  expect(plain({}, true)).toBe(false)
  expect(plain({}, false)).toBe(true)
  expect(plain({ NO_COLOR: '1' }, true)).toBe(true)
  expect(plain({ FORCE_COLOR: '1' }, false)).toBe(false)
  expect(plain({ FORCE_COLOR: '1', NO_COLOR: '1' }, false)).toBe(true)
})

test('times in words', () => {
  expect([0, 365, 1234, 185_000, 7_440_000].map(duration)).toEqual([
    '0 ms',
    '365 ms',
    '1.2 s',
    '3 min 5 s',
    '2 h 4 min',
  ])
  expect([dateTime('2026-11-30T17:48:28.861Z'), clock('2026-11-30T17:48:28.861Z'), dateTime(null)]).toEqual([
    '2026-11-30 17:48:28',
    '17:48:28',
    '',
  ])
  expect([counted(1, 'call'), counted(2, 'call'), counted(0, 'entry', 'entries')]).toEqual([
    '1 call',
    '2 calls',
    '0 entries',
  ])
})
