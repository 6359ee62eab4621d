// Reads the programs that one line of the table describes.

import { flagWords, type OptionSpec, parseOptions, withText } from '../shell/options.ts'
import { fileContent, key } from '../shell/redirects.ts'
import type { Field, Out, Shell } from '../shell/state.ts'
import { deeper, mix, NOTHING, plain, unknownOut } from '../shell/state.ts'
import type { Operands } from './table.ts'
import { LINES, PLAIN } from './table.ts'
import type { Cmd, Readers } from './types.ts'

/** A command that a pager or editor runs when it starts; a line number or a search is none. */
const STARTUP = /^\+(?![/\d]|$)/

const ABOUT: Record<string, string> = {
  read: 'read',
  write: 'write',
  exec: 'exec',
  conf: 'conf',
  value: 'value',
  pattern: 'value',
  patterns: 'read',
  two: 'value',
  editor: 'exec',
}

/** The readers of all these programs. */
export function simpleReaders(): Readers {
  const readers: Readers = {}
  for (const name of PLAIN.split(' ')) readers[name] = () => unknownOut('command')
  for (const [programs, operands, options = ''] of LINES) {
    const effects = new Map(
      options
        .split(' ')
        .filter((item) => item !== '')
        .map((item) => [item.slice(0, item.indexOf(':')), item.slice(item.indexOf(':') + 1)]),
    )
    const spec = {
      valued: new Set(effects.keys()),
      oneDash: [...effects.keys()].some((name) => /^-\w{2,}$/.test(name)),
    }
    for (const program of programs.split(' '))
      readers[program] = (cmd, shell) => readSimple(cmd, shell, operands, effects, spec)
  }
  return readers
}

function readSimple(
  cmd: Cmd,
  shell: Shell,
  operands: Operands,
  effects: ReadonlyMap<string, string>,
  spec: OptionSpec,
): Out {
  const parsed = parseOptions(cmd.args, spec)
  cmd.run.flags = flagWords(parsed)
  cmd.run.words = parsed.operands.map(({ text }) => text)
  let hasPattern = false
  for (const { name, value } of parsed.flags) {
    const effect = effects.get(name)
    if (effect === 'pattern' || effect === 'patterns') hasPattern = true
    if (value !== null && effect !== undefined) optionEffect(cmd, shell, ABOUT[effect] ?? 'value', value)
  }
  for (const operand of parsed.operands)
    if (STARTUP.test(operand.text) && /^(less|more|most|view|vi|vim|nvim|gvim|ex|emacs)$/.test(cmd.name))
      optionRuns(cmd, shell, withText(operand, operand.text.slice(1)))
  const skips = operands.startsWith('skip') && !hasPattern
  const files = skips ? parsed.operands.slice(1) : parsed.operands
  const recursive =
    parsed.flags.some(({ name }) => /^(-r|-R|--recursive|--dereference-recursive)$/.test(name)) ||
    /^(rg|ag|ack|pt)$/.test(cmd.name)
  const quiet =
    /grep$|^rg$/.test(cmd.name) &&
    parsed.flags.some(({ name }) => /^(-q|-c|-l|-L|--quiet|--silent|--count|--files-with-matches|--files)$/.test(name))
  const namesOnly =
    cmd.name === 'cut' &&
    parsed.flags.some(({ name, value }) => name === '-f' && value?.text === '1') &&
    parsed.flags.some(({ name, value }) => name === '-d' && value?.text === '=')
  if (!quiet && !namesOnly) touch(cmd, shell, operands, files, recursive)
  return output(
    cmd,
    shell,
    operands,
    files,
    quiet || parsed.flags.some(({ name }) => name === '-l' && /grep$|^rg$/.test(cmd.name)),
  )
}

function optionEffect(cmd: Cmd, shell: Shell, effect: string, value: Field): void {
  if (effect === 'read') shell.sink.read(value.text, cmd.name)
  if (effect === 'write') shell.sink.write(value.text, cmd.name)
  if (effect === 'conf') configuration(cmd, shell, value)
  if (effect === 'exec') optionRuns(cmd, shell, value)
}

/** An option whose value a program runs: read as shell text, and said. */
export function optionRuns(cmd: Cmd, shell: Shell, value: Field): void {
  shell.sink.feed(value.taints.has('network') ? 'network' : 'option', 'shell', cmd.name)
  deeper(shell, () => shell.readText(shell, value.text.replace(/^[!]|^shell /, ''), NOTHING))
}

/** A file that decides what a program does: asked about when it lies outside the project or was just made. */
export function configuration(cmd: Cmd, shell: Shell, value: Field): void {
  if (value.text === '-' || value.text === '/dev/stdin') {
    shell.sink.feed('stdin', 'interpreter', cmd.name)
    return
  }
  shell.sink.read(value.text, cmd.name)
  const places = shell.sink.places(value.text)
  const made = shell.written.has(key(shell, value.text))
  if (made || places.some(({ zone, path }) => zone !== 'project' && zone !== 'unknown' && path !== '/dev/null'))
    shell.sink.feed('config', 'interpreter', cmd.name)
}

function touch(cmd: Cmd, shell: Shell, operands: Operands, files: Field[], recursive: boolean): void {
  for (const [index, file] of files.entries()) {
    const tree = file.tree || recursive
    const kind = operandKind(cmd, operands, index, files.length)
    if (kind === 'none') continue
    if (/^(read|edit|filter|skip-read|skip-filter)$/.test(kind)) shell.sink.read(file.text, cmd.name, tree)
    if (/^(write|edit)$/.test(kind)) shell.sink.write(file.text, cmd.name, file.tree)
  }
}

function operandKind(cmd: Cmd, operands: Operands, index: number, count: number): Operands {
  if (operands === 'convert') return index === (cmd.name === 'zip' ? 0 : 1) ? 'write' : 'read'
  return operands === 'into' ? (index === count - 1 ? 'write' : 'read') : operands
}

function output(cmd: Cmd, shell: Shell, operands: Operands, files: Field[], lists: boolean): Out {
  const streams = files.map((file) => file.stream ?? fileContent(shell, file.text))
  const sources = streams.length > 0 ? streams : [cmd.input]
  const taints = mix(...sources.map((source) => source.taints))
  if (lists)
    return {
      text: null,
      taints: new Set(['command']),
      fields: (files.length > 0 ? files : [plain('.')]).map((file) => ({ ...file, tree: true })),
    }
  if (/^(cat|tac|tee|pv|bat)$/.test(cmd.name)) {
    const text = sources.some((source) => source.text === null) ? null : sources.map((source) => source.text).join('')
    return { text, taints, fields: streams.length > 0 ? null : cmd.input.fields }
  }
  const passes = operands === 'filter' || operands === 'skip-filter'
  return {
    text: null,
    taints: passes ? taints : mix(taints, new Set(['command'])),
    fields: passes && streams.length === 0 ? cmd.input.fields : null,
  }
}
