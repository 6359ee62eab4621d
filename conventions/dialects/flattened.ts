// Lists and objects that were flattened into attribute names: `llm.output_messages.0.message.role`.
import type { Json } from '../strict-json.ts'
import type { Reader } from './reader.ts'

/** Steps of a name that are taken apart; the rest stays one name. */
const MAX_STEPS = 10

interface Branch {
  [step: string]: Branch | Json
}

/** The structure under `prefix`, numbers as list places in their order; undefined where there is none. */
export function unflatten(read: Reader, prefix: string): Json | undefined {
  const root: Branch = Object.create(null)
  let some = false
  for (const name of read.names()) {
    if (!name.startsWith(prefix)) continue
    const value = read.content(name)
    if (value === undefined) continue
    some = true
    put(root, name.slice(prefix.length).split('.', MAX_STEPS), value)
  }
  return some ? lists(root) : undefined
}

function put(root: Branch, steps: string[], value: Json): void {
  let at = root
  for (const step of steps.slice(0, -1)) {
    const next = at[step]
    // A name that is both a value and the beginning of others: the value gives way.
    if (typeof next === 'object' && next !== null && !Array.isArray(next) && Object.getPrototypeOf(next) === null) {
      at = next as Branch
      continue
    }
    const made: Branch = Object.create(null)
    at[step] = made
    at = made
  }
  at[steps.at(-1) ?? ''] = value
}

function lists(branch: Branch): Json {
  const entries = Object.entries(branch).map(([step, value]): [string, Json] => [
    step,
    isBranch(value) ? lists(value) : value,
  ])
  const isList = entries.length > 0 && entries.every(([step]) => /^\d+$/.test(step))
  if (!isList) return Object.fromEntries(entries)
  return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
}

function isBranch(value: Branch | Json | undefined): value is Branch {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.getPrototypeOf(value) === null
}
