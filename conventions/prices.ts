// What tokens cost, by a table of list prices: an estimate, never a bill. Money is whole nano-USD, so that sums are exact.
import { NANO_USD, type PriceEntry } from './price-entry.ts'
import { PRICES_DATED, SHIPPED_PRICES } from './shipped-prices.ts'

/** Kinds of tokens with a price. Reasoning is a part of `output`; `cache_write_1h` is the part of written cache that is kept for an hour. */
export const PRICED_KINDS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const
type Rates = { [K in (typeof PRICED_KINDS)[number]]: number }

/** Tokens of one call: `input` has the cached ones in it, `cache_write` those kept for an hour. */
export interface Spent {
  input: number
  output: number
  cache_read?: number | undefined
  cache_write?: number | undefined
  cache_write_1h?: number | undefined
}

/** One price: of two that fit, the one with the higher rank is right. */
export interface Price {
  rank: number
  /** A model's plain name, or what it begins with. */
  name: string
  prefix: boolean
  /** Written by the person, in config.yaml. */
  own: boolean
  /** First day it is true of, YYYY-MM-DD. */
  from: string | null
  /** Only for a call with more input tokens than this. */
  over: number | null
  /** Nano-USD a token. */
  rates: Rates
}

/**
 * What is taken off a model's name, in this order, and what is put in its place (`\1` is the first group): the path of a gateway, a
 * cloud's region and vendor, a mark of the context's size, a cloud's version, dates, `-latest`, `-preview`. JavaScript and RE2 read
 * these alike.
 */
export const NAME_STEPS: readonly [pattern: string, put: string][] = [
  ['^.*/', ''],
  ['^([a-z-]+[.])?anthropic[.]', ''],
  ['\\[[0-9a-z]+\\]$', ''],
  ['-v[0-9]+:[0-9]+$', ''],
  ['[-@][0-9]{8}$', ''],
  ['-[0-9]{4}-[0-9]{2}-[0-9]{2}$', ''],
  ['-latest$', ''],
  ['-preview(-[0-9-]+)?$', ''],
  ['^(claude-.*[0-9])[.]([0-9])', '\\1-\\2'],
]
const STEPS = NAME_STEPS.map(([pattern, put]) => [new RegExp(pattern), put.replaceAll('\\', '$')] as const)

/** A model's name without what does not change its price. */
export function plainName(model: string): string {
  return STEPS.reduce((name, [pattern, put]) => name.replace(pattern, put), model.toLowerCase())
}

/** Prices as they are asked: ours, and over them the person's own. */
export class PriceTable {
  /** By rank. */
  readonly prices: readonly Price[]
  /** Day our prices were read, the oldest of them. */
  readonly dated = PRICES_DATED
  readonly #fitting = new Map<string, readonly Price[]>()

  constructor(own: readonly PriceEntry[] = []) {
    const all = [...SHIPPED_PRICES.flatMap((entry) => both(entry, false)), ...own.flatMap((entry) => both(entry, true))]
    this.prices = all.sort(byWorth).map((price, rank) => ({ ...price, rank }))
  }

  /** Nano-USD of one call at `time` (milliseconds since 1970), or null when the model has no price: then nobody knows, it is not 0. */
  costOf(model: string, spent: Spent, time: number): number | null {
    const price = this.#fits(model).findLast(
      ({ from, over }) => (from === null || Date.parse(from) <= time) && (over === null || spent.input > over),
    )
    if (price === undefined) return null
    const { cache_read = 0, cache_write = 0, cache_write_1h = 0 } = spent
    const hour = Math.min(cache_write_1h, cache_write)
    const { rates } = price
    return (
      Math.max(0, spent.input - cache_read - cache_write) * rates.input +
      spent.output * rates.output +
      cache_read * rates.cache_read +
      (cache_write - hour) * rates.cache_write +
      hour * rates.cache_write_1h
    )
  }

  #fits(model: string): readonly Price[] {
    const known = this.#fitting.get(model)
    if (known !== undefined) return known
    const plain = plainName(model)
    const found = this.prices.filter(({ name, prefix }) => (prefix ? plain.startsWith(name) : plain === name))
    if (this.#fitting.size >= MAX_REMEMBERED) this.#fitting.clear()
    this.#fitting.set(model, found)
    return found
  }
}

/** Models whose prices are looked up once; their names come from outside. */
const MAX_REMEMBERED = 1_000

/** A price, and the one for long inputs, where there is one. */
function both({ model, from, above, ...rates }: PriceEntry, own: boolean): Omit<Price, 'rank'>[] {
  const prefix = model.endsWith('*')
  const name = prefix ? model.slice(0, -1).toLowerCase() : plainName(model)
  const price = { name, prefix, own, from: from ?? null }
  const base = { ...price, over: null, rates: whole(rates) }
  if (above === undefined) return [base]
  const { tokens, ...long } = above
  return [base, { ...price, over: tokens, rates: whole(long) }]
}

/** Nano-USD a token. A kind without a price costs what it would without a cache. */
function whole({ input, output, ...cached }: Omit<PriceEntry, 'model'>): Rates {
  const { cache_read = input, cache_write = input, cache_write_1h = cache_write } = cached
  const nano = (usd: number) => Math.round(usd * NANO_USD)
  return {
    input: nano(input),
    output: nano(output),
    cache_read: nano(cache_read),
    cache_write: nano(cache_write),
    cache_write_1h: nano(cache_write_1h),
  }
}

type Unranked = Omit<Price, 'rank'>

/** The person's own over ours, a name over a beginning, more of a name over less, later over earlier, long inputs over all. */
function byWorth(a: Unranked, b: Unranked): number {
  return (
    Number(a.own) - Number(b.own) ||
    Number(b.prefix) - Number(a.prefix) ||
    a.name.length - b.name.length ||
    (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) ||
    (a.from ?? '').localeCompare(b.from ?? '') ||
    (a.over ?? 0) - (b.over ?? 0)
  )
}
