// Reads the fields of one payload object by kind. What is absent is absent, what has the wrong shape is refused by name.
import type { Json } from '../../conventions/strict-json.ts'
import { isId } from '../adapter.ts'

/** A field that can't be read. Thrown inside the adapter only and turned into its result there. */
export class Refusal extends Error {
  readonly field: string
  readonly reason: string
  constructor(field: string, reason: string) {
    super(`${field} ${reason}`)
    this.field = field
    this.reason = reason
  }
}

type JsonObject = { [key: string]: Json }
/** The fields that are there, without the ones that are not. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

export class Fields {
  private readonly object_: JsonObject
  private readonly raw_: Map<string, string>
  /** Where in the payload this object lies, for messages: '' or 'tool_calls[2].'. */
  private readonly path: string

  constructor(object: JsonObject, raw: Map<string, string>, path = '') {
    this.object_ = object
    this.raw_ = raw
    this.path = path
  }

  /** Null when the value is not an object. */
  static of(value: Json, raw: Map<string, string>, path = ''): Fields | null {
    return isObject(value) ? new Fields(value, raw, path) : null
  }

  has(key: string): boolean {
    return Object.hasOwn(this.object_, key)
  }

  /** A string, or undefined when absent or null. */
  text(key: string): string | undefined {
    const value = this.object_[key] ?? undefined
    if (value !== undefined && typeof value !== 'string') throw new Refusal(this.path + key, 'is not text')
    return value
  }

  needText(key: string): string {
    const value = this.text(key)
    if (value === undefined) throw new Refusal(this.path + key, 'is missing')
    return value
  }

  /** An id, or undefined when absent; an id that records can't hold is refused, never rewritten. */
  id(key: string): string | undefined {
    const value = this.text(key)
    if (value !== undefined && !isId(value)) {
      throw new Refusal(this.path + key, 'is not an id: 1 to 128 printable ASCII characters without spaces')
    }
    return value
  }

  needId(key: string): string {
    const value = this.id(key)
    if (value === undefined) throw new Refusal(this.path + key, 'is missing; ids are never invented')
    return value
  }

  /** A word that describes and identifies nothing: left out when records can't hold it, so that it never blocks a call. */
  name(key: string): string | undefined {
    const value = this.object_[key]
    return isId(value) ? value : undefined
  }

  flag(key: string): boolean | undefined {
    const value = this.object_[key]
    return typeof value === 'boolean' ? value : undefined
  }

  /** A whole number from 0; anything else counts as absent. */
  count(key: string): number | undefined {
    const value = this.object_[key]
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
  }

  object(key: string): JsonObject | undefined {
    const value = this.object_[key]
    return value !== undefined && isObject(value) ? value : undefined
  }

  /** Exact JSON text of the value as it was sent. */
  raw(key: string): string | undefined {
    return this.raw_.get(key)
  }

  needRaw(key: string): string {
    const value = this.raw(key)
    if (value === undefined) throw new Refusal(this.path + key, 'is missing')
    return value
  }

  /** The entries that are not undefined. */
  pick<T extends object>(values: T): Present<T> {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
  }
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
