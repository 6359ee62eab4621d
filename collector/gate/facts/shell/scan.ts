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

/** Nothing in it is hidden, and a character is a byte: nearly every command. */
const PLAIN = /^[\t\n\x20-\x7e]*$/
/** Without any of these nothing opens. */
const OPENER = /[\\`"'({<#)}]/

/** What is wrong with the text, or null. `hidden` and `syntax` may be parsed all the same, the rest must not. */
export function scan(text: string): OpaqueKind | null {
  if (text.length > MAX_SHELL_BYTES || Buffer.byteLength(text) > MAX_SHELL_BYTES) return 'oversize'
  if (text.length > MAX_READ_CHARS) return 'too_long'
  const isPlain = PLAIN.test(text)
  if (isPlain && !OPENER.test(text)) return null
  const { depth, openers, closed } = countOpeners(text)
  if (depth > MAX_OPENER_DEPTH || openers > MAX_OPENERS) return 'too_deep'
  if (!isPlain && (HIDDEN.test(text) || !text.isWellFormed())) return 'hidden'
  return closed ? null : 'syntax'
}

type Frame = 'paren' | 'brace' | 'double' | 'backtick'

interface Openers {
  /** Deepest nesting. */
  depth: number
  openers: number
  /** Every parenthesis, backtick and double quote has its end. */
  closed: boolean
}

/** Counts openers that start nested syntax. Text in single quotes and in quoted here-documents is data. */
function countOpeners(text: string): Openers {
  const stack: Frame[] = []
  const heredocs: HereDocument[] = []
  let openers = 0
  let depth = 0
  const open = (frame: Frame) => {
    openers++
    stack.push(frame)
    depth = Math.max(depth, stack.length)
  }
  const close = (frame: Frame) => {
    const at = stack.lastIndexOf(frame)
    if (at >= 0) stack.length = at
  }
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    const frame = stack.at(-1)
    if (char === '\\') i++
    else if (char === '`') {
      if (stack.includes('backtick')) close('backtick')
      else open('backtick')
    } else if (frame === 'double') {
      if (char === '"') stack.pop()
      else if (char === '$' && text[i + 1] === '(') open('paren')
      else if (char === '$' && text[i + 1] === '{') open('brace')
      if (char === '$' && stack.at(-1) !== 'double') i++
    } else if (char === '"') stack.push('double')
    else if (char === "'") i = endOfSingle(text, i, text[i - 1] === '$')
    else if (char === '#' && /\s/.test(text[i - 1] ?? ' ')) i = lineEnd(text, i) - 1
    else if (char === '(') open('paren')
    else if (char === '{') open('brace')
    else if (char === ')') close('paren')
    else if (char === '}') close('brace')
    else if (char === '<' && text[i + 1] === '<' && text[i + 2] !== '<') {
      openers++
      const mark = hereDocument(text, i)
      heredocs.push(mark)
      depth = Math.max(depth, heredocs.filter(({ quoted }) => !quoted).length)
      i += mark.length - 1
    } else if (char === '<' && text[i + 1] === '<') i += 2
    else if (char === '\n') {
      for (const heredoc of heredocs.splice(0)) {
        const end = skipBody(text, i, heredoc)
        if (!heredoc.quoted) {
          const inside = countInBody(text.slice(i, end))
          openers += inside.openers
          depth = Math.max(depth, stack.length + inside.depth)
        }
        i = end
      }
    }
  }
  return { depth, openers, closed: stack.every((frame) => frame === 'brace') }
}

interface HereDocument {
  end: string
  tabs: boolean
  quoted: boolean
  /** Characters of the operator and its word. */
  length: number
}

function hereDocument(text: string, at: number): HereDocument {
  const match = /^<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\(\w+)|(\w*))/.exec(text.slice(at, at + 200))
  const [all = '<<', dash, single, double, escaped, plain] = match ?? []
  const quoted = single ?? double ?? escaped
  return { end: quoted ?? plain ?? '', tabs: dash === '-', quoted: quoted !== undefined, length: all.length }
}

/** Substitutions of an unquoted here-document; quotes mean nothing there. */
function countInBody(body: string): { depth: number; openers: number } {
  let openers = 0
  let depth = 0
  let level = 0
  for (let i = 0; i < body.length; i++) {
    if (body[i] === '\\') i++
    else if (body[i] === '`' || (body[i] === '$' && /[({]/.test(body[i + 1] ?? ''))) {
      openers++
      depth = Math.max(depth, body[i] === '`' ? depth : ++level)
    } else if (body[i] === ')' || body[i] === '}') level = Math.max(0, level - 1)
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
function skipBody(text: string, newline: number, { end, tabs }: HereDocument): number {
  let at = newline
  while (at < text.length) {
    const next = lineEnd(text, at + 1)
    const line = text.slice(at + 1, next)
    if ((tabs ? line.replace(/^\t+/, '') : line) === end) return next
    at = next
  }
  return text.length
}
