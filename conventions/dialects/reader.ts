// Reads attributes by name and keeps count of those nobody asked for. Of several names for one thing the first that holds a usable
// value counts; all of them are read. A value of the wrong kind is left unread, so that it shows.
import { MAX_JSON_DEPTH } from '../limits.ts'
import type { AnyValue, KeyValue } from '../otlp.ts'
import { plain } from '../plain.ts'
import type { Json } from '../strict-json.ts'
import { MAX_CONTENT_CHARS, MAX_TEXT_CHARS, MAX_UNREAD_NAMES } from './view.ts'

/** One attribute, and whether a view has a place for it. */
interface Slot {
  value: AnyValue
  read: boolean
}

export class Reader {
  private readonly slots = new Map<string, Slot>()

  constructor(attributes: readonly KeyValue[]) {
    for (const { key, value = NO_VALUE } of attributes) {
      const slot = this.slots.get(key)
      if (slot === undefined) this.slots.set(key, { value, read: false })
      else slot.value = value
    }
  }

  /** A text, without counting it as read: for finding out which dialect this is. */
  peek(name: string): string | undefined {
    const value = this.slots.get(name)?.value
    return value !== undefined && 'stringValue' in value ? value.stringValue : undefined
  }

  has(name: string): boolean {
    return this.slots.has(name)
  }

  names(): Iterable<string> {
    return this.slots.keys()
  }

  /** Whether any name begins so. */
  hasPrefix(prefix: string): boolean {
    for (const name of this.slots.keys()) if (name.startsWith(prefix)) return true
    return false
  }

  /** Says that these carry nothing a view has a place for, on purpose. */
  known(...names: string[]): void {
    for (const name of names) {
      const slot = this.slots.get(name)
      if (slot !== undefined) slot.read = true
    }
  }

  knownPrefix(...prefixes: string[]): void {
    for (const [name, slot] of this.slots) if (prefixes.some((prefix) => name.startsWith(prefix))) slot.read = true
  }

  /** An id or a name: not empty, at most MAX_TEXT_CHARS. */
  text(...names: string[]): string | undefined {
    return this.first(names, (value) => {
      if (!('stringValue' in value)) return undefined
      return isShort(value.stringValue) ? value.stringValue : undefined
    })
  }

  /** A whole number from 0 to 2^53-1, also where it was sent as a double or as text. */
  count(...names: string[]): number | undefined {
    return this.first(names, (value) => {
      const number = numberOf(value)
      return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined
    })
  }

  number(...names: string[]): number | undefined {
    return this.first(names, numberOf)
  }

  flag(...names: string[]): boolean | undefined {
    return this.first(names, (value) => {
      if ('boolValue' in value) return value.boolValue
      if (!('stringValue' in value)) return undefined
      return value.stringValue === 'true' ? true : value.stringValue === 'false' ? false : undefined
    })
  }

  /** Content as text: a string as it is, anything else as JSON. Empty text is nothing. */
  content(...names: string[]): string | undefined {
    return this.first(names, (value) => textOf(plain(value)) || undefined)
  }

  /** Content that is JSON, sent as text or as a structure. */
  json(...names: string[]): Json | undefined {
    return this.first(names, (value) => {
      const found = plain(value)
      return typeof found === 'string' ? parse(found) : (found ?? undefined)
    })
  }

  /** The first text of a list, sent as a list, as JSON text or as plain text. */
  firstOf(...names: string[]): string | undefined {
    return this.first(names, (value) => {
      const found = plain(value)
      const list = typeof found === 'string' && found.startsWith('[') ? parse(found) : found
      const one = Array.isArray(list) ? list[0] : list
      return typeof one === 'string' && isShort(one) ? one : undefined
    })
  }

  unread(): { count: number; names: string[] } {
    const names: string[] = []
    let count = 0
    for (const [name, { read }] of this.slots) {
      if (read) continue
      if (++count <= MAX_UNREAD_NAMES) names.push(name.slice(0, MAX_TEXT_CHARS))
    }
    return { count, names }
  }

  private first<T>(names: string[], read: (value: AnyValue) => T | undefined): T | undefined {
    let found: T | undefined
    for (const name of names) {
      const slot = this.slots.get(name)
      if (slot === undefined) continue
      const usable = read(slot.value)
      if (usable !== undefined || isNothing(slot.value)) slot.read = true
      found ??= usable
    }
    return found
  }
}

const NO_VALUE: AnyValue = {}

/** Sent, and empty: the sender had nothing to say under this name. */
function isNothing(value: AnyValue): boolean {
  return Object.keys(value).length === 0 || ('stringValue' in value && value.stringValue === '')
}

function isShort(text: string): boolean {
  return text !== '' && text.length <= MAX_TEXT_CHARS
}

const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?$/

function numberOf(value: AnyValue): number | undefined {
  const number =
    'intValue' in value
      ? Number(value.intValue)
      : 'doubleValue' in value
        ? value.doubleValue
        : 'stringValue' in value && NUMBER.test(value.stringValue)
          ? Number(value.stringValue)
          : undefined
  return number !== undefined && Number.isFinite(number) ? number : undefined
}

/** How JSON begins. Most text that is none is told by this: an exception, which says the same, costs as much as all the rest. */
const JSON_BEGINS = /^[ \t\r\n]*(?:[[{"]|-?\d[\d.eE+-]*[ \t\r\n]*$|(?:true|false|null)[ \t\r\n]*$)/

/** Parses JSON text; undefined for anything else, for more text than a view holds, and for what is nested too deeply to be written again. */
export function parse(text: string): Json | undefined {
  if (text.length > MAX_CONTENT_CHARS || !JSON_BEGINS.test(text) || isDeep(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

function isDeep(text: string): boolean {
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inText && char === BACKSLASH) i++
    else if (char === QUOTE) inText = !inText
    else if (inText) continue
    else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      if (++depth > MAX_JSON_DEPTH) return true
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth--
  }
  return false
}

/** A value as content: text as it is, a structure as JSON, nothing for nothing. */
export function textOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
