// Package tools and make: what they run, and where it comes from.
import { flagWords, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import type { Out, Shell } from '../shell/state.ts'
import { deeper, NOTHING, unknownOut } from '../shell/state.ts'
import { configuration, optionRuns } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const packageReaders: Readers = {
  pip: installer,
  pip3: installer,
  npx: packageRunner,
  bunx: packageRunner,
  pnpx: packageRunner,
  uvx: packageRunner,
  pipx: packageRunner,
  npm: packageTool,
  pnpm: packageTool,
  yarn: packageTool,
  cargo: (cmd, shell) => {
    const parsed = parseOptions(cmd.args, {
      valued: names('--config -Z -p --package -j --features --target --manifest-path --bin --example -C'),
    })
    cmd.run.flags = flagWords(parsed)
    cmd.run.words = parsed.operands.map(({ text }) => text)
    for (const value of valuesOf(parsed, '--config'))
      if (/runner|linker|wrapper|alias|\.toml$|credential/.test(value.text))
        shell.sink.feed('option', 'shell', cmd.name)
    return unknownOut('command')
  },
  make,
  gmake: make,
  'run-parts': (cmd, shell) => {
    shell.sink.feed('file', 'shell', cmd.name)
    return NOTHING
  },
}

const RUNNER_VALUES = names('-p --package -c --call --from --with --python --spec -w --workspace --prefix')

/** npx and its like run a program of a package. */
function packageRunner(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: RUNNER_VALUES, stopAtOperand: true })
  cmd.run.flags = flagWords(parsed)
  for (const value of valuesOf(parsed, '-c', '--call')) deeper(shell, () => shell.readText(shell, value.text, NOTHING))
  let words = parsed.operands
  if (cmd.name === 'pipx' && words[0]?.text === 'run') words = words.slice(1)
  const [program, ...rest] = words
  if (program === undefined || (cmd.name === 'pipx' && !cmd.run.words.includes('run'))) return unknownOut('command')
  const name = program.text.replace(/^(@?[^@]+)@.*$/, '$1')
  return shell.runFields(shell, [withText(program, name.split('/').at(-1) ?? name), ...rest], cmd.input, [
    ...cmd.via,
    cmd.name,
  ])
}

function packageTool(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names(
      '-w --workspace --prefix -C --filter -F --registry --cwd --dir --package --call -c --script-shell --userconfig',
    ),
  })
  cmd.run.flags = flagWords(parsed)
  cmd.run.words = parsed.operands.map(({ text }) => text)
  for (const value of valuesOf(parsed, '--script-shell')) optionRuns(cmd, shell, value)
  const verb = parsed.operands[0]?.text ?? ''
  if (/^(?:exec|x|dlx|create|explore)$/.test(verb)) {
    for (const value of valuesOf(parsed, '-c', '--call'))
      deeper(shell, () => shell.readText(shell, value.text, NOTHING))
    const words =
      parsed.rest.length > 0
        ? parsed.rest
        : cmd.args
            .slice(cmd.args.findIndex(({ text }) => text === verb) + 1)
            .filter(({ text }) => !/^(?:-y|--yes)$/.test(text))
    if (verb !== 'create' && words.length > 0 && !words[0]?.text.startsWith('-'))
      return shell.runFields(shell, words, NOTHING, [...cmd.via, cmd.name])
  }
  return unknownOut('command')
}

function make(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-f -C -I -j -l -o -W --file --makefile --directory --eval') })
  for (const value of valuesOf(parsed, '-f', '-C', '--file', '--makefile', '--directory'))
    configuration(cmd, shell, value)
  for (const value of valuesOf(parsed, '--eval'))
    optionRuns(cmd, shell, withText(value, value.text.replace(/^[^\n]*:[^\n]*\n\t|^.*?;/, '')))
  for (const operand of parsed.operands) {
    const match = /^(SHELL|\.SHELLFLAGS|MAKEFLAGS|MAKEFILES)[:+?]?=(.*)$/.exec(operand.text)
    if (match !== null && !/^(?:\/usr)?\/bin\/(?:ba|z|da)?sh$/.test(match[2] ?? ''))
      shell.sink.feed('option', 'shell', cmd.name)
  }
  return unknownOut('command')
}

/** pip: folders it installs into. */
function installer(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names(
      '-t -r -c -e -i -f --target --prefix --root --requirement --index-url --extra-index-url --find-links --editable',
    ),
  })
  cmd.run.flags = flagWords(parsed)
  cmd.run.words = parsed.operands.map(({ text }) => text)
  for (const folder of valuesOf(parsed, '-t', '--target', '--prefix', '--root'))
    shell.sink.write(`${folder.text}/.`, cmd.name)
  return unknownOut('command')
}
