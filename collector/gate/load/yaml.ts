// A policy's YAML text as a value, and where in the text each part of it stands.
import { isNode, LineCounter, parseDocument } from 'yaml'

export interface PolicyProblem {
  /** Where in the file: `rules[2].then`; empty for the file as a whole. */
  path: string
  message: string
  /** From 1. */
  line?: number
  column?: number
  /** The file, where it is not the one that was asked for: one that it extends. */
  file?: string
}

/** Keys and indexes that lead to a part of the file. */
export type Path = readonly (string | number)[]

export interface YamlFile {
  value: unknown
  /** A problem at a part of the file, with its line and column. */
  at(path: Path, message: string): PolicyProblem
}

/** Characters. Far above any real policy; a parser's time grows with it. */
const MAX_POLICY_CHARS = 1_000_000

/** Uses of YAML anchors: a few are handy, many are a bomb. */
const MAX_ALIASES = 50

/** Reads the text. Errors of YAML itself are all listed. */
export function readYaml(text: string): { ok: true; file: YamlFile } | { ok: false; errors: PolicyProblem[] } {
  if (text.length > MAX_POLICY_CHARS)
    return { ok: false, errors: [{ path: '', message: `is longer than ${MAX_POLICY_CHARS} characters` }] }
  const lines = new LineCounter()
  const place = (offset: number | undefined) => {
    if (offset === undefined) return {}
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const document = parseDocument(text, { uniqueKeys: true, strict: true, prettyErrors: false, lineCounter: lines })
  if (document.errors.length > 0) {
    const errors = document.errors.map(({ message, code, pos }) => ({
      path: '',
      message: `is no YAML: ${message.split('\n')[0] ?? code}`,
      ...place(pos[0]),
    }))
    return { ok: false, errors }
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    // An alias without its anchor, or too many of them, shows only here.
    if (error instanceof ReferenceError) return { ok: false, errors: [{ path: '', message: error.message }] }
    throw error
  }
  const at = (path: Path, message: string): PolicyProblem => {
    // The nearest part that is written: a missing field has no place of its own.
    for (let end = path.length; end >= 0; end--) {
      const node = end === 0 ? document.contents : document.getIn(path.slice(0, end), true)
      if (isNode(node) && node.range != null) return { path: pathText(path), message, ...place(node.range[0]) }
    }
    return { path: pathText(path), message }
  }
  return { ok: true, file: { value, at } }
}

/** `rules[2].then` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? key : `${text}.${key}`
  }, '')
}

/** One line for people: `base.yaml: rules[2].then: … (line 7, column 11)`. */
export function problemText({ file, path, message, line, column }: PolicyProblem): string {
  const where = [file, path].filter((part) => part !== undefined && part !== '').join(': ')
  const place = line === undefined ? '' : ` (line ${line}, column ${column})`
  return `${where === '' ? 'the file' : where}: ${message}${place}`
}
