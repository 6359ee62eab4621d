// A pattern is tried only where its anchor is found: so no text may hold a match without the anchor of its kind.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anchorsOf, assignment } from '../../collector/record/anchors.ts'
import { KINDS } from '../../collector/record/redact.ts'

const HEADS = [
  ...[
    'AKIA',
    'ASIA',
    'ghp_',
    'gho_',
    'ghu_',
    'ghs_',
    'ghr_',
    'github_pat_',
    'glpat-',
    'sk-ant-',
    'sk-',
    'sk-proj-',
    'AIza',
  ],
  ...[
    'xoxa-',
    'xoxb-',
    'xoxe-',
    'xoxo-',
    'xoxp-',
    'xoxr-',
    'xoxs-',
    'sk_live_',
    'rk_live_',
    'sk_test_',
    'rk_test_',
    'npm_',
  ],
  ...[
    'eyJ',
    'Bearer ',
    'bAsIc\t',
    'bearer\n',
    'basic',
    'https://',
    'postgres://user:',
    '://:',
    'PASSWORD',
    'Passwd',
    'secret',
  ],
  ...[
    'TOKEN',
    'api_key',
    'ApiKey',
    'private_key',
    'PrivateKey',
    'credential',
    'CREDENTIALS',
    'aws_secret_access_key',
    'awsSecretKey',
  ],
]
const name = fc.string({ unit: fc.constantFrom(...'AZ09_az'), maxLength: 22 })
const VALUES = ['A1', 'aZ09', 'a-Z_9'].flatMap((unit) =>
  [16, 20, 35, 36, 40].map((length) => unit.repeat(20).slice(0, length)),
)
const value = fc.oneof(
  fc.constantFrom(...VALUES, '0123456789abcdef.0123456789.0123456789', 'hunter2hunter2@'),
  fc.string({ maxLength: 12 }),
)
const sign = fc.oneof(
  fc.constantFrom('', ' ', '=', ': "', '\n', '\\n', '" : \\"'),
  fc.string({ unit: fc.constantFrom(...'"\'\\ \t\n:=@'), maxLength: 12 }),
)
const head = fc.constantFrom(...HEADS)
const part = fc.oneof(
  fc.tuple(sign, head, value, sign),
  fc.tuple(sign, head, fc.oneof(name, fc.constant('')), sign, value, sign),
)
const text = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.flat().join(''))

/** One of each kind, whatever chance brings. */
const EXAMPLES = [
  `AKIA${'A1'.repeat(8)}`,
  `aws_secret_access_key = ${'aZ09'.repeat(10)}`,
  `ghp_${'aZ09'.repeat(5)}`,
  `glpat-${'aZ09'.repeat(5)}`,
  `sk-ant-${'aZ09'.repeat(5)}`,
  `AIza${'aZ09'.repeat(9).slice(0, 35)}`,
  `xoxb-${'aZ09'.repeat(5)}`,
  `sk_live_${'aZ09'.repeat(5)}`,
  `npm_${'aZ09'.repeat(9)}`,
  'eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl',
  'Bearer abcdefghijklmnop',
  'postgres://app:hunter2@db',
  'DB_PASSWORD=hunter2hunter2',
]

it('every match of a kind has its anchor', () => {
  const met = new Map<string, number>()
  fc.assert(
    fc.property(text, (sample) => {
      const holds = anchorsOf(sample)
      for (const { name: kind, pattern, anchor } of KINDS) {
        if ([...sample.matchAll(pattern)].length === 0) continue
        met.set(kind, (met.get(kind) ?? 0) + 1)
        if (!holds(anchor)) throw new Error(`${kind} would have been missed`)
      }
    }),
    { numRuns: 5_000, examples: EXAMPLES.map((example): [string] => [example]) },
  )
  // The samples are no use where they hold nothing to miss.
  for (const { name: kind } of KINDS) expect([kind, (met.get(kind) ?? 0) > 0]).toEqual([kind, true])
})

it('an assigned value is found however far its sign is from the name, within what the patterns allow', () => {
  const holds = assignment(/SECRET/i)
  const farthest = `secret${'A'.repeat(20)}"'\\    `
  for (const around of ['', ':::::', 'a:b=c:'.repeat(50), 'x'.repeat(5_000)]) {
    expect(holds(`${around} ${farthest}: value`)).toBe(true)
    expect(holds(`${around} ${farthest}= value`)).toBe(true)
  }
  expect(holds(`a: 1, no name here, ${'x'.repeat(600)} b = 2`)).toBe(false)
})
