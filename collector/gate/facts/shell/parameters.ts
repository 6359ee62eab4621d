// `${name…}`: defaults, cuts, replacements and the rest, computed where the value is known.
import type { ParameterExpansionPart, Word } from 'unbash'
import { UNKNOWN } from '../../call.ts'
import { wordMatches } from '../../glob.ts'
import type { Field, Shell } from './state.ts'
import { mix, plain } from './state.ts'
import { variable } from './variables.ts'

/** Characters. Longer values are not computed with: the cost grows with the square of the length. */
const MAX_COMPUTED_CHARS = 1_000

type Single = (word: Word) => Field

/** Fields of a parameter expansion. `again` runs what `@P` would run. */
export function transform(
  shell: Shell,
  part: ParameterExpansionPart,
  single: Single,
  again: (text: string) => void,
): Field[] {
  const values = indexed(variable(shell, part.parameter), part.index === undefined ? null : single(part.index).text)
  if (part.prefix === '#') return [plain(UNKNOWN)]
  const fields = part.prefix === '!' ? values.flatMap(({ text }) => indirect(shell, text)) : values
  const { operation } = part
  if (operation === undefined) return fields
  const known = fields.every(({ text }) => !text.includes(UNKNOWN))
  switch (operation.type) {
    case 'Default': {
      const operand = single(operation.operand)
      const assigns = operation.operator.endsWith('=')
      if (operation.operator.endsWith('?')) return fields
      if (operation.operator.endsWith('+')) return [operand]
      if (assigns && !known) shell.scope.vars.set(part.parameter, [operand])
      return known && fields.some(({ text }) => text !== '') ? fields : [operand]
    }
    case 'Transform':
      if (single(operation.operand).text === 'P') {
        for (const { text } of fields) again(text)
        if (!known) shell.sink.opaque('dynamic_command', 'shell')
      }
      return fields
    case 'Names':
      return [plain(UNKNOWN)]
    case 'Remove': {
      const pattern = single(operation.operand)
      return fields.map((field) => change(field, known, (text) => cut(text, pattern.text, operation.operator)))
    }
    case 'Replace': {
      const [pattern, replacement] = [single(operation.pattern), single(operation.replacement)]
      const sure = known && !/[*?[\]]/.test(pattern.text) && !(pattern.text + replacement.text).includes(UNKNOWN)
      const every = operation.operator === '//'
      return fields.map((field) =>
        change(field, sure && /^\/\/?$/.test(operation.operator), (text) =>
          every ? text.replaceAll(pattern.text, replacement.text) : text.replace(pattern.text, () => replacement.text),
        ),
      )
    }
    case 'Slice': {
      const from = Number(single(operation.offset).text)
      const length = operation.length === undefined ? undefined : Number(single(operation.length).text)
      const sure =
        known && Number.isInteger(from) && (length === undefined || (Number.isInteger(length) && length >= 0))
      return fields.map((field) =>
        change(field, sure, (text) => {
          const tail = text.slice(from)
          return length === undefined ? tail : tail.slice(0, length)
        }),
      )
    }
    case 'CaseModification': {
      const upper = operation.operator.startsWith('^')
      const whole = operation.operator.length === 2
      return fields.map((field) =>
        change(field, known && operation.operand === undefined, (text) => {
          const head = whole ? text : text.slice(0, 1)
          return (upper ? head.toUpperCase() : head.toLowerCase()) + text.slice(head.length)
        }),
      )
    }
    default:
      return fields.map((field) => change(field, false, (text) => text))
  }
}

function change(field: Field, sure: boolean, make: (text: string) => string): Field {
  return { ...field, text: sure && field.text.length <= MAX_COMPUTED_CHARS ? make(field.text) : UNKNOWN }
}

function indexed(values: Field[], index: string | null): Field[] {
  if (index === null || index === '@' || index === '*') return values
  const nth = Number(index)
  if (Number.isInteger(nth)) return [values.at(nth) ?? plain(UNKNOWN)]
  return [{ ...plain(UNKNOWN), taints: mix(...values.map(({ taints }) => taints)) }]
}

function indirect(shell: Shell, name: string): Field[] {
  return /^\w+$/.test(name) ? variable(shell, name) : [plain(UNKNOWN)]
}

/** `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`; a pattern that does not match cuts nothing. */
function cut(text: string, pattern: string, operator: string): string {
  if (pattern.includes(UNKNOWN)) return UNKNOWN
  const front = operator.startsWith('#')
  const longest = operator.length === 2
  for (let n = 0; n <= text.length; n++) {
    const size = longest ? text.length - n : n
    const piece = front ? text.slice(0, size) : text.slice(text.length - size)
    if (wordMatches(piece, pattern)) return front ? text.slice(size) : text.slice(0, text.length - size)
  }
  return text
}
