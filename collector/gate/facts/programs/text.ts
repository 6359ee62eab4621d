// sed and awk: small languages that can run programs and write files.
import { hasFlag, names, parseOptions, valuesOf } from '../shell/options.ts'
import { fileContent } from '../shell/redirects.ts'
import type { Out, Shell } from '../shell/state.ts'
import { deeper, NOTHING, unknownOut } from '../shell/state.ts'
import { configuration } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const textReaders: Readers = { sed, gsed: sed, awk, gawk: awk, mawk: awk, nawk: awk }

function sed(cmd: Cmd, shell: Shell): Out {
  // `-i` takes its value only glued on; BSD's `-i ''` leaves an empty word behind.
  const parsed = parseOptions(cmd.args, { valued: names('-e -f -l --expression --file --line-length') })
  const scripts = valuesOf(parsed, '-e', '--expression')
  const files = [...parsed.operands].filter(({ text }) => text !== '')
  for (const file of valuesOf(parsed, '-f', '--file')) configuration(cmd, shell, file)
  if (scripts.length === 0 && !hasFlag(parsed, '-f', '--file')) {
    const script = files.shift()
    if (script !== undefined) scripts.push(script)
  }
  for (const script of scripts) sedScript(cmd, shell, script.text)
  const inPlace = parsed.flags.some(({ name }) => /^(?:-i|-I|--in-place|--in-p.*)$/.test(name))
  for (const file of files) {
    shell.sink.read(file.text, cmd.name, file.tree)
    if (inPlace) shell.sink.write(file.text, cmd.name, file.tree)
  }
  const [first] = files
  const content = first === undefined ? cmd.input : fileContent(shell, first.text)
  return unknownOut(
    ...content.taints,
    ...(content.taints.size === 0 && content.text !== null ? (['decoded'] as const) : []),
  )
}

/** Finds the commands of a script that reach outside: e, w, r and the same as flags of s. */
function sedScript(cmd: Cmd, shell: Shell, script: string): void {
  let at = 0
  const file = (to: 'read' | 'write') => {
    const end = script.indexOf('\n', at)
    const name = script.slice(at, end < 0 ? undefined : end).trim()
    if (name !== '') shell.sink[to](name, cmd.name)
    at = end < 0 ? script.length : end
  }
  while (at < script.length) {
    const char = script[at] ?? ''
    if (/[\s;{},!0-9$~+]/.test(char)) at++
    else if (char === '/' || (char === '\\' && at + 1 < script.length)) {
      if (char === '\\') at++
      at = endOfPart(script, at + 1, script[at] ?? '/')
      while (/[IM]/.test(script[at] ?? '')) at++
    } else if (char === 's' || char === 'y') {
      const mark = script[at + 1] ?? '/'
      at = endOfPart(script, endOfPart(script, at + 2, mark), mark)
      while (at < script.length && /[a-zA-Z0-9]/.test(script[at] ?? '')) {
        const flag = script[at++]
        if (flag === 'e' && char === 's') shell.sink.feed('option', 'shell', cmd.name)
        if (flag === 'w' && char === 's') file('write')
      }
    } else if (char === 'e') {
      shell.sink.feed('option', 'shell', cmd.name)
      const end = script.indexOf('\n', at)
      const text = script.slice(at + 1, end < 0 ? undefined : end)
      deeper(shell, () => shell.readText(shell, text, NOTHING))
      at = end < 0 ? script.length : end
    } else if (char === 'w' || char === 'W' || char === 'r' || char === 'R') {
      at++
      file(char.toLowerCase() === 'w' ? 'write' : 'read')
    } else if (/[aic]/.test(char) || /[:btTqQl#]/.test(char)) {
      const end = /[aic#]/.test(char) ? script.indexOf('\n', at) : script.slice(at).search(/[\n;}]/) + at
      at = end < at ? script.length : end + 1
    } else at++
  }
}

/** Index behind the next unescaped mark; a mark inside brackets is no end. */
function endOfPart(text: string, from: number, mark: string): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === mark) return i + 1
  }
  return text.length
}

function awk(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names('-f -F -v -E -i -l -e --file --assign --field-separator --source --include --load --exec'),
    stopAtOperand: true,
  })
  const programs = valuesOf(parsed, '-e', '--source')
  const files = [...parsed.operands]
  for (const file of valuesOf(parsed, '-f', '-E', '-i', '-l', '--file', '--include', '--load', '--exec'))
    configuration(cmd, shell, file)
  if (programs.length === 0 && !hasFlag(parsed, '-f', '--file', '-E', '--exec')) {
    const program = files.shift()
    if (program !== undefined) programs.push(program)
  }
  for (const { text } of programs) awkProgram(cmd, shell, text)
  for (const file of files) if (!/^\w+=/.test(file.text)) shell.sink.read(file.text, cmd.name, file.tree)
  if (hasFlag(parsed, '-i') && parsed.flags.some(({ value }) => value?.text === 'inplace'))
    for (const file of files) shell.sink.write(file.text, cmd.name)
  const prints = programs.some(({ text }) => /BEGIN/.test(text))
  return unknownOut(
    ...(files.length > 0 ? (['file'] as const) : cmd.input.taints),
    ...(prints ? (['decoded'] as const) : []),
  )
}

function awkProgram(cmd: Cmd, shell: Shell, program: string): void {
  const run = (text: string | undefined) => {
    shell.sink.feed('inline', 'shell', cmd.name)
    if (text !== undefined) deeper(shell, () => shell.readText(shell, text, NOTHING))
  }
  // Strings are taken out first, so that a word inside one is no call.
  const strings: string[] = []
  const code = program.replace(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => `"${strings.push(text) - 1}"`)
  const string = (index: string | undefined) => (index === undefined ? undefined : strings[Number(index)])
  for (const match of code.matchAll(/\bsystem\s*\(\s*(?:"(\d+)")?/g)) run(string(match[1]))
  for (const match of code.matchAll(/(?:"(\d+)"|[\w)\]])\s*\|&?\s*getline/g)) run(string(match[1]))
  for (const match of code.matchAll(/\bprintf?\b[^;{}\n]*?\|&?\s*(?:"(\d+)"|(?!\|)\w)/g)) run(string(match[1]))
  for (const match of code.matchAll(/\bprintf?\b[^;}\n]*?>>?\s*"(\d+)"/g))
    shell.sink.write(string(match[1]) ?? '', cmd.name)
  for (const match of code.matchAll(/getline\s*\w*\s*<\s*"(\d+)"/g)) shell.sink.read(string(match[1]) ?? '', cmd.name)
  if (/\bENVIRON\b\s*(?!\[)|\bin\s+ENVIRON\b/.test(code)) shell.sink.env('*', 'dump')
}
