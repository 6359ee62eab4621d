// A line of a price table as a person writes it: conventions/registry/prices.yaml, or `prices` in config.yaml.
import * as z from 'zod'
import { MAX_NAME_CHARS } from './limits.ts'

/** USD for a million tokens. More would overflow nothing: it is a slip of the pen. */
const MAX_USD = 100_000
/** USD for a million tokens, with three decimals at most, are so many whole nano-USD a token. */
export const NANO_USD = 1_000

const usd = z
  .number('must be a number of USD for a million tokens')
  .min(0, 'must not be below 0')
  .max(MAX_USD, `must be USD for a million tokens, at most ${MAX_USD}`)
  .refine(
    (value) => Math.abs(value * NANO_USD - Math.round(value * NANO_USD)) < 1e-6,
    'must have at most three decimals: USD for a million tokens',
  )

const rates = {
  input: usd,
  output: usd,
  cache_read: usd.optional(),
  cache_write: usd.optional(),
  cache_write_1h: usd.optional(),
}

/** Days as the calendar has them. */
const day = z.iso.date('must be a day such as 2026-12-01')

export const PRICE_ENTRY = z.strictObject({
  /** Name of a model, or the beginning of names and `*`. */
  model: z
    .string()
    .min(1)
    .max(MAX_NAME_CHARS)
    .regex(/^[^*]+\*?$/, 'must be the name of a model, or its beginning and one * at the end'),
  /** First day (UTC) it is true of; absent: always. */
  from: day.optional(),
  ...rates,
  /** What a call costs whose input, cached tokens and all, is longer. */
  above: z.strictObject({ tokens: z.int().min(1), ...rates }).optional(),
})

export type PriceEntry = z.infer<typeof PRICE_ENTRY>
