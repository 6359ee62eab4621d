// Reads conventions/registry/prices.yaml and generates what stands on it: the table that is shipped and the one in docs/usage.md.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import * as z from 'zod'
import { PRICE_ENTRY } from './price-entry.ts'

const schema = z.strictObject({
  providers: z.array(
    z.strictObject({
      provider: z.string(),
      dated: z.iso.date(),
      source: z.string(),
      models: z.array(PRICE_ENTRY),
    }),
  ),
})

const read = () => schema.parse(parse(readFileSync('conventions/registry/prices.yaml', 'utf8'))).providers

/** Text of conventions/shipped-prices.ts. Throws on a malformed file. */
export function pricesTable(): string {
  const providers = read()
  const [oldest = ''] = providers.map(({ dated }) => dated).sort()
  return [
    '// Generated from conventions/registry/prices.yaml by conventions/generate-prices.ts. Do not edit.',
    "import type { PriceEntry } from './price-entry.ts'",
    '',
    '/** The day on which the oldest of these prices was read. */',
    `export const PRICES_DATED = '${oldest}'`,
    '',
    '/** List prices, USD for a million tokens. */',
    '// biome-ignore format: one price a line',
    'export const SHIPPED_PRICES: readonly PriceEntry[] = [',
    ...providers.flatMap(({ models }) => models.map((entry) => `  ${literal(entry)},`)),
    ']',
    '',
  ].join('\n')
}

function literal(value: object): string {
  const parts = Object.entries(value).map(([key, part]) => {
    return `${key}: ${typeof part === 'object' ? literal(part) : typeof part === 'string' ? `'${part}'` : part}`
  })
  return `{ ${parts.join(', ')} }`
}

/** Text of docs/prices.md. */
export function pricesPage(head: string): string {
  const lines = [
    head,
    '',
    '# List prices',
    '',
    'USD for a million tokens, as cost is estimated from them: [usage.md](usage.md). In and out, read from a cache, written to it for five',
    'minutes and for an hour; “over” is for a call with more input tokens than that. A dash costs what it would without a cache.',
    '',
  ]
  for (const { provider, dated, source, models } of read()) {
    lines.push(`## ${provider}`, '', `Read on ${dated}: ${source}.`, '')
    lines.push(
      '| model | from | over | in | out | cache read | cache write | for an hour |',
      '|---|---|---|---|---|---|---|---|',
    )
    for (const { model, from = '', above, ...rates } of models) {
      lines.push(line(model, from, '', rates))
      if (above !== undefined) lines.push(line(model, from, String(above.tokens), above))
    }
    lines.push('')
  }
  return lines.join('\n')
}

type Rates = Pick<z.infer<typeof PRICE_ENTRY>, 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h'>

function line(model: string, from: string, over: string, rates: Rates): string {
  const { input, output, cache_read, cache_write, cache_write_1h } = rates
  const prices = [input, output, cache_read, cache_write, cache_write_1h].map((usd) =>
    usd === undefined ? '–' : String(usd),
  )
  return `| ${[`\`${model}\``, from, over, ...prices].join(' | ')} |`
}
