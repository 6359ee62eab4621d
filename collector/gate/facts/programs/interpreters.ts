// Shells and interpreters: program text from options, files and standard input.
import { UNKNOWN } from '../../call.ts'
import type { Language } from '../code.ts'
import { readCode } from '../code.ts'
import { flagWords, hasFlag, names, parseOptions, valuesOf } from '../shell/options.ts'
import { fileContent, key } from '../shell/redirects.ts'
import type { Field, Out, Shell } from '../shell/state.ts'
import { deeper, NOTHING, plain, subshell, unknownOut } from '../shell/state.ts'
import { configuration } from './simple.ts'
import type { Cmd, Reader, Readers } from './types.ts'

interface Interpreter {
  language: Language
  /** Options whose value is program text. */
  code: string
  /** Options that load a file before the program. */
  loads: string
  /** Other options that take a value. */
  valued: string
  /** Words that come before program text or file: `deno eval`, `deno run`. */
  evalWord?: string
  runWord?: string
}

const INTERPRETERS: [string, Interpreter][] = [
  ['python python2 python3 pypy pypy3 ipython', { language: 'python', code: '-c', loads: '', valued: '-m -W -X -Q' }],
  [
    'node nodejs ts-node tsx bun',
    {
      language: 'js',
      code: '-e --eval -p --print -pe',
      loads: '-r --require --import --loader --experimental-loader',
      valued: '-C --conditions --env-file --title --input-type',
      runWord: 'run',
      evalWord: 'eval',
    },
  ],
  [
    'deno',
    {
      language: 'js',
      code: '-e --eval',
      loads: '--import-map --preload -c --config',
      valued: '--allow-read --allow-net',
      runWord: 'run',
      evalWord: 'eval',
    },
  ],
  ['ruby irb jruby', { language: 'ruby', code: '-e', loads: '-r', valued: '-I -E -C' }],
  ['perl', { language: 'perl', code: '-e -E', loads: '', valued: '-I -M -m' }],
  ['php', { language: 'php', code: '-r -B -R -E', loads: '-c -z', valued: '-d -S -t -F' }],
  ['lua luajit', { language: 'other', code: '-e', loads: '-l', valued: '' }],
  ['rscript r', { language: 'other', code: '-e', loads: '', valued: '' }],
  ['julia', { language: 'other', code: '-e -E --eval --print', loads: '-L --load', valued: '-p -t --project' }],
  [
    'elixir erl ghc ghci runghc scala groovy clojure clj kotlin jshell racket guile sbcl',
    { language: 'other', code: '-e --eval -eval', loads: '-l --load', valued: '-r' },
  ],
  ['osascript', { language: 'other', code: '-e', loads: '', valued: '-l -s' }],
  ['tclsh wish expect', { language: 'other', code: '-c', loads: '-f', valued: '' }],
  [
    'emacs emacsclient',
    { language: 'lisp', code: '--eval --execute -e', loads: '-l --load --script -q', valued: '-f --funcall' },
  ],
  ['java', { language: 'other', code: '', loads: '-javaagent -agentpath', valued: '-cp -classpath -jar --class-path' }],
]

const SHELLS = 'sh bash dash zsh ksh mksh fish ash csh tcsh rbash yash posh elvish nu xonsh'

/** Readers of shells and interpreters. */
export function interpreterReaders(): Readers {
  const readers: Readers = {}
  for (const name of SHELLS.split(' ')) readers[name] = runShell
  for (const [programs, interpreter] of INTERPRETERS)
    for (const name of programs.split(' ')) readers[name] = interpret(interpreter)
  readers.eval = (cmd, shell) => evaluate(cmd, shell)
  readers.source = sourceFile
  readers['.'] = sourceFile
  readers.powershell = foreign
  readers.pwsh = foreign
  readers.cmd = foreign
  readers.at = fromInput
  readers.batch = fromInput
  return readers
}

/** Anything like `python3.12`. */
export function versioned(name: string): string {
  return name.replace(/^(python|pypy|ruby|perl|php|lua|node|pip)(?:[\d.]+)$/, '$1')
}

function runShell(cmd: Cmd, shell: Shell): Out {
  const words = cmd.args.map((arg) =>
    /^[-+]/.test(arg.text) && !arg.text.startsWith('--') ? { ...arg, text: arg.text.replace(/^\+/, '-') } : arg,
  )
  const parsed = parseOptions(words, {
    valued: names('-o -O --rcfile --init-file --init-command -C'),
    stopAtOperand: true,
  })
  cmd.run.flags = flagWords(parsed)
  for (const value of valuesOf(parsed, '--rcfile', '--init-file')) configuration(cmd, shell, value)
  const { operands } = parsed
  if (hasFlag(parsed, '--version', '--help')) return unknownOut('command')
  if (hasFlag(parsed, '-c', '--command') || valuesOf(parsed, '--init-command').length > 0) {
    const script = valuesOf(parsed, '--init-command')[0] ?? operands[0]
    if (script === undefined) return NOTHING
    return scriptText(cmd, shell, script, operands.slice(1))
  }
  const [file] = operands
  if (hasFlag(parsed, '-s') || file === undefined || file.text === '-') return fromInput(cmd, shell)
  return scriptFile(cmd, shell, file, operands)
}

/** Text given as an argument. */
function scriptText(cmd: Cmd, shell: Shell, script: Field, positional: Field[]): Out {
  if (script.taints.has('network')) shell.sink.feed('network', 'shell', cmd.name)
  else if (cmd.via.some((name) => /^(?:find|gfind|fd|fdfind|xargs|gxargs)$/.test(name)))
    shell.sink.feed('option', 'shell', cmd.name)
  else if (script.taints.has('decoded')) shell.sink.feed('decoded', 'shell', cmd.name)
  else if (script.text.includes(UNKNOWN)) shell.sink.feed('dynamic', 'shell', cmd.name)
  return subshell(shell, () =>
    deeper(shell, () => {
      shell.scope.positional = positional.length > 0 ? positional : [plain(cmd.name)]
      return shell.readText(shell, script.text, cmd.input)
    }),
  )
}

function evaluate(cmd: Cmd, shell: Shell): Out {
  const text = cmd.args.map((arg) => arg.text).join(' ')
  const has = (taint: 'network' | 'decoded') => cmd.args.some(({ taints }) => taints.has(taint))
  if (has('network')) shell.sink.feed('network', 'shell', 'eval')
  else if (has('decoded')) shell.sink.feed('decoded', 'shell', 'eval')
  else if (text.includes(UNKNOWN)) shell.sink.feed('dynamic', 'shell', 'eval')
  return deeper(shell, () => shell.readText(shell, text, cmd.input))
}

/** Standard input as program text. */
function fromInput(cmd: Cmd, shell: Shell): Out {
  const { input } = cmd
  if (input.taints.has('network')) shell.sink.feed('network', 'shell', cmd.name)
  else if (input.taints.has('decoded')) shell.sink.feed('decoded', 'shell', cmd.name)
  else if (input.text === null) shell.sink.feed('stdin', 'shell', cmd.name)
  const { text } = input
  return text === null || text === ''
    ? unknownOut('command')
    : subshell(shell, () => deeper(shell, () => shell.readText(shell, text, NOTHING)))
}

function sourceFile(cmd: Cmd, shell: Shell): Out {
  const [file, ...rest] = cmd.args
  return file === undefined ? NOTHING : scriptFile(cmd, shell, file, [file, ...rest])
}

function scriptFile(cmd: Cmd, shell: Shell, file: Field, positional: Field[]): Out {
  shell.sink.read(file.text, cmd.name)
  const content = loaded(cmd, shell, file, 'shell')
  if (content.text === null) return unknownOut('command')
  return subshell(shell, () =>
    deeper(shell, () => {
      shell.scope.positional = positional
      return shell.readText(shell, content.text ?? '', NOTHING)
    }),
  )
}

/** A file that is run: says where its text comes from. */
function loaded(cmd: Cmd, shell: Shell, file: Field, into: 'shell' | 'interpreter'): Out {
  const content = file.stream ?? fileContent(shell, file.text)
  const path = key(shell, file.text)
  const made = file.stream !== undefined || shell.written.has(path)
  if (content.taints.has('network') || shell.unpacked.some((folder) => path.startsWith(`${folder}/`)))
    shell.sink.feed('network', into, cmd.name)
  else if (content.taints.has('decoded')) shell.sink.feed('decoded', into, cmd.name)
  else if (made) shell.sink.feed(content.text === null ? 'dynamic' : 'written', into, cmd.name)
  else if (into === 'shell') elsewhereFile(cmd, shell, file)
  return content
}

/** A script outside the project, or a name only the run knows. */
function elsewhereFile(cmd: Cmd, shell: Shell, file: Field): void {
  const places = shell.sink.places(file.text)
  const system = /^\/(?:etc\/(?:profile|bash|os-release)|usr\/|opt\/homebrew\/|nix\/)/
  const known = new RegExp(
    `^${shell.home.replace(/[^\w/]/g, '.')}/(?:\\.(?:nvm|cargo|asdf|sdkman|pyenv|rbenv|bashrc|zshrc|profile|bash_profile|virtualenvs|local)|google-cloud-sdk|miniconda3|anaconda3)(?:/|$)`,
  )
  for (const { zone, path } of places)
    if (zone !== 'project' && !system.test(path) && !known.test(path)) shell.sink.feed('file', 'shell', cmd.name)
}

function interpret(interpreter: Interpreter): Reader {
  return (cmd, shell) => {
    const { language, code, loads, valued, evalWord, runWord } = interpreter
    const perlLike = /^(perl|ruby)$/.test(versioned(cmd.name))
    const args = perlLike
      ? cmd.args.map((arg) => ({ ...arg, text: arg.text.replace(/^-(\w*)i\.[\w~]+$/, '-$1i') }))
      : cmd.args
    const parsed = parseOptions(args, {
      valued: names(`${code} ${loads} ${valued}`),
      stopAtOperand: !perlLike,
      oneDash: /^(java|osascript|erl|emacs|expect)$/.test(cmd.name),
    })
    cmd.run.flags = flagWords(parsed)
    for (const value of valuesOf(parsed, ...names(loads))) {
      if (/^(?:data|https?):/.test(value.text)) {
        shell.sink.feed(value.text.startsWith('data:') ? 'inline' : 'network', 'interpreter', cmd.name)
        readCode(shell, value.text, cmd.name, language)
      } else if (/^[./~]/.test(value.text)) configuration(cmd, shell, value)
    }
    for (const { name, value } of parsed.flags) {
      if (value !== null && ['-d', '-M'].includes(name) && /auto_prepend|extension=|data:/.test(value.text))
        shell.sink.feed('option', 'interpreter', cmd.name)
    }
    const texts = [...valuesOf(parsed, ...names(code))]
    // `perl -ne CODE`: a cluster ends in the option that takes the text.
    let { operands } = parsed
    if (operands[0]?.text === evalWord && evalWord !== undefined && operands[1] !== undefined) {
      texts.push(operands[1])
      operands = []
    } else if (
      operands[0]?.text === runWord &&
      runWord !== undefined &&
      /^[./~]|:\/\/|\.[cm]?[jt]sx?$/.test(operands[1]?.text ?? '')
    )
      operands = operands.slice(1)
    for (const text of texts) inlineText(cmd, shell, text, language)
    if (texts.length > 0) {
      if (perlLike)
        for (const file of operands) {
          shell.sink.read(file.text, cmd.name, file.tree)
          if (hasFlag(parsed, '-i')) shell.sink.write(file.text, cmd.name, file.tree)
        }
      return unknownOut('command')
    }
    if (hasFlag(parsed, '-m')) return unknownOut('command')
    const [file] = operands
    if (file === undefined || file.text === '-')
      return interpretInput(
        cmd,
        shell,
        language,
        (parsed.flags.length === 0 || file?.text === '-') && !hasFlag(parsed, '--check'),
      )
    if (/^https?:\/\//.test(file.text)) {
      shell.sink.net(file.text, cmd.name)
      shell.sink.feed('network', 'interpreter', cmd.name)
      return unknownOut('network')
    }
    shell.sink.read(file.text, cmd.name)
    const content = loaded(cmd, shell, file, 'interpreter')
    if (content.text !== null) readCode(shell, content.text, cmd.name, language)
    return unknownOut('command')
  }
}

function inlineText(cmd: Cmd, shell: Shell, text: Field, language: Language): void {
  if (text.taints.has('network')) shell.sink.feed('network', 'interpreter', cmd.name)
  if (text.taints.has('decoded')) shell.sink.feed('decoded', 'interpreter', cmd.name)
  readCode(shell, text.text, cmd.name, language)
}

function interpretInput(cmd: Cmd, shell: Shell, language: Language, reads: boolean): Out {
  const { input } = cmd
  if (!reads) return unknownOut('command')
  if (input.taints.has('network')) shell.sink.feed('network', 'interpreter', cmd.name)
  else if (input.taints.has('decoded')) shell.sink.feed('decoded', 'interpreter', cmd.name)
  else if (input.text === null) shell.sink.feed('stdin', 'interpreter', cmd.name)
  if (input.text !== null) readCode(shell, input.text, cmd.name, language)
  return unknownOut('command')
}

/** PowerShell and cmd: another language. Its words are read as ours where that works; the rest is for a person. */
function foreign(cmd: Cmd, shell: Shell): Out {
  const words = cmd.args.map(({ text }) => text)
  const at = words.findIndex((word) => /^(-c|-command|\/c|\/k)$/i.test(word))
  if (words.some((word) => /^-(e|ec|en|enc|encodedcommand)\w*$/i.test(word)) || at >= 0 || words.length === 0)
    shell.sink.opaque('foreign_shell', cmd.name)
  if (at >= 0) deeper(shell, () => shell.readText(shell, words.slice(at + 1).join(' '), NOTHING))
  return unknownOut('command')
}
