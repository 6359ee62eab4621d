// One linear look at shell text before it is parsed: characters that hide what runs, sizes, and nesting that would cost the parser dearly.
import type { OpaqueKind } from '../../call.ts'

/** UTF-8 bytes. More is denied: no person reads it, no agent needs it. */
export const MAX_SHELL_BYTES = 64 * 1024
/** Characters. More is asked about, unread. */
export const MAX_READ_CHARS = 10_000
/** Levels of unquoted openers; real commands stay under ten. */
const MAX_OPENER_DEPTH = 24
/** Unquoted openers in all, without quoted here-documents. */
const MAX_OPENERS = 200

/** Control, zero-width, direction and tag characters, odd separators, and our own mark for unknown text. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{effff}]|[\u{f0000}-\u{10ffff}]/u

/** Blanks and dashes that look like plain ones, in text that no quotes protect. */
export const ODD_UNQUOTED = /[\u00a0\u1680\u2000-\u200f\u202f\u205f\u3000\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/

/** What is wrong with the text, or null when it may be parsed. */
export function scan(text: string): OpaqueKind | null {
  if (text.length > MAX_SHELL_BYTES || Buffer.byteLength(text) > MAX_SHELL_BYTES) return 'oversize'
  if (HIDDEN.test(text) || !text.isWellFormed()) return 'hidden'
  if (text.length > MAX_READ_CHARS) return 'too_long'
  const { depth, openers } = countOpeners(text)
  return depth > MAX_OPENER_DEPTH || openers > MAX_OPENERS ? 'too_deep' : null
}

type Frame = 'code' | 'double' | 'backtick'

/** Counts openers that start nested syntax. Text in single quotes and in quoted here-documents is data. */
function countOpeners(text: string): { depth: number; openers: number } {
  const stack: Frame[] = ['code']
  const heredocs: { end: string; tabs: boolean }[] = []
  let openers = 0
  let heredocsSeen = 0
  let depth = 0
  const open = (frame: Frame) => {
    openers++
    stack.push(frame)
    depth = Math.max(depth, stack.length - 1)
  }
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    const frame = stack.at(-1) ?? 'code'
    if (char === '\\') i++
    else if (char === '`') {
      if (frame === 'backtick') stack.pop()
      else open('backtick')
    } else if (frame === 'double') {
      if (char === '"') stack.pop()
      else if (char === '$' && (text[i + 1] === '(' || text[i + 1] === '{')) open('code')
    } else if (char === '"') stack.push('double')
    else if (char === "'") i = endOfSingle(text, i, text[i - 1] === '$')
    else if (char === '#' && /\s/.test(text[i - 1] ?? ' ')) i = lineEnd(text, i) - 1
    else if (char === '(' || char === '{') open('code')
    else if ((char === ')' || char === '}') && stack.length > 1) stack.pop()
    else if (char === '<' && text[i + 1] === '<' && text[i + 2] !== '<') {
      openers++
      const mark = /^<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\(\S+))/.exec(text.slice(i, i + 200))
      if (mark !== null) {
        heredocs.push({ end: mark[2] ?? mark[3] ?? mark[4] ?? '', tabs: mark[1] === '-' })
        i += mark[0].length - 1
      } else {
        depth = Math.max(depth, ++heredocsSeen)
        i++
      }
    } else if (char === '<' && text[i + 1] === '<') i += 2
    else if (char === '\n') {
      for (const heredoc of heredocs.splice(0)) i = skipBody(text, i, heredoc)
    }
  }
  return { depth, openers }
}

function endOfSingle(text: string, from: number, escapes: boolean): number {
  for (let i = from + 1; i < text.length; i++) {
    if (escapes && text[i] === '\\') i++
    else if (text[i] === "'") return i
  }
  return text.length
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** Index of the line feed before what follows a here-document's end line. */
function skipBody(text: string, newline: number, { end, tabs }: { end: string; tabs: boolean }): number {
  let at = newline
  while (at < text.length) {
    const next = lineEnd(text, at + 1)
    const line = text.slice(at + 1, next)
    if ((tabs ? line.replace(/^\t+/, '') : line) === end) return next
    at = next
  }
  return text.length
}
