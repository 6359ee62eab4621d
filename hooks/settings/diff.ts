// The lines that an edit adds and removes, for people to read before it is made.

/** Lines around a change that are shown with it. */
const CONTEXT_LINES = 2

/** A diff by lines: ' ' kept, '-' removed, '+' added, '…' where kept lines are left out. Empty when nothing changes. */
export function lineDiff(before: string, after: string): string {
  if (before === after) return ''
  const rows = align(before.split(/\r?\n/), after.split(/\r?\n/))
  const near = rows.map((_, i) =>
    rows.slice(Math.max(0, i - CONTEXT_LINES), i + CONTEXT_LINES + 1).some((row) => row[0] !== ' '),
  )
  const out: string[] = []
  for (const [i, row] of rows.entries()) {
    if (near[i]) out.push(row)
    else if (out.at(-1) !== '…') out.push('…')
  }
  return `${out.join('\n')}\n`
}

/** Longest common subsequence of lines: settings files are short. */
function align(a: string[], b: string[]): string[] {
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  const at = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    const row = common[i] ?? new Uint32Array()
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const rows: string[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      rows.push(` ${a[i]}`)
      i++
      j++
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) rows.push(`-${a[i++]}`)
    else rows.push(`+${b[j++]}`)
  }
  return rows
}
