// Builtins of the shell that change what later words mean, or print what can be known.
import { UNKNOWN } from '../../call.ts'
import { absolute } from '../paths.ts'
import { isSecretName } from '../secrets.ts'
import { assign, judge, setsVariable } from '../shell/assign.ts'
import { hasFlag, names, parseOptions } from '../shell/options.ts'
import type { Field, Out, Shell } from '../shell/state.ts'
import { deeper, environmentOut, mix, NO_TAINTS, NOTHING, plain, unknownOut } from '../shell/state.ts'
import type { Cmd, Readers } from './types.ts'

export const builtinReaders: Readers = {
  cd: changeFolder,
  chdir: changeFolder,
  pushd: changeFolder,
  popd: (_, shell) => {
    shell.scope.cwd = shell.scope.oldCwd
    return NOTHING
  },
  pwd: (_, shell) => known(shell.scope.cwd ?? UNKNOWN),
  echo,
  printf,
  dirname: (cmd) =>
    pathPart(cmd, (path) => path.replace(/\/+$/, '').replace(/\/?[^/]*$/, '') || (path.startsWith('/') ? '/' : '.')),
  basename: (cmd) => pathPart(cmd, (path) => path.replace(/\/+$/, '').replace(/^.*\//, '')),
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  set: (cmd, shell) => {
    if (cmd.args.length === 0) return environmentOut(shell)
    const mark = cmd.args.findIndex(({ text }) => text === '--')
    if (mark >= 0) shell.scope.positional = [plain('sh'), ...cmd.args.slice(mark + 1)]
    return NOTHING
  },
  printenv: (cmd, shell) => {
    const variables = parseOptions(cmd.args).operands
    if (variables.length === 0) return environmentOut(shell)
    for (const { text } of variables) if (isSecretName(text)) shell.sink.env(text, 'secret')
    return unknownOut('command')
  },
  unset: (cmd, shell) => {
    for (const { text } of cmd.args)
      if (/^(?:SPANSEAL_|OTEL_|CLAUDE_CODE_ENABLE_TELEMETRY)/.test(text)) shell.sink.env(text, 'guard')
    return again(cmd, shell)
  },
  alias: (cmd, shell) => {
    for (const { text } of cmd.args) {
      const equals = text.indexOf('=')
      if (equals <= 0) continue
      shell.scope.aliases.set(text.slice(0, equals), text.slice(equals + 1))
      deeper(shell, () => shell.readText(shell, text.slice(equals + 1), NOTHING))
    }
    return NOTHING
  },
  trap: (cmd, shell) => {
    const [action, ...signals] = parseOptions(cmd.args).operands
    if (action === undefined || signals.length === 0) return NOTHING
    const { text } = action
    if (signals.every((signal) => /^(?:EXIT|0|(?:SIG)?(?:INT|TERM|HUP|QUIT))$/.test(signal.text)))
      shell.atExit.push({ text, scope: shell.scope })
    else deeper(shell, () => shell.readText(shell, text, NOTHING))
    return NOTHING
  },
  hash: (cmd, shell) => {
    if (cmd.args.some(({ text }) => text.startsWith('-p'))) shell.sink.feed('file', 'shell', cmd.name)
    return NOTHING
  },
  enable: (cmd, shell) => {
    if (cmd.args.some(({ text }) => text.startsWith('-f'))) shell.sink.feed('file', 'shell', cmd.name)
    return NOTHING
  },
  complete: (cmd, shell) => {
    const at = cmd.args.findIndex(({ text }) => text === '-C')
    const script = cmd.args[at + 1]
    if (at >= 0 && script !== undefined) deeper(shell, () => shell.readText(shell, script.text, NOTHING))
    return NOTHING
  },
  compgen: (cmd, shell) => {
    if (cmd.args.some(({ text }) => /^-[ev]$|^(?:export|variable)$/.test(text))) shell.sink.env('*', 'dump')
    return NOTHING
  },
  read: readVariables,
  readarray: readVariables,
  mapfile: readVariables,
  let: again,
  test: again,
  '[': again,
}

function known(text: string): Out {
  return { text: `${text}\n`, taints: NO_TAINTS, fields: null }
}

function changeFolder(cmd: Cmd, shell: Shell): Out {
  const { operands } = parseOptions(cmd.args)
  const target = operands[0]?.text ?? shell.home
  const { scope } = shell
  const before = scope.cwd
  scope.cwd = cmd.args.some(({ text }) => text === '-') ? scope.oldCwd : (absoluteOrNull(shell, target) ?? null)
  scope.oldCwd = before
  return NOTHING
}

function absoluteOrNull(shell: Shell, target: string): string | null {
  const path = absolute(target, shell.places())
  return path === null || path.includes(UNKNOWN) ? null : path
}

function echo(cmd: Cmd): Out {
  let { args } = cmd
  let escapes = false
  while (args[0] !== undefined && /^-[neE]+$/.test(args[0].text)) {
    escapes = escapes || args[0].text.includes('e')
    args = args.slice(1)
  }
  const text = args.map((arg) => arg.text).join(' ')
  return printed(`${escapes ? unescaped(text) : text}\n`, args)
}

/** `%s`-style formatting, repeated while arguments are left, as far as text can be known. */
function printf(cmd: Cmd, shell: Shell): Out {
  const [first] = cmd.args
  let { args } = cmd
  let variable: string | null = null
  if (first?.text === '-v') {
    variable = args[1]?.text ?? null
    args = args.slice(2)
    if (variable !== null) substitutions(shell, variable)
  } else if (first?.text === '--') args = args.slice(1)
  const [format, ...values] = args
  if (format === undefined) return NOTHING
  const rest = values.map((value) => value.text)
  let text = ''
  do {
    const before = rest.length
    text += unescaped(format.text).replace(/%(?:%|[-+ #0]*\d*(?:\.\d+)?[a-zA-Z])/g, (mark) =>
      mark === '%%' ? '%' : conversion(mark, rest.shift() ?? ''),
    )
    if (rest.length === before) break
  } while (rest.length > 0 && text.length < 65_536)
  const out = printed(text, args)
  if (variable === null) return out
  shell.scope.vars.set(variable, [{ ...plain(text), taints: out.taints }])
  return NOTHING
}

function conversion(mark: string, value: string): string {
  if (mark.endsWith('b')) return unescaped(value)
  if (mark.endsWith('c')) return value.slice(0, 1)
  return value
}

function printed(text: string, args: Field[]): Out {
  return { text, taints: mix(...args.map(({ taints }) => taints)), fields: null }
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|u([0-9a-fA-F]{1,4})|([abefnrtv\\'"]))/g,
    (_, hex: string, octal: string, unicode: string, char: string) => {
      const code = hex ?? unicode
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255)
      return { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', e: '\u001b', f: '\f', v: '\v' }[char] ?? char
    },
  )
}

function pathPart(cmd: Cmd, part: (path: string) => string): Out {
  const { operands } = parseOptions(cmd.args, { valued: names('-s --suffix') })
  const [path] = operands
  if (path === undefined || path.text.includes(UNKNOWN)) return unknownOut('command')
  return { text: `${part(path.text)}\n`, taints: path.taints, fields: null }
}

function declare(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args)
  const assignments = parsed.operands.filter(({ text }) => setsVariable(text))
  if (parsed.operands.length === 0 && !hasFlag(parsed, '-f', '-F')) return environmentOut(shell)
  if (hasFlag(parsed, '-p'))
    for (const { text } of parsed.operands) if (isSecretName(text)) shell.sink.env(text, 'secret')
  assign(shell, assignments, false)
  if (cmd.name === 'export') {
    for (const { text } of parsed.operands) {
      if (setsVariable(text)) continue
      judge(shell, text, shell.scope.vars.get(text)?.[0]?.text ?? UNKNOWN, false)
    }
  }
  return again(cmd, shell)
}

function readVariables(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-a -d -i -n -N -p -t -u -C -c -s') })
  for (const { text } of parsed.operands) shell.scope.vars.set(text, [{ ...plain(UNKNOWN), taints: cmd.input.taints }])
  for (const { name, value } of parsed.flags)
    if (name === '-C' && value !== null) deeper(shell, () => shell.readText(shell, value.text, NOTHING))
  return again(cmd, shell)
}

/** Arguments that the builtin evaluates once more: a substitution inside an array index runs. */
function again(cmd: Cmd, shell: Shell): Out {
  for (const { text } of cmd.args) substitutions(shell, text)
  return NOTHING
}

function substitutions(shell: Shell, text: string): void {
  if (!/\[[^\]]*(?:\$\(|`)/.test(text)) return
  deeper(shell, () => shell.readText(shell, `: "${text.replaceAll('"', '')}"`, NOTHING))
}
