// Words: quotes, variables, braces and substitutions of one word turned into the fields a command gets.
import type {
  ArithmeticExpression,
  AssignmentPrefix,
  CommandArgument,
  DoubleQuotedChild,
  ParsedScript,
  Word,
  WordPart,
} from 'unbash'
import { forEachChild, parse } from 'unbash'
import { UNKNOWN } from '../../call.ts'
import { expandBraces } from '../../glob.ts'
import { transform } from './parameters.ts'
import { ODD_UNQUOTED } from './scan.ts'
import type { Field, Out, Shell, Taint } from './state.ts'
import { deeper, mix, NO_TAINTS, NOTHING, plain, step } from './state.ts'
import { variable } from './variables.ts'

/** Fields one word may become; more are one unknown field. */
const MAX_FIELDS = 64
/** Characters. A word that grows beyond what any path or command has (`x=$x$x` again and again) counts as unknown. */
const MAX_WORD_CHARS = 32_768

/** Runs the script of a substitution in a subshell; given by the walker. */
export type RunScript = (shell: Shell, script: ParsedScript, input: Out) => Out

/** Fields of a word, in order. An unset variable leaves UNKNOWN, not nothing: the environment may hold it. */
export function expandWord(shell: Shell, word: Word, run: RunScript): Field[] {
  step(shell)
  const state: Open = { done: [], open: [plain('')], started: word.text !== '' }
  if (word.parts === undefined) {
    literal(shell, state, word.value, word.text)
    return state.open
  }
  for (const part of word.parts) expandPart(shell, state, part, run)
  const fields = [...state.done, ...(state.started ? state.open : [])]
  return fields.length > MAX_FIELDS
    ? [{ ...plain(UNKNOWN), taints: mix(...fields.map(({ taints }) => taints)) }]
    : fields
}

/** One field: what an assignment or a redirect target becomes. */
export function expandSingle(shell: Shell, word: Word, run: RunScript): Field {
  const fields = expandWord(shell, word, run)
  const [first] = fields
  if (fields.length === 1 && first !== undefined) return first
  return { ...plain(fields.map(({ text }) => text).join(' ')), taints: mix(...fields.map(({ taints }) => taints)) }
}

/** Fields of a command's arguments; `A=1` after a declaring builtin stays one field. */
export function expandArguments(shell: Shell, args: readonly CommandArgument[], run: RunScript): Field[] {
  const fields: Field[] = []
  for (const arg of args) {
    if (arg.type === 'Word') fields.push(...expandWord(shell, arg, run))
    else fields.push(assignmentField(shell, arg, run))
  }
  return fields
}

function assignmentField(shell: Shell, assignment: AssignmentPrefix, run: RunScript): Field {
  const values = assignedFields(shell, assignment, run)
  return {
    ...plain(`${assignment.name}=${values.map(({ text }) => text).join(' ')}`),
    taints: mix(...values.map((value) => value.taints)),
  }
}

/** What an assignment puts into its variable. */
export function assignedFields(shell: Shell, { value, index }: AssignmentPrefix, run: RunScript): Field[] {
  if (index !== undefined) expandWord(shell, index, run)
  if (value.type === 'ArrayValue') return value.elements.flatMap((element) => expandWord(shell, element, run))
  return [expandSingle(shell, value, run)]
}

interface Open {
  done: Field[]
  /** The field being built, in all the forms braces give it. Nobody else holds these until they are done. */
  open: Field[]
  started: boolean
}

function append(state: Open, text: string, taints: ReadonlySet<Taint> = NO_TAINTS, glob = false): void {
  state.started = true
  for (const field of state.open) {
    field.text = field.text.length + text.length > MAX_WORD_CHARS ? UNKNOWN : field.text + text
    if (taints.size > 0) field.taints = mix(field.taints, taints)
    if (glob) field.glob = true
  }
}

/** Text outside quotes. A backslash makes a character literal, so the written text is looked at, not the value. */
function literal(shell: Shell, state: Open, value: string, text: string): void {
  if (ODD_UNQUOTED.test(text)) shell.sink.opaque('hidden', 'shell')
  append(state, value)
}

function expandPart(shell: Shell, state: Open, part: WordPart, run: RunScript): void {
  step(shell)
  switch (part.type) {
    case 'Literal':
      literal(shell, state, part.value, part.text)
      return
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      append(state, part.value)
      return
    case 'DoubleQuoted':
    case 'LocaleString':
      state.started = true
      for (const child of part.parts) quotedPart(shell, state, child, run)
      return
    case 'Glob':
      append(state, part.value, NO_TAINTS, true)
      return
    case 'ExtendedGlob':
      append(state, '*', NO_TAINTS, true)
      return
    case 'BraceExpansion':
      braces(shell, state, part.text, run)
      return
    case 'ProcessSubstitution': {
      const out = part.script === undefined ? NOTHING : run(shell, part.script, { ...NOTHING, text: null })
      state.open = state.open.map((field) => ({
        ...field,
        text: '/dev/fd/63',
        taints: mix(field.taints, out.taints),
        stream: out,
      }))
      state.started = true
      return
    }
    default:
      unquoted(shell, state, expansion(shell, part, run))
      return
  }
}

function quotedPart(shell: Shell, state: Open, part: DoubleQuotedChild, run: RunScript): void {
  step(shell)
  if (part.type === 'Literal') {
    append(state, part.value)
    return
  }
  const fields = expansion(shell, part, run)
  const everyField = /^\$\{?(@|\w+\[@\])/.test(part.text)
  if (!everyField || fields.length === 0) {
    append(state, fields.map(({ text }) => text).join(' '), mix(...fields.map(({ taints }) => taints)))
    return
  }
  for (const [index, field] of fields.entries()) {
    if (index > 0) nextField(state)
    append(state, field.text, field.taints)
  }
}

/** Splits an unquoted expansion at blanks, as the shell does. */
function unquoted(shell: Shell, state: Open, fields: Field[]): void {
  const separators = shell.scope.vars.get('IFS')?.[0]?.text ?? ''
  for (const [index, field] of fields.entries()) {
    if (index > 0) nextField(state)
    const pieces = [...separators].reduce((text, char) => text.replaceAll(char, ' '), field.text).split(/[ \t\n]+/)
    for (const [nth, piece] of pieces.entries()) {
      if (nth > 0) nextField(state)
      if (piece !== '' || field.taints.size > 0) append(state, piece, field.taints, /[*?]/.test(piece))
    }
  }
  if (fields.length === 1 && state.open.length === 1)
    state.open = state.open.map((field) => ({ ...field, tree: fields[0]?.tree ?? false }))
}

function nextField(state: Open): void {
  state.done.push(...state.open.filter(({ text }) => text !== ''))
  state.open = [plain('')]
  state.started = false
}

function braces(shell: Shell, state: Open, text: string, run: RunScript): void {
  const range = /^\{(-?\w+)\.\.(-?\w+)(?:\.\.-?\d+)?\}$/.exec(text)
  const items = range === null ? expandBraces(text) : rangeItems(range[1] ?? '', range[2] ?? '')
  const values = items.flatMap((item) => (/[$`'"\\]/.test(item) ? wordsIn(shell, item, run) : [plain(item)]))
  state.started = true
  if (values.length * state.open.length > MAX_FIELDS) {
    append(state, UNKNOWN)
    return
  }
  state.open = state.open.flatMap((field) =>
    values.map((value) => ({ ...field, text: field.text + value.text, taints: mix(field.taints, value.taints) })),
  )
}

function rangeItems(from: string, to: string): string[] {
  const numeric = /^-?\d+$/.test(from) && /^-?\d+$/.test(to)
  const [a, b] = numeric ? [Number(from), Number(to)] : [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0]
  if (Math.abs(a - b) >= MAX_FIELDS) return [UNKNOWN]
  return Array.from({ length: Math.abs(a - b) + 1 }, (_, i) => {
    const value = a < b ? a + i : a - i
    return numeric ? String(value) : String.fromCodePoint(value)
  })
}

function wordsIn(shell: Shell, text: string, run: RunScript): Field[] {
  return deeper(shell, () => {
    const command = parse(`: ${text}`).commands[0]?.command
    return command?.type === 'Command' ? expandArguments(shell, command.args, run) : [plain(UNKNOWN)]
  })
}

type Expansion = Exclude<DoubleQuotedChild, { type: 'Literal' }>

function expansion(shell: Shell, part: Expansion, run: RunScript): Field[] {
  switch (part.type) {
    case 'SimpleExpansion':
      return variable(shell, part.text.slice(1))
    case 'ParameterExpansion':
      return transform(
        shell,
        part,
        (word) => expandSingle(shell, word, run),
        (text) => substitutionsIn(shell, text, run),
      )
    case 'CommandExpansion':
      return part.script === undefined ? [plain(UNKNOWN)] : substitution(run(shell, part.script, NOTHING))
    default:
      if (part.expression !== undefined) arithmetic(shell, part.expression, run)
      return [plain(UNKNOWN)]
  }
}

function substitution(out: Out): Field[] {
  if (out.fields !== null) return out.fields
  const taints = mix(out.taints, new Set<Taint>(['command']))
  if (out.text === null) return [{ ...plain(UNKNOWN), taints }]
  return [{ ...plain(out.text.replace(/\n+$/, '')), taints: out.taints }]
}

/** Arithmetic reads variables again as expressions: text in them that holds a substitution runs. */
export function arithmetic(shell: Shell, expression: ArithmeticExpression, run: RunScript): void {
  step(shell)
  if (expression.type === 'ArithmeticCommandExpansion') {
    if (expression.script !== undefined) run(shell, expression.script, NOTHING)
    return
  }
  if (expression.type === 'ArithmeticWord') {
    for (const part of expression.parts ?? [])
      expandPart(shell, { done: [], open: [plain('')], started: true }, part, run)
    for (const field of shell.scope.vars.get(expression.value) ?? []) substitutionsIn(shell, field.text, run)
    return
  }
  forEachChild(expression, (child) => arithmetic(shell, child as ArithmeticExpression, run))
}

/** Runs the substitutions that text holds when a shell expands it a second time. */
export function substitutionsIn(shell: Shell, text: string, run: RunScript): void {
  if (!/[`]|\$\(/.test(text)) return
  deeper(shell, () => {
    const script = parse(`: "${text.replaceAll('"', '')}"`)
    run(shell, script, NOTHING)
  })
}
