// Members of JSON somebody else wrote.
import type { Json } from '../strict-json.ts'
import { MAX_TEXT_CHARS } from './view.ts'

/** The value at the end of the path; undefined where there is none. */
export function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, name)) {
      return undefined
    }
    found = found[name]
  }
  return found
}

/** An id or a name; undefined for anything else. */
export function textAt(value: Json | undefined, ...path: string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' && found !== '' && found.length <= MAX_TEXT_CHARS ? found : undefined
}

/** A whole number from 0 to 2^53-1. */
export function countAt(value: Json | undefined, ...path: string[]): number | undefined {
  const found = at(value, ...path)
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined
}
