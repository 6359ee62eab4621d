// What tokens cost by the table: which price is taken of several, what a model without one costs, how names are read.
import { expect, it, test } from 'vitest'
import { PRICE_ENTRY } from '../../conventions/price-entry.ts'
import { PriceTable, plainName } from '../../conventions/prices.ts'

const shipped = new PriceTable()
const NOW = Date.parse('2026-11-30T12:00:00Z')
const own = (...entries: object[]) => new PriceTable(entries.map((entry) => PRICE_ENTRY.parse(entry)))
const MILLION = { input: 1_000_000, output: 0 }
/** Of a million uncached input tokens, in USD. */
const dollars = (table: PriceTable, model: string, time = NOW) => {
  const cost = table.costOf(model, MILLION, time)
  return cost === null ? null : cost / 1e9
}

it('prices each kind of tokens by itself, in whole nano-USD', () => {
  // Opus 5.5: 4 in, 20 out, 0.20 read, 5 written, 8 written for an hour.
  const spent = { input: 23_687, output: 327, cache_read: 15_030, cache_write: 8_655 }
  expect(shipped.costOf('claude-opus-5-5', spent, NOW)).toBe(2 * 4000 + 327 * 20_000 + 15_030 * 200 + 8_655 * 5000)
  expect(shipped.costOf('claude-opus-5-5', { ...spent, cache_write_1h: 8_000 }, NOW)).toBe(
    2 * 4000 + 327 * 20_000 + 15_030 * 200 + 655 * 5000 + 8_000 * 8000,
  )
})

it('has no cost for a model it has no price of, which is not 0', () => {
  for (const model of ['llama-9', 'gpt-5.4-nano-next', 'claude', '']) expect(dollars(shipped, model), model).toBeNull()
  expect(own({ model: 'local', input: 0, output: 0 }).costOf('local', MILLION, NOW)).toBe(0)
})

it('is never below 0, whatever a sender says of its cache', () => {
  expect(shipped.costOf('gpt-5', { input: 10, output: 0, cache_read: 100 }, NOW)).toBe(100 * 125)
})

test.each([
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  ['claude-opus-4-6[1m]', 'claude-opus-4-6'],
  ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['gemini-3-pro-preview', 'gemini-3-pro'],
  ['gemini-2.5-pro-preview-05-06', 'gemini-2.5-pro'],
  ['gpt-5-2025-08-07', 'gpt-5'],
  ['Claude-3-5-Haiku-Latest', 'claude-3-5-haiku'],
  ['deepseek-v3', 'deepseek-v3'],
])('reads %s as %s', (model, plain) => {
  expect(plainName(model)).toBe(plain)
})

it('takes the price of the day, and the one for long inputs above its bound', () => {
  const read = (time: string) =>
    shipped.costOf('claude-sonnet-5-5', { input: 100, output: 0, cache_read: 100 }, Date.parse(time))
  expect(read('2026-10-06T23:59:59Z')).toBe(20_000)
  expect(read('2026-10-07T00:00:00Z')).toBe(10_000)
  const haiku = (input: number) => shipped.costOf('claude-haiku-5-5', { input, output: 1 }, NOW)
  expect(haiku(100_000)).toBe(100_000 * 100 + 500)
  expect(haiku(100_001)).toBe(100_001 * 500 + 2500)
})

it('takes the person’s own price over ours, a name over a beginning, and ours before theirs begins', () => {
  const table = own(
    { model: 'claude-opus-*', input: 1, output: 1 },
    { model: 'claude-opus-5-5', input: 2, output: 2 },
    { model: 'claude-opus-5-5', from: '2026-12-01', input: 3, output: 3 },
    { model: 'gpt-5', from: '2026-12-01', input: 9, output: 9 },
    { model: 'vendor/our-model', input: 7, output: 7 },
  )
  expect(dollars(table, 'claude-opus-4-8')).toBe(1)
  expect(dollars(table, 'claude-opus-5-5')).toBe(2)
  expect(dollars(table, 'claude-opus-5-5', Date.parse('2026-12-01'))).toBe(3)
  expect(dollars(table, 'gpt-5')).toBe(1.25)
  expect(dollars(table, 'gpt-5', Date.parse('2026-12-01'))).toBe(9)
  expect(dollars(table, 'our-model')).toBe(7)
})
