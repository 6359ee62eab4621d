// Cost in the views: what conventions/prices.ts says of each call, exact, and nothing where a model has no price.
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readImport } from '../../collector/receive/otlp/import.ts'
import { type IndexDatabase, openIndexDirect } from '../../collector/store/index/database.ts'
import { PRICE_ENTRY } from '../../conventions/price-entry.ts'
import { PriceTable, type Spent } from '../../conventions/prices.ts'
import { type Entry, LogFixture, RUN } from './index-log.ts'

let log: LogFixture
let index: IndexDatabase | undefined
beforeEach(() => {
  log = new LogFixture()
})
afterEach(async () => {
  await index?.close()
  log.remove()
})

async function open(entries: Entry[], prices = new PriceTable()): Promise<IndexDatabase> {
  log.addAll(entries)
  index = await openIndexDirect({ ...log.options, readImport, prices })
  return index
}

const run = { id: RUN, part: 0 }
const opened: Entry = {
  type: 'run.opened',
  run,
  body: { session: 's1', agent: 'claude-code', ordinal: 0, mode: 'enforce', fail_mode: 'closed', reason: 'startup' },
}
let offset = 0
const message = (id: string, model: string, usage: Spent, sub?: string): Entry<'model.message'> => ({
  type: 'model.message',
  run,
  source: { kind: 'transcript' },
  body: {
    turn: 't1',
    ...(sub === undefined ? {} : { sub }),
    kind: 'text',
    model,
    message: id,
    offset: ++offset,
    usage: JSON.parse(JSON.stringify(usage)),
  },
})

/** A call of a model as a third party tells it. */
function told(session: string, model: string, input: string, output = '0'): Entry {
  const attribute = (key: string, value: object) => ({ key, value })
  const span = {
    traceId: '1'.repeat(32),
    spanId: Buffer.from(model.padEnd(8).slice(0, 8)).toString('hex'),
    name: `chat ${model}`,
    kind: 3,
    startTimeUnixNano: '1796040000000000000',
    endTimeUnixNano: '1796040001000000000',
    attributes: [
      attribute('gen_ai.operation.name', { stringValue: 'chat' }),
      attribute('gen_ai.provider.name', { stringValue: 'x' }),
      attribute('gen_ai.conversation.id', { stringValue: session }),
      attribute('gen_ai.request.model', { stringValue: model }),
      attribute('gen_ai.usage.input_tokens', { intValue: input }),
      attribute('gen_ai.usage.output_tokens', { intValue: output }),
    ],
  }
  const bytes = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }))
  const counts = { count: 1, rejected: 0, encoding: 'json', bytes: bytes.length, spoofed: 0 } as const
  return { type: 'spans.imported', source: { kind: 'otlp' }, body: counts, contents: [{ name: 'body', bytes }] }
}

it('prices each message once by its kinds of tokens, per model and sub-agent', async () => {
  const db = await open([
    opened,
    message('m1', 'claude-opus-5-5', { input: 23_687, output: 9, cache_read: 15_030, cache_write: 8_655 }),
    message('m1', 'claude-opus-5-5', { input: 0, output: 318 }),
    message('m2', 'claude-haiku-5-5', { input: 100_001, output: 1 }, 'a1'),
    message('m3', 'nobody-knows', { input: 5, output: 6 }),
  ])
  const opus = 2 * 4000 + 327 * 20_000 + 15_030 * 200 + 8_655 * 5000
  const haiku = 100_001 * 500 + 2500
  expect(
    await db.query(
      'SELECT model, sub, messages, output_tokens, cost_nano_usd, unpriced_tokens FROM usage ORDER BY model',
    ),
  ).toEqual([
    { model: 'claude-haiku-5-5', sub: 'a1', messages: 1, output_tokens: 1, cost_nano_usd: haiku, unpriced_tokens: 0 },
    { model: 'claude-opus-5-5', sub: null, messages: 1, output_tokens: 327, cost_nano_usd: opus, unpriced_tokens: 0 },
    // No price is no cost, not a cost of 0.
    { model: 'nobody-knows', sub: null, messages: 1, output_tokens: 6, cost_nano_usd: null, unpriced_tokens: 11 },
  ])
  expect(
    await db.query('SELECT tier, model, cost_nano_usd, unpriced_tokens FROM session_usage ORDER BY model'),
  ).toEqual([
    { tier: 'T1', model: 'claude-haiku-5-5', cost_nano_usd: haiku, unpriced_tokens: 0 },
    { tier: 'T1', model: 'claude-opus-5-5', cost_nano_usd: opus, unpriced_tokens: 0 },
    { tier: 'T1', model: 'nobody-knows', cost_nano_usd: null, unpriced_tokens: 11 },
  ])
})

it('prices what others tell beside it, and never adds the two of one session', async () => {
  const db = await open([
    opened,
    message('m1', 'claude-opus-5-5', { input: 10, output: 1 }),
    told('s1', 'claude-opus-5-5', '10', '1'),
    told('other', 'gpt-5-2025-08-07', '1000'),
    told('other', 'nobody-knows', '9007199254740991', '9'),
  ])
  const t3 = await db.query('SELECT session, model, cost_nano_usd, unpriced_tokens FROM model_calls ORDER BY model')
  expect(t3).toEqual([
    { session: 's1', model: 'claude-opus-5-5', cost_nano_usd: 60_000, unpriced_tokens: 0 },
    { session: 'other', model: 'gpt-5-2025-08-07', cost_nano_usd: 1_250_000, unpriced_tokens: 0 },
    { session: 'other', model: 'nobody-knows', cost_nano_usd: null, unpriced_tokens: expect.anything() },
  ])
  expect(
    await db.query('SELECT tier, session, cost_nano_usd FROM session_usage WHERE cost_nano_usd > 0 ORDER BY tier'),
  ).toEqual([
    { tier: 'T1', session: 's1', cost_nano_usd: 60_000 },
    { tier: 'T3', session: 'other', cost_nano_usd: 1_250_000 },
  ])
  expect(await db.query("SELECT cost_nano_usd FROM imported_runs WHERE run = 'other'")).toEqual([
    { cost_nano_usd: 1_250_000 },
  ])
})

it('says what the table of this start says, and by which table', async () => {
  const first = await open([opened, message('m1', 'claude-opus-5-5', { input: 10, output: 0 })])
  const cost = 'SELECT cost_nano_usd AS cost FROM usage'
  const [shipped] = await first.query('FROM price_table')
  expect(await first.query(cost)).toEqual([{ cost: 40_000 }])
  await first.close()
  const own = new PriceTable([PRICE_ENTRY.parse({ model: 'claude-opus*', input: 1.001, output: 0 })])
  const second = await open([], own)
  expect(await second.query(cost)).toEqual([{ cost: 10_010 }])
  const [changed] = await second.query('FROM price_table')
  expect(changed).toMatchObject({ own: 1, dated: own.dated })
  expect(changed?.hash).not.toBe(shipped?.hash)
})

it('agrees with conventions/prices.ts on any call', async () => {
  const prices = new PriceTable([
    PRICE_ENTRY.parse({ model: 'gpt-5*', input: 3, output: 4 }),
    PRICE_ENTRY.parse({
      model: 'our/model',
      input: 1,
      output: 2,
      from: '2026-11-30',
      above: { tokens: 50, input: 7, output: 8 },
    }),
    PRICE_ENTRY.parse({ model: 'too-late', input: 1, output: 2, from: '2999-01-01' }),
  ])
  const model = fc.constantFrom(
    'claude-sonnet-4-5-20250929',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic/claude-3.5-haiku',
    'claude-opus-4-6[1m]',
    'claude-haiku-5-5',
    'Gemini-3-Pro-Preview',
    'gpt-5-whatever',
    'gpt-5.4',
    'our/model',
    'too-late',
    "it's none",
    'claude-',
  )
  const usage = fc.record({
    input: fc.nat(300_000),
    output: fc.nat(9_000),
    cache_read: fc.option(fc.nat(100_000), { nil: undefined }),
    cache_write: fc.option(fc.nat(100_000), { nil: undefined }),
    cache_write_1h: fc.option(fc.nat(100_000), { nil: undefined }),
  })
  const calls = fc.sample(fc.tuple(model, usage), 300)
  const db = await open([opened, ...calls.map(([name, spent], i) => message(`m${i}`, name, spent))], prices)
  const rows = await db.query(
    'SELECT model, cost_nano_usd, time FROM (SELECT model, sum(cost_nano_usd) AS cost_nano_usd FROM usage GROUP BY model) JOIN (SELECT model, min(time) AS time FROM messages GROUP BY model) USING (model)',
  )
  expect(rows.length).toBeGreaterThan(10)
  for (const row of rows) {
    const costs = calls
      .filter(([name]) => name === row.model)
      .map(([name, spent]) => prices.costOf(name, spent, Date.parse(String(row.time))))
    const expected = costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0)
    expect(row.cost_nano_usd, String(row.model)).toBe(expected)
  }
})
