// The config file: every error at once with its field, never an exception, never a silent default for a broken file.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Config, configText, parseConfig } from '../collector/config.ts'
import { Ids } from '../collector/record/ids.ts'
import { configHash } from '../collector/reload.ts'

it('has defaults, and comes back from its own text', () => {
  const read = parseConfig('version: 1')
  if (!read.ok) throw new Error(read.errors.join())
  expect(read.config.otlp.port).toBe(4318)
  expect(parseConfig(configText(read.config))).toEqual(read)
})

it('names every field that can not be used', () => {
  const read = parseConfig(
    'version: 2\notlp: {port: 99999}\nforward: [{name: "A B", url: "ftp://x"}]\napps: [{name: a, kind: x, token_sha256: y}]\nextra: 1',
  )
  if (read.ok) throw new Error('it was taken')
  for (const field of [
    'version',
    'otlp.port',
    'forward.0.name',
    'forward.0.url',
    'apps.0.kind',
    'apps.0.token_sha256',
    'extra',
  ]) {
    expect(read.errors.join('\n'), field).toContain(field)
  }
})

it('takes prices and comes back from its own text with them', () => {
  const above = 'above: {tokens: 200000, input: 6, output: 22.5}'
  const read = parseConfig(
    `version: 1\nprices: [{model: "qwen*", input: 0.3, output: 1.2}, {model: a, from: 2027-01-01, input: 3, output: 15, ${above}}]`,
  )
  if (!read.ok) throw new Error(read.errors.join())
  expect(read.config.prices[1]).toMatchObject({
    from: '2027-01-01',
    input: 3,
    above: { tokens: 200_000, output: 22.5 },
  })
  expect(parseConfig(configText(read.config))).toEqual(read)
})

it.each([
  ['{model: a, output: 1}', 'prices.0.input: must be a number of USD for a million tokens'],
  ['{model: a, input: 0.0001, output: 1}', 'prices.0.input: must have at most three decimals'],
  ['{model: a, input: -1, output: 1}', 'prices.0.input: must not be below 0'],
  ['{model: a, input: 1e9, output: 1}', 'prices.0.input: must be USD for a million tokens, at most 100000'],
  ['{model: "*a", input: 1, output: 1}', 'prices.0.model: must be the name of a model, or its beginning'],
  ['{model: a, input: 1, output: 1, from: soon}', 'prices.0.from: must be a day such as 2026-12-01'],
  ['{model: a, input: 1, output: 1, cache_raed: 1}', 'prices.0: Unrecognized key: "cache_raed"'],
  ['{model: a, input: 1, output: 1, above: {input: 1, output: 1}}', 'prices.0.above.tokens: '],
])('refuses the price %s', (price, error) => {
  const read = parseConfig(`version: 1\nprices: [${price}]`)
  expect(read.ok ? [] : read.errors).toEqual([expect.stringContaining(error)])
})

it('never throws on any text', () => {
  for (const text of ['', '*a', '&a [*a]', 'a: [', '- 1', 'null', '"']) parseConfig(text)
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void parseConfig(text)))
})

it('has a hash that only this home can make, and that any change changes', () => {
  const read = parseConfig('version: 1\nforward: [{name: a, url: "http://x", headers: {authorization: Basic YTpi}}]')
  if (!read.ok) throw new Error(read.errors.join())
  const [home, other] = [new Ids(Buffer.alloc(32, 1)), new Ids(Buffer.alloc(32, 2))]
  const hash = configHash(read.config, home)
  expect(configHash(read.config, home)).toBe(hash)
  // Without the key nobody can try out which header it was.
  expect(configHash(read.config, other)).not.toBe(hash)
  const guessed = structuredClone(read.config) as Config
  for (const destination of guessed.forward) destination.headers.authorization = 'Basic YTpj'
  expect(configHash(guessed, home)).not.toBe(hash)
})
