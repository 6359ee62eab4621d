// Path patterns that may meet: both sides may hold wildcards, so the question is whether one real path could match both.

/** Characters. Longer single path parts are compared as literal text. */
const MAX_SEGMENT_CHARS = 255

/** `{a,b}` in a pattern written out as several patterns. Nesting is allowed; an unclosed brace stays literal. */
export function expandBraces(pattern: string): string[] {
  const open = pattern.indexOf('{')
  if (open < 0) return [pattern]
  let depth = 0
  const cuts = [open]
  for (let i = open; i < pattern.length; i++) {
    const char = pattern[i]
    if (char === '{') depth++
    else if (char === ',' && depth === 1) cuts.push(i)
    else if (char === '}' && --depth === 0) {
      cuts.push(i)
      const head = pattern.slice(0, open)
      const tails = expandBraces(pattern.slice(i + 1))
      const items = cuts.slice(0, -1).map((cut, n) => pattern.slice(cut + 1, cuts[n + 1]))
      return items.flatMap((item) => expandBraces(item)).flatMap((item) => tails.map((tail) => head + item + tail))
    }
  }
  return [pattern]
}

/** Path parts, without empty ones. */
export function segments(path: string): string[] {
  const parts = path.split('/')
  return parts.includes('', 1) ? parts.filter((part) => part !== '') : parts.slice(parts[0] === '' ? 1 : 0)
}

/** Path parts as `pathsMeet` compares them: in lower case, as many file systems do. */
export function comparable(path: string): string[] {
  return segments(path.toLowerCase())
}

/**
 * Could one path match both? `path` is what a command names (a wildcard at the start of a part does not match a leading dot, as in
 * a shell), `pattern` what a rule names. `**` stands for any number of parts on either side; in `path` it passes hidden folders only
 * with `exact`. Without `exact` a bare `*` stands for nothing in particular: a rule for one name does not speak of it. Both come from `comparable`.
 */
export function pathsMeet(path: readonly string[], pattern: readonly string[], exact = true): boolean {
  // Most pairs differ in their last part.
  const lastOfPath = path.at(-1)
  const lastOfPattern = pattern.at(-1)
  const open = lastOfPath === '**' || lastOfPattern === '**' || lastOfPath === undefined || lastOfPattern === undefined
  if (!open && !partsMeet(lastOfPath, lastOfPattern)) return false
  // Up to the first `**` of either side parts can only stand for each other.
  let start = 0
  for (; ; start++) {
    const a = path[start]
    const b = pattern[start]
    if (a === '**' || b === '**') break
    if (a === undefined || b === undefined) return a === b
    if (!partStands(a, b, exact)) return false
  }
  const width = pattern.length + 1
  const seen = new Uint8Array((path.length + 1) * width)
  const stack = [start * width + start]
  while (stack.length > 0) {
    const at = stack.pop() ?? 0
    if (seen[at] === 1) continue
    seen[at] = 1
    const i = Math.floor(at / width)
    const j = at % width
    const a = path[i]
    const b = pattern[j]
    if (a === undefined && b === undefined) return true
    if (a === '**') stack.push(at + width)
    if (b === '**') stack.push(at + 1)
    if (a === '**' && b !== undefined && (exact || !b.startsWith('.'))) stack.push(at + 1)
    if (b === '**' && a !== undefined) stack.push(at + width)
    if (a !== undefined && b !== undefined && a !== '**' && b !== '**' && partStands(a, b, exact))
      stack.push(at + width + 1)
  }
  return false
}

function partStands(a: string, b: string, exact: boolean): boolean {
  return (exact || a !== '*' || b === '*') && partsMeet(a, b)
}

/** Could one path part match both patterns? Both are lower case; bracket expressions count as `?`. */
function partsMeet(path: string, pattern: string): boolean {
  if (path === pattern) return true
  const first = path.charCodeAt(0)
  const other = pattern.charCodeAt(0)
  if (first !== other && !WILD_CODES.has(first) && !WILD_CODES.has(other)) return false
  const plain = !isWild(path)
  if (plain && !isWild(pattern)) return false
  const long = path.length > MAX_SEGMENT_CHARS || pattern.length > MAX_SEGMENT_CHARS
  if (long) return false
  // The common case: a name against a pattern. A character of two code units is one to `?`, so those take the longer way.
  if (plain && !SURROGATE.test(path)) return wordMatches(path, withoutBrackets(pattern))
  const a = tokens(path)
  const b = tokens(pattern)
  return (a[0] === '*' || a[0] === '?') && b[0] === '.' ? false : textsMeet(a, b)
}

const SURROGATE = /[\ud800-\udfff]/
/** Character codes of `*`, `?` and `[`. */
const WILD_CODES: ReadonlySet<number> = new Set([0x2a, 0x3f, 0x5b])

/** True for text with a wildcard in it. */
export function isWild(text: string): boolean {
  return text.includes('*') || text.includes('?') || text.includes('[')
}

function tokens(text: string): string[] {
  return [...withoutBrackets(text)]
}

function withoutBrackets(text: string): string {
  return text.includes('[') ? text.replace(/\[[^\]/]*\]/g, '?') : text
}

function textsMeet(a: readonly string[], b: readonly string[]): boolean {
  let row = new Uint8Array(b.length + 1)
  row[0] = 1
  for (let j = 0; j < b.length; j++) row[j + 1] = row[j] === 1 && b[j] === '*' ? 1 : 0
  for (const x of a) {
    const next = new Uint8Array(b.length + 1)
    next[0] = row[0] === 1 && x === '*' ? 1 : 0
    for (let j = 0; j < b.length; j++) {
      const y = b[j]
      const skip = x === '*' && (row[j + 1] === 1 || next[j] === 1)
      const jump = y === '*' && (row[j + 1] === 1 || next[j] === 1)
      const both = row[j] === 1 && (x === y || x === '?' || y === '?' || x === '*' || y === '*')
      next[j + 1] = skip || jump || both ? 1 : 0
    }
    row = next
  }
  return row[b.length] === 1
}

/** Whole-text match of a pattern with `*` (any text) and `?` (one character) against a word. Case counts. */
export function wordMatches(word: string, pattern: string): boolean {
  let star = -1
  let mark = 0
  let i = 0
  let j = 0
  while (i < word.length) {
    const p = pattern[j]
    if (p === '*') {
      star = j++
      mark = i
    } else if (p !== undefined && (p === '?' || p === word[i])) {
      i++
      j++
    } else if (star >= 0) {
      j = star + 1
      i = ++mark
    } else return false
  }
  while (pattern[j] === '*') j++
  return j === pattern.length
}
