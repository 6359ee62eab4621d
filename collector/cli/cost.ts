// What runs used and what that cost by list prices: an estimate, and it says so wherever it stands.
import type { Json } from '../../conventions/strict-json.ts'
import type { Reader, Row } from './reader.ts'
import { visible } from './text.ts'

/** Which list prices an estimate stands on. */
export interface Prices {
  /** Of the whole table. */
  hash: string
  /** The day the oldest shipped price was read. */
  dated: string
  /** Prices of the person's own. */
  own: number
}

/** A run's tokens of one model in the session itself or in one sub-agent, as the view `usage` has them. */
export interface RunUsage {
  models: Row[]
  prices: Prices
}

export async function pricesOf(reader: Reader): Promise<Prices> {
  const [row] = await reader.query('SELECT hash, dated, own FROM price_table')
  return { hash: String(row?.hash ?? ''), dated: String(row?.dated ?? ''), own: Number(row?.own ?? 0) }
}

/** Rows without tokens are left out: a transcript that tells of none says nothing of cost. */
export async function usageOfRun(reader: Reader, runId: string): Promise<RunUsage> {
  const models = await reader.query(
    `SELECT sub, model, sum(messages) AS messages, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
       sum(reasoning_tokens) AS reasoning_tokens, sum(cost_nano_usd) AS cost_nano_usd, sum(unpriced_tokens) AS unpriced_tokens
     FROM usage WHERE run_id = ? AND input_tokens IS NOT NULL GROUP BY sub, model ORDER BY sub NULLS FIRST, model`,
    [runId],
  )
  return { models, prices: await pricesOf(reader) }
}

/** The runs with cost_nano_usd and unpriced_tokens; null where no token is known of. */
export async function withCosts(reader: Reader, runs: readonly Row[]): Promise<Row[]> {
  if (runs.length === 0) return []
  const ids = [...new Set(runs.map(({ run_id }) => String(run_id)))]
  const costs = await reader.query(
    `SELECT run_id, run_part, sum(cost_nano_usd) AS cost_nano_usd, sum(unpriced_tokens) AS unpriced_tokens FROM usage
     WHERE input_tokens IS NOT NULL AND run_id IN (SELECT unnest(string_split(?, ' '))) GROUP BY run_id, run_part`,
    [ids.join(' ')],
  )
  const known = new Map(costs.map((row) => [`${row.run_id} ${row.run_part}`, row]))
  return runs.map((run) => {
    const found = known.get(`${run.run_id} ${run.run_part}`)
    return { ...run, cost_nano_usd: found?.cost_nano_usd ?? null, unpriced_tokens: found?.unpriced_tokens ?? null }
  })
}

/** `~$0.0462`, `~$1.20 + no price`, `no price`, or nothing where no token is known of. */
export function costText({ cost_nano_usd: cost, unpriced_tokens: unpriced }: Row): string {
  const open = Number(unpriced ?? 0) > 0 ? 'no price' : ''
  return [cost === null || cost === undefined ? '' : `~${dollars(cost)}`, open].filter(Boolean).join(' + ')
}

/** Whole nano-USD, as the index gives them. */
function dollars(nano: Json): string {
  const usd = Number(nano) / 1e9
  if (usd > 0 && usd < 0.0001) return '$<0.0001'
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`
}

/** What every cost that is shown must say of itself. */
export function estimateText({ hash, dated, own }: Prices): string {
  const mine = own === 0 ? '' : `, ${own} of your own`
  return `cost is estimated from list prices of ${dated} or later (table ${hash}${mine}): not a bill`
}

/** Lines for a terminal: one for each model, and what the costs stand on. */
export function usageLines({ models, prices }: RunUsage): string[] {
  if (models.length === 0) return []
  const lines = models.map((row) => {
    const where = row.sub === null ? '' : ` in sub-agent ${visible(String(row.sub))}`
    const name = row.model === null ? 'a model without a name' : visible(String(row.model))
    const cached = [
      [row.cache_read_tokens, 'read from cache'],
      [row.cache_write_tokens, 'written to it'],
    ].flatMap(([tokens, words]) => (Number(tokens) > 0 ? [`${tokens} ${words}`] : []))
    const reasoning = Number(row.reasoning_tokens) > 0 ? ` (${row.reasoning_tokens} reasoning)` : ''
    const input = `${row.input_tokens} tokens in${cached.length === 0 ? '' : ` (${cached.join(', ')})`}`
    return `${name}${where}: ${input}, ${row.output_tokens} out${reasoning}, ${costText(row)}`
  })
  return [...lines, estimateText(prices)]
}
