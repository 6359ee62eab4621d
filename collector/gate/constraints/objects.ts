// What a forbidden verb is said of: paths, everything, or something that is no file at all.
import { isPath } from './text.ts'

export interface Objects {
  /** Paths, folders with a slash at the end, patterns. */
  targets: string[]
  /** Everything: "any files", "the code". */
  everything: boolean
  /** Everything outside of `targets`, or but what was named before: "anything else". */
  others: boolean
  /** Lower-case words behind what was read. */
  rest: string[]
}

const DETERMINERS = new Set(
  'the a an any my our your his their this that these those of all existing current either both whole entire single real actual new old contents content'.split(
    ' ',
  ),
)
const FOLDER = new Set('folder folders directory directories dir dirs'.split(' '))
const FILE = new Set('file files module modules script scripts config'.split(' '))
const EVERYTHING = new Set(
  'anything everything files file code codebase source sources repo repository project stuff things'.split(' '),
)
const JOINS = new Set('and or nor & neither'.split(' '))
const INSIDE = new Set('in under inside within from below of'.split(' '))
/** "the API of client.py", "client.py exports": a part or a property of a file, and not the file. */
const PROPERTY =
  /^(?:apis?|behaviou?rs?|signatures?|exports?|interfaces?|outputs?|formats?|names?|defaults?|semantics|logic|meaning|contract)$/

/** Reads the object at the start of `words` (lower case) and `written` (as typed). */
export function objectsOf(words: readonly string[], written: readonly string[]): Objects {
  const out: Objects = { targets: [], everything: false, others: false, rest: [] }
  let i = 0
  for (; i < words.length; i++) {
    const word = words[i] as string
    const next = words[i + 1]
    if (DETERMINERS.has(word) || (out.targets.length > 0 && JOINS.has(word) && isMore(words, written, i + 1))) continue
    if (isPath(written[i] as string)) {
      if (next !== undefined && PROPERTY.test(next)) return out
      const folder = next !== undefined && FOLDER.has(next)
      out.targets.push(folder ? withSlash(written[i] as string) : (written[i] as string))
      if (folder || (next !== undefined && FILE.has(next))) i++
      continue
    }
    if (next !== undefined && FOLDER.has(next) && !FILE.has(word) && !EVERYTHING.has(word)) {
      out.targets.push(withSlash(written[i] as string))
      i++
      continue
    }
    if (
      /^tests?$/.test(word) &&
      (next === undefined || FILE.has(next) || next === 'code') &&
      out.targets.length === 0
    ) {
      out.targets.push('tests')
      if (next !== undefined) i++
      continue
    }
    if (word === 'other' || word === 'else' || word === 'outside') {
      out.others = true
      continue
    }
    if (EVERYTHING.has(word)) {
      // "any source files" is one thing; "files in src/" is the folder.
      out.everything = true
      continue
    }
    if (FILE.has(word) || FOLDER.has(word)) continue
    if (out.everything && INSIDE.has(word) && isMore(words, written, i + 1)) continue
    break
  }
  out.rest = words.slice(i)
  if (out.targets.length > 0) out.everything = false
  return out
}

function isMore(words: readonly string[], written: readonly string[], from: number): boolean {
  for (let i = from; i < words.length; i++) {
    const word = words[i] as string
    if (isPath(written[i] as string) || EVERYTHING.has(word)) return true
    const next = words[i + 1]
    if (next !== undefined && FOLDER.has(next)) return true
    if (!DETERMINERS.has(word) && !FILE.has(word)) return false
  }
  return false
}

const withSlash = (path: string) => (path.endsWith('/') ? path : `${path}/`)
