import { flagWords, hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import { fileContent, key, wrote } from '../shell/redirects.ts'
import type { Out, Shell } from '../shell/state.ts'
import { NOTHING, plain, unknownOut } from '../shell/state.ts'
import { optionRuns } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const archiveReaders: Readers = {
  tar: archive,
  bsdtar: archive,
  gtar: archive,
  unzip: unpack,
  '7z': sevenZip,
  '7za': sevenZip,
  unrar: sevenZip,
  cpio: (cmd, shell) => {
    for (const value of valuesOf(
      parseOptions(cmd.args, { valued: names('-D -F -I -O --directory') }),
      '-D',
      '--directory',
    ))
      shell.sink.write(value.text, cmd.name)
    for (const value of valuesOf(
      parseOptions(cmd.args, { valued: names('--rsh-command --to-command') }),
      '--rsh-command',
    ))
      optionRuns(cmd, shell, value)
    return unknownOut('command')
  },
  xxd: decode,
  base64: decode,
  base32: decode,
  uudecode: decode,
}

const TAR_VALUES =
  '-f -C -I -T -X -b -F -g -H -K -L -N -V --file --directory --use-compress-program --files-from --exclude-from --exclude --checkpoint --checkpoint-action --to-command --info-script --new-volume-script --rsh-command --rmt-command --strip-components --transform --owner --group --mode'

function archive(cmd: Cmd, shell: Shell): Out {
  const [first, ...others] = cmd.args
  const bundled =
    first !== undefined && /^[A-Za-z]+$/.test(first.text) ? [withText(first, `-${first.text}`), ...others] : cmd.args
  const parsed = parseOptions(bundled, { valued: names(TAR_VALUES) })
  cmd.run.flags = flagWords(parsed)
  for (const value of valuesOf(
    parsed,
    '-I',
    '--use-compress-program',
    '--to-command',
    '-F',
    '--info-script',
    '--new-volume-script',
    '--rsh-command',
    '--rmt-command',
  )) {
    if (!/^(?:pigz|zstd|xz|gzip|bzip2|lz4|lzma|pbzip2|pixz)(?: -[\w ]+)?$/.test(value.text))
      optionRuns(cmd, shell, value)
  }
  for (const value of valuesOf(parsed, '--checkpoint-action'))
    if (value.text.startsWith('exec')) optionRuns(cmd, shell, withText(value, value.text.replace(/^exec=?/, '')))
  const [file] = valuesOf(parsed, '-f', '--file')
  const folders = valuesOf(parsed, '-C', '--directory')
  const toPipe = file === undefined || file.text === '-'
  if (hasFlag(parsed, '-c', '-r', '-u', '--create', '--append')) {
    if (!toPipe) shell.sink.write(file.text, cmd.name)
    const base = folders.at(-1)
    const gone = hasFlag(parsed, '--remove-files')
    for (const operand of parsed.operands)
      packed(cmd, shell, base === undefined ? operand.text : `${base.text}/${operand.text}`, gone)
    return unknownOut('file')
  }
  const content = toPipe ? cmd.input : fileContent(shell, file.text)
  if (file !== undefined && !toPipe) shell.sink.read(file.text, cmd.name)
  if (hasFlag(parsed, '-x', '--extract', '--get') && !hasFlag(parsed, '-O', '--to-stdout')) {
    const where = folders.at(-1) ?? plain('.')
    if (hasFlag(parsed, '-P', '--absolute-names')) shell.sink.write('/', cmd.name, true)
    shell.sink.write(`${where.text}/.`, cmd.name)
    if (content.taints.has('network')) shell.unpacked.push(key(shell, where.text))
  }
  return unknownOut('command', ...content.taints)
}

/** A file that goes into an archive, and may be removed afterwards. */
function packed(cmd: Cmd, shell: Shell, path: string, gone: boolean): void {
  shell.sink.read(path, cmd.name, true)
  if (gone) shell.sink.delete(path, cmd.name, true)
}

function unpack(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-d -x -P') })
  const [file] = parsed.operands
  if (file !== undefined) shell.sink.read(file.text, cmd.name)
  if (hasFlag(parsed, '-l', '-t', '-Z', '-v', '-p')) return unknownOut('command')
  const where = valuesOf(parsed, '-d')[0] ?? plain('.')
  shell.sink.write(`${where.text}/.`, cmd.name)
  if (file !== undefined && fileContent(shell, file.text).taints.has('network'))
    shell.unpacked.push(key(shell, where.text))
  return NOTHING
}

function sevenZip(cmd: Cmd, shell: Shell): Out {
  const [verb, ...rest] = cmd.args.filter(({ text }) => !text.startsWith('-'))
  const out = cmd.args.find(({ text }) => /^-o./.test(text))
  if (verb?.text === 'a') {
    if (rest[0] !== undefined) shell.sink.write(rest[0].text, cmd.name)
    for (const file of rest.slice(1)) shell.sink.read(file.text, cmd.name, true)
  } else if (verb !== undefined && /^[xe]$/.test(verb.text))
    shell.sink.write(`${out?.text.slice(2) ?? '.'}/.`, cmd.name)
  return NOTHING
}

/** base64, xxd: files in, and `-d`/`-r` turns text into something nobody has read. */
function decode(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-w -c -l -s -o -g -i -b --wrap --input --output') })
  const decodes = hasFlag(parsed, '-d', '-D', '--decode', '-r', '-revert') || cmd.name === 'uudecode'
  const [from, to] = parsed.operands
  const input = valuesOf(parsed, '-i', '--input')[0] ?? from
  if (input !== undefined) shell.sink.read(input.text, cmd.name, input.tree)
  const content = input === undefined ? cmd.input : (input.stream ?? fileContent(shell, input.text))
  const out = unknownOut(...content.taints, decodes ? 'decoded' : 'command')
  for (const file of [...(cmd.name === 'xxd' && to !== undefined ? [to] : []), ...valuesOf(parsed, '-o', '--output')]) {
    shell.sink.write(file.text, cmd.name)
    wrote(shell, file.text, out)
  }
  return out
}
