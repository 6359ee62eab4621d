// JSON.parse that keeps integers beyond 2^53 exact (as bigint) and bounds depth and number of values before anything is built.
// JSON.parse itself would round `"startTimeUnixNano": 1790000000000000021`. Only text that holds such a number pays for it.
import { randomUUID } from 'node:crypto'
import { MAX_VALUES, Refused } from './refused.ts'

/** Levels. Twice what MAX_MESSAGE_DEPTH messages need, so that unknown fields have room as well. */
const MAX_BRACKETS = 300

/** Fewest digits an integer beyond 2^53 can have, and most digits a 64-bit one can have. */
const LONG_INTEGER = /^-?[1-9][0-9]{15,19}$/
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export type Lossless = null | boolean | number | bigint | string | Lossless[] | { [key: string]: Lossless }

/** Parses UTF-8 JSON. Throws Refused. An object is what JSON.parse makes: `__proto__` is an ordinary own key, the last of equal keys wins. */
export function parseLossless(bytes: Uint8Array): Lossless {
  const text = decodeUtf8(bytes)
  const long = scan(text)
  try {
    return long.length === 0 ? (JSON.parse(text) as Lossless) : parseTagged(text, long)
  } catch (error) {
    // The parser's own message quotes the text around the error, which may be content.
    if (error instanceof SyntaxError) throw new Refused('is not valid JSON')
    throw error
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new Refused('is not valid UTF-8')
  }
}

/** Makes each long integer a string with a tag nobody can guess, and those strings bigints. */
function parseTagged(text: string, long: [start: number, end: number][]): Lossless {
  const tag = randomUUID()
  const parts: string[] = []
  let from = 0
  for (const [start, end] of long) {
    parts.push(text.slice(from, start), `"${tag}${text.slice(start, end)}"`)
    from = end
  }
  parts.push(text.slice(from))
  return JSON.parse(parts.join(''), (_key, value) =>
    typeof value === 'string' && value.startsWith(tag) ? BigInt(value.slice(tag.length)) : value,
  ) as Lossless
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Walks the text outside of strings. Returns where long integers stand as values (not as keys: those JSON.parse must still refuse).
 * Says nothing about syntax; throws Refused when the text nests too deep or holds too much.
 */
function scan(text: string): [start: number, end: number][] {
  const long: [number, number][] = []
  const inList: boolean[] = []
  let values = 0
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) {
      at = endOfString(text, at)
    } else if (c === OPEN_OBJECT || c === OPEN_LIST) {
      inList.push(c === OPEN_LIST)
      if (inList.length > MAX_BRACKETS) throw new Refused(`nested deeper than ${MAX_BRACKETS} levels`)
      values++
    } else if (c === CLOSE_OBJECT || c === CLOSE_LIST) {
      inList.pop()
    } else if (c === COMMA) {
      values++
    } else if (c === MINUS || (c >= 0x30 && c <= 0x39)) {
      NUMBER.lastIndex = at
      const token = NUMBER.exec(text)?.[0] ?? '-'
      const isValue = before === COLON || inList.at(-1) === true
      if (isValue && LONG_INTEGER.test(token)) long.push([at, at + token.length])
      at += token.length - 1
    } else if (c <= 0x20) {
      continue
    }
    before = c
    if (values > MAX_VALUES) throw new Refused(`holds more than ${MAX_VALUES} values`, true)
  }
  return long
}

/** Position of the quote that ends the string starting at `from`, or the end of the text. */
function endOfString(text: string, from: number): number {
  let at = from
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
}
