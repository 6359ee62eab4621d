// find, fd and xargs: programs that run others over paths they find.
import { UNKNOWN } from '../../call.ts'
import { hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import type { Field, Out, Shell, Taint } from '../shell/state.ts'
import { mix, NO_TAINTS, NOTHING, plain, unknownOut } from '../shell/state.ts'
import type { Cmd, Readers } from './types.ts'

const EXECS = /^-(?:exec|execdir|ok|okdir)$/
const PRINTS = /^-(?:fprint|fprint0|fls|fprintf)$/
const NAMES = /^-(?:name|iname|path|ipath|wholename|iwholename)$/
const FILTERS =
  /^-(?:empty|size|mtime|mmin|atime|amin|ctime|cmin|newer\w*|user|group|perm|links|inum|regex|iregex|samefile|nouser|nogroup)$/

export const findReaders: Readers = { find, gfind: find, fd, fdfind: fd, xargs, gxargs: xargs }

function find(cmd: Cmd, shell: Shell): Out {
  const { args } = cmd
  let at = 0
  while (args[at] !== undefined && /^-[HLPDO]/.test(args[at]?.text ?? '')) at++
  const roots: Field[] = []
  while (args[at] !== undefined && !/^[-(!]/.test(args[at]?.text ?? '')) roots.push(args[at++] ?? plain('.'))
  if (roots.length === 0) roots.push(plain('.'))
  const tests = args.slice(at)
  const found = foundIn(roots, tests)
  let printed = true
  let taints = NO_TAINTS
  for (let i = 0; i < tests.length; i++) {
    const word = tests[i]?.text ?? ''
    if (word === '-delete') {
      printed = false
      for (const field of found) shell.sink.delete(field.text, cmd.name, field.tree)
    } else if (EXECS.test(word)) {
      printed = false
      const end = tests.findIndex(({ text }, n) => n > i && (text === ';' || text === '+'))
      const words = tests.slice(i + 1, end < 0 ? undefined : end)
      taints = mix(taints, runOver(shell, words, found, [...cmd.via, cmd.name]))
      if (end < 0) break
      i = end
    } else if (PRINTS.test(word)) {
      const file = tests[++i]
      if (file !== undefined) shell.sink.write(file.text, cmd.name)
    } else if (word === '-files0-from' && tests[i + 1] !== undefined) shell.sink.read(tests[++i]?.text ?? '', cmd.name)
  }
  return { text: null, taints, fields: printed ? found : null }
}

/** What the tests leave of the trees, as one path per root: `root/**` + name, or the root as a tree. */
function foundIn(roots: Field[], tests: Field[]): Field[] {
  const negated = (i: number) => /^(!|-not)$/.test(tests[i - 1]?.text ?? '')
  const patterns = tests.flatMap(({ text }, i) => (NAMES.test(text) && !negated(i) ? [tests[i + 1] ?? plain('*')] : []))
  const filtered = tests.some(({ text }, i) => FILTERS.test(text) && !negated(i))
  const either = tests.some(({ text }) => /^(-o|-or|,)$/.test(text))
  return roots.flatMap((root): Field[] => {
    const names = patterns.map(({ text }) => text.split('/').at(-1) ?? '').filter((name) => !/^[*?.]*$/.test(name))
    if (names.length > 0 && (names.length === patterns.length || !either))
      return names.map((name) => ({ ...withText(root, `${root.text}/**/${name}`), tree: false }))
    if (filtered) return [{ ...withText(root, `${root.text}/**/${UNKNOWN}`), tree: true }]
    return [{ ...root, tree: true }]
  })
}

/** Runs a command over each path; says what its output carries. */
function runOver(shell: Shell, words: Field[], found: Field[], via: string[]): ReadonlySet<Taint> {
  let taints = NO_TAINTS
  for (const field of found) {
    const command = words.map((word) =>
      word.text.includes('{}') ? { ...field, text: word.text.replaceAll('{}', field.text) } : word,
    )
    taints = mix(taints, shell.runFields(shell, command, NOTHING, via).taints)
  }
  return taints
}

function fd(cmd: Cmd, shell: Shell): Out {
  const at = cmd.args.findIndex(({ text }) => /^(-x|-X|--exec|--exec-batch)$/.test(text))
  const own = at < 0 ? cmd.args : cmd.args.slice(0, at)
  const { operands } = parseOptions(own, {
    valued: names('-e -t -d -E -g -S -o -c -j --type --extension --max-depth --exclude'),
  })
  const roots = operands.length > 1 ? operands.slice(1) : [plain('.')]
  const found = roots.map((root) => ({ ...root, tree: true }))
  if (at >= 0) {
    const words = cmd.args.slice(at + 1)
    const whole = words.some(({ text }) => text.includes('{')) ? words : [...words, plain('{}')]
    return { text: null, taints: runOver(shell, whole, found, [...cmd.via, cmd.name]), fields: null }
  }
  return { text: null, taints: NO_TAINTS, fields: found }
}

const XARGS_VALUES = names(
  '-I -n -P -L -d -a -E -s -J -R -S --replace --max-args --max-procs --max-lines --delimiter --arg-file --eof --max-chars',
)

function xargs(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: XARGS_VALUES, stopAtOperand: true })
  for (const file of valuesOf(parsed, '-a', '--arg-file')) shell.sink.read(file.text, cmd.name)
  const listed = valuesOf(parsed, '-a', '--arg-file').length > 0
  const given = inputFields(listed ? unknownOut('file') : cmd.input)
  const mark = valuesOf(parsed, '-I', '-J', '--replace')[0]?.text ?? (hasFlag(parsed, '-i') ? '{}' : null)
  if (parsed.operands.length === 0) return { ...cmd.input, fields: given }
  const words = parsed.operands
  const commands =
    mark === null
      ? [[...words, ...given]]
      : given.map((field) =>
          words.map((word) =>
            word.text.includes(mark) ? { ...field, text: word.text.replaceAll(mark, field.text) } : word,
          ),
        )
  let out: Out = unknownOut('command')
  for (const command of commands) out = shell.runFields(shell, command, NOTHING, [...cmd.via, cmd.name])
  return out
}

/** Words that xargs would read from its input. */
function inputFields(input: Out): Field[] {
  if (input.fields !== null) return input.fields
  if (input.text === null) return [{ ...plain(UNKNOWN), taints: input.taints }]
  return input.text
    .split(/[\s\0]+/)
    .filter((word) => word !== '')
    .slice(0, 64)
    .map((word) => ({ ...plain(word.replace(/^(['"])(.*)\1$/, '$2')), taints: input.taints }))
}
