// Small edits of a JSON text that touch no byte of anyone else's: what is added goes behind the last item, what is removed takes
// only its own lines and one comma with it. Comments are allowed, because people add them later.
import { createScanner, findNodeAtLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser'
import type { Json } from '../../conventions/strict-json.ts'

const PARSE_OPTIONS = { allowTrailingComma: true, disallowComments: false }

/** The tree of a text that is known to parse. Throws when it does not: the caller has checked. */
export function treeOf(text: string): Node {
  const tree = parseTree(text, [], PARSE_OPTIONS)
  if (tree === undefined) throw new Error('the text is not JSON')
  return tree
}

export function has(text: string, path: JSONPath): boolean {
  return findNodeAtLocation(treeOf(text), path) !== undefined
}

/** Value of a string, number, boolean or null at `path`; undefined for anything else. */
export function valueAt(text: string, path: JSONPath): unknown {
  return findNodeAtLocation(treeOf(text), path)?.value
}

/** Adds a property to the object at `path`. */
export function addProperty(text: string, path: JSONPath, key: string, value: Json): string {
  return addLast(text, nodeAt(text, path), `${JSON.stringify(key)}: `, value)
}

/** Adds an item to the end of the array at `path`. */
export function addItem(text: string, path: JSONPath, value: Json): string {
  return addLast(text, nodeAt(text, path), '', value)
}

/** Removes the property or item at `path`. */
export function remove(text: string, path: JSONPath): string {
  const value = nodeAt(text, path)
  const node = value.parent?.type === 'property' ? value.parent : value
  const siblings = node.parent?.children ?? []
  const at = siblings.indexOf(node)
  const end = node.offset + node.length
  const commaAfter = commaFrom(text, end)
  const previous = siblings[at - 1]
  // The last of several gives up the comma before it, every other one the comma behind it.
  const commaBefore = commaAfter < 0 && previous !== undefined ? commaFrom(text, previous.offset + previous.length) : -1
  const cutEnd = commaAfter < 0 ? end : commaAfter + 1
  const [from, to] = wholeLines(text, node.offset, cutEnd)
  const rest = text.slice(0, from) + text.slice(to)
  return commaBefore < 0 ? rest : rest.slice(0, commaBefore) + rest.slice(commaBefore + 1)
}

function nodeAt(text: string, path: JSONPath): Node {
  const node = findNodeAtLocation(treeOf(text), path)
  if (node === undefined) throw new Error(`nothing at ${path.join('.')}`)
  return node
}

function addLast(text: string, container: Node, label: string, value: Json): string {
  const close = container.offset + container.length - 1
  const last = container.children?.at(-1)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const outer = indentAt(text, container.offset)
  const indent = last !== undefined && startsLine(text, last.offset) ? indentAt(text, last.offset) : outer + unit
  const piece = label + JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
  const contentEnd = text.slice(0, close).trimEnd().length
  const lastEnd = last === undefined ? -1 : last.offset + last.length
  const needsComma = lastEnd >= 0 && commaFrom(text, lastEnd) < 0
  const before = needsComma ? `${text.slice(0, lastEnd)},${text.slice(lastEnd, contentEnd)}` : text.slice(0, contentEnd)
  return `${before}${eol}${indent}${piece}${eol}${outer}${text.slice(close)}`
}

/** Offset of the comma that follows `from` before anything but white space and comments; -1 when there is none. */
function commaFrom(text: string, from: number): number {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return text[at] === ',' ? at : -1
}

/** The range, widened to the line break before it when nothing else is on its lines. */
function wholeLines(text: string, from: number, to: number): [number, number] {
  const before = /(?:\r?\n)?[ \t]*$/.exec(text.slice(0, from))?.[0] ?? ''
  const clearBefore = before.includes('\n')
  const clearAfter = /^[ \t]*(?:\r?\n|$)/.test(text.slice(to))
  return clearBefore && clearAfter ? [from - before.length, to] : [from, to]
}

function startsLine(text: string, offset: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(text.slice(0, offset))
}

function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? ''
}
