// A settings file's bytes as text and back, and whether an agent could read it.
import { type Node, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { parseStrict } from '../../conventions/strict-json.ts'
import { treeOf } from './edit.ts'

const BOM = '\ufeff'
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `bom` is kept apart so that it comes back in front of whatever the text becomes. */
export type SettingsText = { ok: true; bom: string; text: string } | { ok: false; message: string }

/** Text of the bytes; a file without any is an empty object to the agent, and to us. */
export function decodeSettings(bytes: Uint8Array | null): SettingsText {
  try {
    const all = bytes === null ? '' : UTF8.decode(bytes)
    const bom = all.startsWith(BOM) ? BOM : ''
    const text = all.slice(bom.length)
    return { ok: true, bom, text: text.trim() === '' ? '{}\n' : text }
  } catch {
    return { ok: false, message: 'is not UTF-8' }
  }
}

/**
 * Why hooks put into this text would not run, or null. Claude Code 2.1.332 loads nothing of a file with comments or trailing
 * commas, and of two equal keys takes the last.
 */
export function whyUnusable(text: string): string | null {
  const parsed = parseStrict(text, { looseNumbers: true })
  if (!parsed.ok) {
    const comments = isJsonc(text)
      ? ' (comments and trailing commas are none: the agent loads nothing of such a file)'
      : ''
    return `is not JSON: ${parsed.error.message}${comments}`
  }
  return wrongShape(text)
}

/** Why our entries can't be looked for in this text, or null. Comments are allowed. */
export function whyUneditable(text: string): string | null {
  return isJsonc(text) ? wrongShape(text) : `is not JSON: ${jsoncErrors(text)[0] ?? 'empty'}`
}

function wrongShape(text: string): string | null {
  const root = treeOf(text)
  if (root.type !== 'object') return 'does not hold a JSON object'
  const twice = keyTwice(root)
  if (twice !== null) return `says ${JSON.stringify(twice)} twice`
  const hooks = memberOf(root, 'hooks')
  if (hooks === undefined) return null
  if (hooks.type !== 'object') return 'has "hooks" that are no object'
  const eventTwice = keyTwice(hooks)
  if (eventTwice !== null) return `says ${JSON.stringify(eventTwice)} twice in "hooks"`
  const odd = hooks.children?.find((property) => property.children?.[1]?.type !== 'array')
  return odd === undefined ? null : `has ${JSON.stringify(odd.children?.[0]?.value)} in "hooks" that is no list`
}

function memberOf(object: Node, key: string): Node | undefined {
  return object.children?.find((property) => property.children?.[0]?.value === key)?.children?.[1]
}

function keyTwice(object: Node): string | null {
  const seen = new Set<string>()
  for (const property of object.children ?? []) {
    const key: string = property.children?.[0]?.value
    if (seen.has(key)) return key
    seen.add(key)
  }
  return null
}

function isJsonc(text: string): boolean {
  return jsoncErrors(text).length === 0
}

function jsoncErrors(text: string): string[] {
  const errors: ParseError[] = []
  parse(text, errors, { allowTrailingComma: true, disallowComments: false, allowEmptyContent: false })
  return errors.map(({ error, offset }) => `${printParseErrorCode(error)} at character ${offset}`)
}
