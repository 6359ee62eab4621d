// RFC 8785 (JSON Canonicalization Scheme) for plain JSON values: the exact bytes that are hashed and signed.
import type { Json } from './strict-json.ts'

const UTF8 = new TextEncoder()

/**
 * Canonical text of a JSON value: keys sorted by UTF-16 code units, ECMAScript numbers, no white space, no Unicode normalisation.
 * Throws TypeError on what is not plain JSON (NaN, undefined, lone surrogates, class instances): a caller's mistake, never input,
 * because input comes from `parseStrict`.
 */
export function canonical(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return canonicalNumber(value)
  if (typeof value === 'string') return canonicalString(value)
  if (Array.isArray(value)) return `[${Array.from(value, canonical).join(',')}]`
  return canonicalObject(value)
}

/** UTF-8 bytes of `canonical(value)`. */
export function canonicalBytes(value: Json): Uint8Array {
  return UTF8.encode(canonical(value))
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('a canonical number must be finite')
  return Object.is(value, -0) ? '0' : String(value)
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('a canonical string must not hold half of a surrogate pair')
  return JSON.stringify(value)
}

function canonicalObject(value: { [key: string]: Json }): string {
  const prototype = Object.getPrototypeOf(value)
  if (typeof value !== 'object' || (prototype !== Object.prototype && prototype !== null)) {
    throw new TypeError('a canonical value must be plain JSON')
  }
  const members: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member === undefined) throw new TypeError(`the key ${JSON.stringify(key)} is undefined; leave it out instead`)
    members.push(`${canonicalString(key)}:${canonical(member)}`)
  }
  return `{${members.join(',')}}`
}
