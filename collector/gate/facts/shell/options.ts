// Options of a command line taken apart: clusters, values, operands, the end-of-options mark.
import type { Field } from './state.ts'
import { plain } from './state.ts'

export interface Flag {
  /** `-f`, `--force`. */
  name: string
  value: Field | null
}

export interface Parsed {
  flags: Flag[]
  operands: Field[]
  /** Operands after `--`; also among `operands`. */
  rest: Field[]
}

export interface OptionSpec {
  /** Options that take the next word as value: `-m`, `--message`. */
  valued?: ReadonlySet<string>
  /** Long options start with one dash (find, terraform): no clusters. */
  oneDash?: boolean
  /** Everything from the first operand on belongs to another command. */
  stopAtOperand?: boolean
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Takes the words after a program's name apart. */
export function parseOptions(args: readonly Field[], spec: OptionSpec = {}): Parsed {
  const parsed: Parsed = { flags: [], operands: [], rest: [] }
  const { valued = NO_NAMES, oneDash = false, stopAtOperand = false } = spec
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (arg === undefined) break
    const { text } = arg
    if (text === '--') {
      parsed.rest = args.slice(i + 1)
      parsed.operands.push(...parsed.rest)
      break
    }
    if (!text.startsWith('-') || text === '-') {
      if (stopAtOperand) {
        parsed.operands.push(...args.slice(i))
        break
      }
      parsed.operands.push(arg)
      continue
    }
    if (text.startsWith('--') || oneDash) {
      const equals = text.indexOf('=')
      if (equals > 0)
        parsed.flags.push({ name: text.slice(0, equals), value: { ...arg, text: text.slice(equals + 1) } })
      else parsed.flags.push({ name: text, value: valued.has(text) ? (args[++i] ?? null) : null })
      continue
    }
    for (let at = 1; at < text.length; at++) {
      const name = `-${text[at]}`
      if (!valued.has(name)) {
        parsed.flags.push({ name, value: null })
        continue
      }
      const glued = text.slice(at + 1)
      parsed.flags.push({
        name,
        value: glued === '' ? (args[++i] ?? null) : { ...arg, text: glued.replace(/^=(?=.)/, '') },
      })
      break
    }
  }
  return parsed
}

const lines = new Map<string, ReadonlySet<string>>()

/** Set of option names from a line such as `-m --message -o`. For lines written in this program: each is read once and kept. */
export function names(line: string): ReadonlySet<string> {
  const known = lines.get(line)
  if (known !== undefined) return known
  const made = new Set(line.split(' ').filter((name) => name !== ''))
  lines.set(line, made)
  return made
}

/** Values given to any of these options. */
export function valuesOf(parsed: Parsed, ...options: string[]): Field[] {
  return parsed.flags.flatMap(({ name, value }) => (value !== null && options.includes(name) ? [value] : []))
}

/** True when any of these options is there. */
export function hasFlag(parsed: Parsed, ...options: string[]): boolean {
  return parsed.flags.some(({ name }) => options.includes(name))
}

/** Flags as a rule sees them: `-f`, `--depth=1`. */
export function flagWords(parsed: Parsed): string[] {
  return parsed.flags.map(({ name, value }) => (value === null ? name : `${name}=${value.text}`))
}

/** A field with other text. */
export function withText(field: Field | undefined, text: string): Field {
  return { ...(field ?? plain('')), text }
}
