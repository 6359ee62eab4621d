// One command: finds what really runs behind wrappers, notes it, and hands its words to the reader of that program.
import type { Run } from '../../call.ts'
import { UNKNOWN } from '../../call.ts'
import { programReader } from '../programs/index.ts'
import type { Cmd } from '../programs/types.ts'
import { isSecretName } from '../secrets.ts'
import { assign, setsVariable } from './assign.ts'
import { flagWords, names, parseOptions } from './options.ts'
import { key } from './redirects.ts'
import type { Field, Out, Shell } from './state.ts'
import { deeper, environmentOut, NOTHING, step, unknownOut } from './state.ts'
import { wrapperOf } from './wrappers.ts'

/** Folders whose programs are the machine's own. */
const STANDARD =
  /^\/(?:usr\/(?:local\/|pkg\/)?|opt\/(?:homebrew|local)\/|nix\/store\/[^/]+\/|home\/linuxbrew\/\.linuxbrew\/|snap\/)?s?bin\/[^/]+$|^\/lib(?:64|32)?\/ld[^/]*$/

/** Programs worth looking for among the words of a program nobody knows: it may be a wrapper. */
const INNER =
  /^(?:rm|rmdir|shred|dd|sh|bash|zsh|dash|ksh|fish|eval|sudo|doas|find|chmod|chown|mv|kill|killall|pkill|mkfs.*|curl|wget|git|python3?|node|perl|ruby)$/

export type CallFunction = (shell: Shell, fields: Field[], input: Out) => Out | null

/** Runs words as a command: function, alias, wrapper or program. */
export function runFields(shell: Shell, fields: Field[], input: Out, via: string[], callFunction: CallFunction): Out {
  step(shell)
  const [head] = fields
  if (head === undefined) return NOTHING
  const odd = oddName(head)
  if (odd !== null) {
    shell.sink.opaque(odd, 'shell')
    noteRun(shell, { name: 'unknown', args: fields.slice(1), via }, true, false)
    if (head.taints.has('network')) shell.sink.feed('network', 'shell', 'shell')
    // Whatever it is, what it may be a wrapper of is read all the same.
    innerCommand(shell, fields.slice(1), input, via, callFunction)
    return unknownOut()
  }
  if (via.length === 0) {
    const called = callFunction(shell, fields, input)
    if (called !== null) return called
    const alias = shell.scope.aliases.get(head.text)
    if (alias !== undefined) return runAlias(shell, alias, fields, input)
  }
  const name = programName(head.text)
  if (head.text.includes('/')) ownProgram(shell, head, name)
  const wrapper = wrapperOf(name)
  const args = fields.slice(1)
  if (wrapper !== undefined) {
    const inner = unwrap(shell, name, args, input)
    if (inner !== null) {
      noteRun(shell, { name, args, via }, false, true)
      if (inner.out !== undefined) return inner.out
      return inner.fields.length === 0 ? NOTHING : runFields(shell, inner.fields, input, [...via, name], callFunction)
    }
  }
  const reader = programReader(name)
  const run = noteRun(shell, { name, args, via }, false, reader !== undefined)
  const cmd: Cmd = { name, args, input, via, run }
  if (reader !== undefined) return withoutEnvironment(cmd, shell, reader(cmd, shell))
  for (const arg of args)
    if (/^[~./]|\//.test(arg.text)) shell.sink.read(arg.text.replace(/^-[^=]*=/, ''), name, arg.tree)
  innerCommand(shell, args, input, [...via, name], callFunction)
  return unknownOut('command', ...(input.taints.has('network') ? (['network'] as const) : []))
}

function oddName({ text, glob }: Field): 'dynamic_command' | 'odd_name' | null {
  if (text.includes(UNKNOWN)) return 'dynamic_command'
  const wild = glob && text !== '['
  // zsh reads a leading `=` as a path search.
  return wild || /[^\x21-\x7e]/.test(text) || text.startsWith('=') ? 'odd_name' : null
}

/** Lower-case name without folder: macOS finds programs whatever the case. */
function programName(text: string): string {
  const base = text.slice(text.lastIndexOf('/') + 1)
  return base.toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '')
}

function noteRun(
  shell: Shell,
  { name, args, via }: { name: string; args: Field[]; via: string[] },
  dynamic: boolean,
  known: boolean,
): Run {
  const parsed = parseOptions(args)
  const run: Run = {
    program: name,
    words: parsed.operands.map(({ text }) => text),
    flags: flagWords(parsed),
    argv: args.map(({ text }) => text),
    via,
    dynamic,
    known,
    to: [],
  }
  shell.sink.facts.runs.push(run)
  return run
}

/** A program started by its path: what was just written or downloaded, or lies where nobody installs programs. */
function ownProgram(shell: Shell, head: Field, name: string): void {
  if (STANDARD.test(head.text)) return
  const written = shell.written.get(key(shell, head.text))
  if (written !== undefined) {
    shell.sink.feed(written.from, 'shell', name)
    if (written.text !== null) deeper(shell, () => shell.readText(shell, written.text ?? '', NOTHING))
    return
  }
  const path = key(shell, head.text)
  if (shell.unpacked.some((folder) => path.startsWith(`${folder}/`))) {
    shell.sink.feed('network', 'shell', name)
    return
  }
  shell.sink.read(head.text, name)
  const [place] = shell.sink.places(head.text)
  if (place !== undefined && place.zone !== 'project' && place.zone !== 'unknown') notInstalled(shell, place.path, name)
}

function notInstalled(shell: Shell, path: string, name: string): void {
  const own =
    path.startsWith(`${shell.home}/`) &&
    /\/(?:bin|shims|\.(?:cargo|local|nvm|volta|bun|deno|pyenv|rbenv|asdf|sdkman|venv)|go|node_modules)\//.test(path)
  if (!own && !STANDARD.test(path)) shell.sink.feed('file', 'shell', name)
}

interface Inner {
  fields: Field[]
  out?: Out
}

function unwrap(shell: Shell, name: string, args: Field[], input: Out): Inner | null {
  const wrapper = wrapperOf(name)
  if (wrapper === undefined) return null
  let words = args
  if (wrapper.sub !== undefined) {
    const depth = wrapper.sub[0]?.split(' ').length ?? 1
    const plainWords = words.filter(({ text }) => !text.startsWith('-'))
    const sub = plainWords
      .slice(0, depth)
      .map(({ text }) => text)
      .join(' ')
    if (!wrapper.sub.includes(sub)) return null
    const last = plainWords[depth - 1]
    words = words.slice(last === undefined ? 0 : words.indexOf(last) + 1)
  }
  const parsed = parseOptions(words, {
    valued: names(`${wrapper.valued} ${wrapper.script ?? ''}`),
    stopAtOperand: true,
    oneDash: name === 'arch',
  })
  const flags = parsed.flags.map((flag) => flag.name)
  if ((wrapper.inert ?? '').split(' ').some((flag) => flag !== '' && flags.includes(flag)))
    return { fields: [], out: unknownOut('command') }
  // The command behind it starts in another folder; where the rest of the line starts is then not said either.
  if (name === 'env' && flags.some((flag) => flag === '-C' || flag === '--chdir')) shell.scope.cwd = null
  const scripts = parsed.flags.filter((flag) => flag.value !== null && names(wrapper.script ?? '').has(flag.name))
  const [script] = scripts
  let { operands } = parsed
  const assignments: Field[] = []
  while (wrapper.assigns === true && operands[0] !== undefined && setsVariable(operands[0].text)) {
    assignments.push(operands[0])
    operands = operands.slice(1)
  }
  if (assignments.length > 0) assign(shell, assignments, true)
  operands = operands.slice(wrapper.skip ?? 0)
  if (operands[0]?.text === '--') operands = operands.slice(1)
  const later = parseOptions(operands, { valued: names(wrapper.script ?? ''), stopAtOperand: true })
  const text =
    script?.value ??
    later.flags.find((flag) => flag.value !== null && names(wrapper.script ?? '').has(flag.name))?.value
  if (text !== undefined && text !== null) {
    const rest = operands.map((operand) => quote(operand.text)).join(' ')
    const whole = name === 'env' ? `${text.text} ${rest}` : text.text
    return { fields: [], out: deeper(shell, () => shell.readText(shell, whole, input)) }
  }
  if (name === 'env' && operands.length === 0) {
    return { fields: [], out: hasOnly(flags, ['--version', '--help']) ? unknownOut('command') : environmentOut(shell) }
  }
  return { fields: operands }
}

/**
 * The whole environment on its way through a pipe: names alone, or one harmless variable, show no secret. Any other use of it does.
 */
function withoutEnvironment(cmd: Cmd, shell: Shell, out: Out): Out {
  const carried = cmd.input.taints.has('environ')
  if (!carried && !cmd.args.some(({ taints }) => taints.has('environ'))) return out
  const taints = new Set(out.taints)
  taints.delete('environ')
  const { program, flags, words } = cmd.run
  const namesOnly = program === 'cut' && flags.includes('-d==') && flags.includes('-f=1')
  const counts = program === 'wc' || (/grep$/.test(program) && flags.some((flag) => /^-[cq]$/.test(flag)))
  const [pattern = ''] = words
  const oneVariable =
    /^(?:grep|egrep|rg)$/.test(program) &&
    /^\^?\w{3,}=?$/.test(pattern) &&
    !isSecretName(pattern.replace(/\W/g, '')) &&
    !/secret|token|pass|key|auth|cred/i.test(pattern) &&
    !flags.some((flag) => /^(?:-v|--invert-match)$/.test(flag))
  if (carried && (namesOnly || counts || oneVariable)) return { ...out, taints }
  shell.sink.env('*', 'dump')
  return { ...out, taints }
}

function hasOnly(flags: string[], allowed: string[]): boolean {
  return flags.length > 0 && flags.every((flag) => allowed.includes(flag))
}

/** A word in single quotes. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function runAlias(shell: Shell, alias: string, fields: Field[], input: Out): Out {
  const name = fields[0]?.text ?? ''
  const rest = fields.slice(1).map(({ text }) => quote(text))
  return deeper(shell, () => {
    shell.scope.aliases.delete(name)
    return shell.readText(shell, [alias, ...rest].join(' '), input)
  })
}

function innerCommand(shell: Shell, args: Field[], input: Out, via: string[], callFunction: CallFunction): void {
  const at = args.findIndex((arg, i) => i + 1 < args.length && INNER.test(programName(arg.text)))
  if (at < 0 || via.length > 8) return
  runFields(shell, args.slice(at), input, [...via, 'unknown'], callFunction)
}
