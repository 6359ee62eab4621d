// List prices in the index, and the SQL that takes the right one for each call: conventions/prices.ts says the same for one call.
import { hash } from 'node:crypto'
import type { DuckDBConnection } from '@duckdb/node-api'
import { NAME_STEPS, PRICED_KINDS, type PriceTable } from '../../../conventions/prices.ts'

/** Puts the prices of this start in the place of those of the last one: costs are made when they are asked for. */
export async function writePrices(connection: DuckDBConnection, { prices, dated }: PriceTable): Promise<void> {
  await connection.run('BEGIN TRANSACTION')
  await connection.run('DELETE FROM prices')
  await connection.run('DELETE FROM price_table')
  const rows = prices.map(({ rank, name, prefix, own, from, over, rates }) => {
    const kinds = PRICED_KINDS.map((kind) => rates[kind])
    const day = from === null ? 'NULL' : `TIMESTAMP ${text(from)}`
    return `(${[rank, text(name), prefix, own, day, over ?? 'NULL', ...kinds].join(', ')})`
  })
  await connection.run(`INSERT INTO prices VALUES ${rows.join(', ')}`)
  const own = prices.filter((price) => price.own).length
  const digest = hash('sha256', JSON.stringify(prices), 'hex').slice(0, 16)
  await connection.run(`INSERT INTO price_table VALUES (${text(digest)}, ${text(dated)}, ${own})`)
  await connection.run('COMMIT')
}

const text = (value: string) => `'${value.replaceAll("'", "''")}'`

const PLAIN_NAME = NAME_STEPS.reduce(
  (name, [pattern, put]) => `regexp_replace(${name}, ${text(pattern)}, ${text(put)})`,
  'lower(model)',
)

/** The prices that fit each model that was seen. */
export const MODEL_PRICES = `SELECT model, prices.* FROM (
    SELECT model, ${PLAIN_NAME} AS plain FROM (
      SELECT body->>'model' AS model FROM records WHERE type = 'model.message' UNION SELECT model FROM import_views
    ) WHERE model IS NOT NULL
  ) JOIN prices ON CASE WHEN prefix THEN starts_with(plain, name) ELSE plain = name END`

/**
 * A CTE named `rated`: for each row of `calls` that has a price, its `key` and `rate`. `key`: columns that tell rows apart. Needs the
 * columns model, time and input_tokens.
 */
export function ratedOf(calls: string, key: string): string {
  return `rated AS (
      SELECT ${key}, arg_max(p, p.rank) AS rate FROM ${calls} JOIN model_prices p USING (model)
      WHERE (p.from_time IS NULL OR p.from_time <= time) AND (p.over IS NULL OR input_tokens > p.over)
      GROUP BY ${key}
    )`
}

/** HUGEINT: no number of tokens that a sender invents overflows it. */
const huge = (column: string) => `CAST(coalesce(${column}, 0) AS HUGEINT)`

/** Nano-USD of a row that was joined with `rated`; NULL without a price, or where nobody said how many tokens. `hour`: column of cache_write_1h. */
export function costSql(hour = 'NULL'): string {
  const [input, output, read, write] = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'].map(
    huge,
  )
  const kept = `least(${huge(hour)}, ${write})`
  return `CASE WHEN input_tokens IS NOT NULL OR output_tokens IS NOT NULL THEN
      greatest(${input} - ${read} - ${write}, 0) * rate.input + ${output} * rate.output + ${read} * rate.cache_read
      + (${write} - ${kept}) * rate.cache_write + ${kept} * rate.cache_write_1h END`
}

/** Tokens of a row that was joined with `rated` and has no price. */
export const UNPRICED = `CASE WHEN rate IS NULL THEN ${huge('input_tokens')} + ${huge('output_tokens')} ELSE 0 END`
