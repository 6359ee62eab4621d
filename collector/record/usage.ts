// Which tokens of a model's message are recorded already. A streamed message stands in a transcript in several lines: each repeats its
// usage, and the last ones know more of the output than the first. Forked and resumed sessions copy lines of earlier ones.
import type { Body } from '../../conventions/record.ts'

export type Usage = NonNullable<Body<'model.message'>['usage']>

const KINDS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning'] as const

/** Messages that are remembered, over all runs: days of work. Of more, the one that was heard of least lately is forgotten. */
const MAX_MESSAGES = 10_000

/** A fold over the log, so that a restart counts nothing again. */
export class UsedTokens {
  readonly #messages = new Map<string, { run: string; usage: Usage }>()

  /** What of `usage`, a message's as one line tells it, no record has yet; undefined when that is nothing. */
  fresh(run: string, message: string, usage: Usage): Usage | undefined {
    const known = this.#messages.get(message)
    // Other calls under the same id come from models behind proxies that invent ids; a copy has the very same input.
    if (known === undefined || (known.run !== run && !sameInput(known.usage, usage))) return usage
    const more: Usage = { input: 0, output: 0 }
    let any = false
    for (const kind of KINDS) {
      const by = (usage[kind] ?? 0) - (known.usage[kind] ?? 0)
      if (by <= 0) continue
      more[kind] = by
      any = true
    }
    return any ? more : undefined
  }

  /** Takes in what a record counted. */
  add(run: string, message: string, usage: Usage): void {
    const known = this.#messages.get(message)
    const before = known !== undefined && (known.run === run || isMore(usage)) ? known : undefined
    this.#messages.delete(message)
    this.#messages.set(message, {
      run: before?.run ?? run,
      usage: before === undefined ? usage : sum(before.usage, usage),
    })
    if (this.#messages.size <= MAX_MESSAGES) return
    const [oldest] = this.#messages.keys()
    if (oldest !== undefined) this.#messages.delete(oldest)
  }

  /** All that is recorded of a message. */
  of(message: string): Usage | undefined {
    return this.#messages.get(message)?.usage
  }
}

/** What a later line of a copy added: the input was counted before. */
const isMore = ({ input }: Usage) => input === 0

function sameInput(a: Usage, b: Usage): boolean {
  return (
    a.input === b.input && (a.cache_read ?? 0) === (b.cache_read ?? 0) && (a.cache_write ?? 0) === (b.cache_write ?? 0)
  )
}

function sum(a: Usage, b: Usage): Usage {
  const all: Usage = { input: 0, output: 0 }
  for (const kind of KINDS) {
    const tokens = (a[kind] ?? 0) + (b[kind] ?? 0)
    if (tokens > 0) all[kind] = tokens
  }
  return all
}
