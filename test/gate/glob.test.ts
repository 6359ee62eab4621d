// Path patterns: the shortcuts of `pathsMeet` give what the plain reading of its rules gives.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pathsMeet } from '../../collector/gate/glob.ts'

/** The rules of `pathsMeet` written down without any shortcut. */
function meet(path: readonly string[], pattern: readonly string[], exact: boolean): boolean {
  const [a, ...path1] = path
  const [b, ...pattern1] = pattern
  if (a === undefined && b === undefined) return true
  if (a === '**' && meet(path1, pattern, exact)) return true
  if (b === '**' && meet(path, pattern1, exact)) return true
  if (a === '**' && b !== undefined && (exact || !b.startsWith('.')) && meet(path, pattern1, exact)) return true
  if (b === '**' && a !== undefined && meet(path1, pattern, exact)) return true
  if (a === undefined || b === undefined || a === '**' || b === '**') return false
  return (exact || a !== '*' || b === '*') && partMeets(a, b) && meet(path1, pattern1, exact)
}

function partMeets(path: string, pattern: string): boolean {
  if (!/[*?[]/.test(path + pattern)) return path === pattern
  const a = [...path.replace(/\[[^\]/]*\]/g, '?')]
  const b = [...pattern.replace(/\[[^\]/]*\]/g, '?')]
  if ((a[0] === '*' || a[0] === '?') && b[0] === '.') return false
  return textMeets(a, b)
}

function textMeets(a: readonly string[], b: readonly string[]): boolean {
  const [x, ...rest] = a
  const [y, ...left] = b
  if (x === undefined && y === undefined) return true
  if (x === '*' && textMeets(rest, b)) return true
  if (y === '*' && textMeets(a, left)) return true
  if (x === undefined || y === undefined) return false
  if (x === '*' && textMeets(a, left)) return true
  if (y === '*' && textMeets(rest, b)) return true
  return (x === y || x === '?' || y === '?') && textMeets(rest, left)
}

const part = fc.oneof(
  fc.constantFrom('**', '*', 'a', 'b', '.env', '.env.*', '*.pem', 'a?', '[ab]', '.*', '?', 'x.pem', 'é', '😀', '?.pem'),
  fc
    .array(fc.constantFrom('a', 'b', '.', '*', '?', '[', ']', '😀'), { minLength: 1, maxLength: 5 })
    .map((all) => all.join('')),
)
const parts = fc.array(part, { maxLength: 5 })

it('meets exactly what its rules say', () => {
  fc.assert(
    fc.property(parts, parts, fc.boolean(), (path, pattern, exact) => {
      expect(pathsMeet(path, pattern, exact)).toBe(meet(path, pattern, exact))
    }),
    { numRuns: 5_000 },
  )
})
