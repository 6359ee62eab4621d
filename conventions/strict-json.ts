// Strict JSON: one meaning per input. Refuses what parsers disagree about (RFC 8259 leaves it open, I-JSON RFC 7493 forbids it):
// duplicate keys, lone surrogates, -0 and integers beyond 2^53-1 (unless asked to keep them), deep nesting, bytes that are not UTF-8.
import { MAX_JSON_DEPTH } from './limits.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Why an input was refused: a stable code, where (UTF-16 offset, -1 when unknown) and what to do about it. */
export interface JsonRefusal {
  code:
    | 'invalid_utf8'
    | 'syntax'
    | 'duplicate_key'
    | 'lone_surrogate'
    | 'non_finite'
    | 'negative_zero'
    | 'int_range'
    | 'depth'
  at: number
  message: string
}

export type JsonResult = { ok: true; value: Json; raw: Map<string, string> } | { ok: false; error: JsonRefusal }

export interface StrictJsonOptions {
  /** Keep integers beyond 2^53-1 and -0 as the nearest double. Only where the raw text is kept beside the value. Default false. */
  looseNumbers?: boolean
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const NOT_FINITE = /^-?(?:NaN|Infinity)/
const PLAIN = /[^"\\\u0000-\u001f]*/y
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

class Refused extends Error {
  readonly refusal: JsonRefusal
  constructor(code: JsonRefusal['code'], at: number, message: string) {
    super(message)
    this.refusal = { code, at, message }
  }
}

/**
 * Parses UTF-8 bytes or text. `raw` maps each top-level key to the exact text of its value, so that a sender's own bytes can be
 * kept and committed to. Objects have no prototype, so `__proto__` is an ordinary key. Never throws on bad input.
 */
export function parseStrict(input: Uint8Array | string, options: StrictJsonOptions = {}): JsonResult {
  try {
    const text = typeof input === 'string' ? input : decodeUtf8(input)
    const parser = new Parser(text, options.looseNumbers ?? false)
    return { ok: true, value: parser.document(), raw: parser.raw }
  } catch (error) {
    if (error instanceof Refused) return { ok: false, error: error.refusal }
    throw error
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new Refused('invalid_utf8', -1, 'the bytes are not valid UTF-8')
  }
}

class Parser {
  readonly raw = new Map<string, string>()
  private pos = 0
  private readonly text: string
  private readonly looseNumbers: boolean

  constructor(text: string, looseNumbers: boolean) {
    this.text = text
    this.looseNumbers = looseNumbers
  }

  document(): Json {
    this.space()
    const value = this.value(0)
    this.space()
    if (this.pos < this.text.length) this.fail('syntax', 'more text follows the JSON value')
    return value
  }

  private fail(code: JsonRefusal['code'], message: string): never {
    throw new Refused(code, this.pos, `${message} (at character ${this.pos})`)
  }

  private space(): void {
    for (;;) {
      const c = this.text.charCodeAt(this.pos)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
      this.pos++
    }
  }

  private value(depth: number): Json {
    if (depth > MAX_JSON_DEPTH) this.fail('depth', `nested deeper than ${MAX_JSON_DEPTH} levels`)
    switch (this.text[this.pos]) {
      case '{':
        return this.object(depth)
      case '[':
        return this.array(depth)
      case '"':
        return this.string()
      case 't':
        return this.word('true', true)
      case 'f':
        return this.word('false', false)
      case 'n':
        return this.word('null', null)
      default:
        return this.number()
    }
  }

  private word(word: string, value: Json): Json {
    if (!this.text.startsWith(word, this.pos)) this.fail('syntax', 'not a JSON value')
    this.pos += word.length
    return value
  }

  private object(depth: number): Json {
    const object: { [key: string]: Json } = Object.create(null)
    const seen = new Set<string>()
    this.pos++
    this.space()
    if (this.text[this.pos] === '}') {
      this.pos++
      return object
    }
    for (;;) {
      this.space()
      if (this.text[this.pos] !== '"') this.fail('syntax', 'an object key must be a string')
      const key = this.string()
      if (seen.has(key)) this.fail('duplicate_key', `the key ${JSON.stringify(key)} appears twice`)
      seen.add(key)
      this.space()
      this.expect(':')
      this.space()
      const from = this.pos
      object[key] = this.value(depth + 1)
      if (depth === 0) this.raw.set(key, this.text.slice(from, this.pos))
      this.space()
      if (this.text[this.pos] === '}') break
      this.expect(',')
    }
    this.pos++
    return object
  }

  private array(depth: number): Json {
    const array: Json[] = []
    this.pos++
    this.space()
    if (this.text[this.pos] === ']') {
      this.pos++
      return array
    }
    for (;;) {
      this.space()
      array.push(this.value(depth + 1))
      this.space()
      if (this.text[this.pos] === ']') break
      this.expect(',')
    }
    this.pos++
    return array
  }

  private expect(char: string): void {
    if (this.text[this.pos] !== char) this.fail('syntax', `expected ${JSON.stringify(char)}`)
    this.pos++
  }

  private string(): string {
    const from = ++this.pos
    let out = ''
    for (;;) {
      PLAIN.lastIndex = this.pos
      PLAIN.test(this.text)
      out += this.text.slice(this.pos, PLAIN.lastIndex)
      this.pos = PLAIN.lastIndex
      const c = this.text[this.pos]
      if (c === '"') break
      if (c !== '\\')
        this.fail('syntax', c === undefined ? 'a string does not end' : 'a control character inside a string')
      out += this.escape()
    }
    this.pos++
    if (LONE_SURROGATE.test(out)) {
      this.pos = from
      this.fail('lone_surrogate', 'a string holds half of a surrogate pair')
    }
    return out
  }

  private escape(): string {
    const c = this.text[this.pos + 1] ?? ''
    const plain = ESCAPES[c]
    if (plain !== undefined) {
      this.pos += 2
      return plain
    }
    const hex = this.text.slice(this.pos + 2, this.pos + 6)
    if (c !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) this.fail('syntax', 'not a JSON escape')
    this.pos += 6
    return String.fromCharCode(Number.parseInt(hex, 16))
  }

  private number(): number {
    NUMBER.lastIndex = this.pos
    const match = NUMBER.exec(this.text)
    if (match === null && NOT_FINITE.test(this.text.slice(this.pos, this.pos + 10)))
      this.fail('non_finite', 'not a finite number')
    if (match === null)
      this.fail('syntax', this.pos >= this.text.length ? 'the text ends too early' : 'not a JSON value')
    const token = match[0]
    const value = Number(token)
    if (!this.looseNumbers) {
      if (!Number.isFinite(value)) this.fail('non_finite', `${token.slice(0, 40)} is too large for a double`)
      if (Object.is(value, -0)) this.fail('negative_zero', '-0 is not allowed')
      const integer = /^-?[0-9]+$/.test(token)
      if (integer && !Number.isSafeInteger(value)) this.fail('int_range', 'an integer beyond 2^53-1')
    }
    this.pos += token.length
    return value
  }
}
