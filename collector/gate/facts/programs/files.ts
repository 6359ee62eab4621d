// Programs that copy, move, link, delete or change files.
import { absolute } from '../paths.ts'
import { flagWords, hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import { fileContent, key, wrote } from '../shell/redirects.ts'
import type { Field, Out, Shell } from '../shell/state.ts'
import { NO_TAINTS, NOTHING, plain, unknownOut } from '../shell/state.ts'
import { optionRuns } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const fileReaders: Readers = {
  rm: remove,
  del: remove,
  erase: remove,
  rd: remove,
  ri: remove,
  'remove-item': remove,
  rmdir: (cmd, shell) => removeAll(cmd, shell, false),
  unlink: (cmd, shell) => removeAll(cmd, shell, false),
  shred: (cmd, shell) => removeAll(cmd, shell, false, '-n -s --iterations --size --random-source'),
  srm: remove,
  wipe: remove,
  trash: remove,
  'trash-put': remove,
  rimraf: (cmd, shell) => removeAll(cmd, shell, true),
  cp: (cmd, shell) => transfer(cmd, shell, false),
  ditto: (cmd, shell) => transfer(cmd, shell, false),
  install: (cmd, shell) => transfer(cmd, shell, false),
  mv: (cmd, shell) => transfer(cmd, shell, true),
  move: (cmd, shell) => transfer(cmd, shell, true),
  rename: (cmd, shell) => transfer(cmd, shell, true),
  ln: link,
  link: link,
  tee,
  sponge: tee,
  dd,
  chmod: changeMode,
  chown: changeMode,
  chgrp: changeMode,
  chattr: changeMode,
  chflags: changeMode,
  setfacl: changeMode,
  xattr: changeMode,
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
  rsync,
  mktemp: () => ({ text: '/tmp/tmp.made\n', taints: NO_TAINTS, fields: null }),
}

function remove(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args)
  return removeAll(
    cmd,
    shell,
    hasFlag(parsed, '-r', '-R', '--recursive', '-s', '--dir') ||
      cmd.args.some(({ text }) => /^(--rec|-rec)/i.test(text)),
  )
}

function removeAll(cmd: Cmd, shell: Shell, recursive: boolean, valued = ''): Out {
  const parsed = parseOptions(cmd.args, { valued: names(valued) })
  for (const operand of parsed.operands) shell.sink.delete(operand.text, cmd.name, recursive || operand.tree)
  return NOTHING
}

function transfer(cmd: Cmd, shell: Shell, moves: boolean): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names('-t -S -m -o -g --target-directory --suffix --mode --owner --group --backup'),
  })
  cmd.run.flags = flagWords(parsed)
  const [folder] = valuesOf(parsed, '-t', '--target-directory')
  const sources = folder === undefined ? parsed.operands.slice(0, -1) : parsed.operands
  const target = folder ?? parsed.operands.at(-1)
  const whole = hasFlag(parsed, '-r', '-R', '-a', '--recursive', '--archive')
  for (const source of sources) {
    shell.sink.read(source.text, cmd.name, whole || moves || source.tree)
    if (moves) shell.sink.delete(source.text, cmd.name, true)
  }
  if (target !== undefined && (sources.length > 0 || cmd.name === 'install')) {
    if (moves && absolute(target.text, shell.places()) === '/dev/null') return NOTHING
    writeTarget(cmd, shell, sources, target, folder !== undefined || sources.length > 1)
  }
  return NOTHING
}

/** A target may be a folder: then the file in it is what is written. */
function writeTarget(cmd: Cmd, shell: Shell, sources: Field[], target: Field, isFolder: boolean): void {
  if (!isFolder) shell.sink.write(target.text, cmd.name)
  for (const source of sources) {
    const base = source.text.replace(/\/+$/, '').split('/').at(-1) ?? ''
    if (base !== '' && !/^\.{1,2}$/.test(base)) shell.sink.write(`${target.text}/${base}`, cmd.name)
    const content = fileContent(shell, source.text)
    if (content.text !== null || content.taints.has('network')) wrote(shell, target.text, content)
  }
  if (isFolder) shell.sink.write(`${target.text}/.`, cmd.name)
}

function link(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-t -S --target-directory --suffix') })
  const [target, name] = parsed.operands
  const made = valuesOf(parsed, '-t', '--target-directory')[0] ?? name
  if (target === undefined) return NOTHING
  shell.sink.read(target.text, cmd.name, true)
  const base = target.text.replace(/\/+$/, '').split('/').at(-1) ?? 'link'
  const link = made ?? withText(target, base)
  shell.sink.write(link.text, cmd.name)
  const from = key(shell, link.text)
  const to = absolute(target.text, shell.places())
  if (to !== null && from !== to) {
    shell.links.set(from, to)
    if (made !== undefined) shell.links.set(`${from}/${base}`, to)
  }
  return NOTHING
}

function tee(cmd: Cmd, shell: Shell): Out {
  for (const file of parseOptions(cmd.args).operands) {
    if (file.stream !== undefined) continue
    shell.sink.write(file.text, cmd.name)
    wrote(shell, file.text, cmd.input)
  }
  return cmd.input
}

function dd(cmd: Cmd, shell: Shell): Out {
  let content = cmd.input
  let writes = false
  for (const { text } of cmd.args) {
    if (text.startsWith('if=')) {
      shell.sink.read(text.slice(3), cmd.name)
      content = fileContent(shell, text.slice(3))
    }
    if (text.startsWith('of=')) {
      shell.sink.write(text.slice(3), cmd.name)
      writes = true
      wrote(shell, text.slice(3), content)
    }
  }
  return writes ? NOTHING : content
}

function changeMode(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names(cmd.name === 'setfacl' ? '-m -x -M -X -b --modify --set' : '--reference --from'),
  })
  const byReference = hasFlag(parsed, '--reference', '-m', '-x', '-b', '--modify', '--set')
  // `chmod -x file`: the mode looks like options.
  const isMode = (text: string) => /^-[rwxXst]+$/.test(text)
  const modeIsFlag = cmd.args.some(({ text }) => isMode(text)) && cmd.name === 'chmod'
  const files = byReference || modeIsFlag ? parsed.operands : parsed.operands.slice(1)
  for (const file of files) shell.sink.write(file.text, cmd.name, hasFlag(parsed, '-R', '--recursive') || file.tree)
  return NOTHING
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
    for (const operand of parsed.operands)
      shell.sink.read(base === undefined ? operand.text : `${base.text}/${operand.text}`, cmd.name, true)
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

function rsync(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names(
      '-e -f -T -M -B --rsh --filter --exclude --include --exclude-from --files-from --rsync-path --log-file --password-file --compare-dest --link-dest --out-format --temp-dir --bwlimit --port --max-size',
    ),
  })
  cmd.run.flags = flagWords(parsed)
  for (const value of valuesOf(parsed, '-e', '--rsh'))
    if (
      !/^(?:\/usr\/bin\/)?ssh(?: -(?:[4646Cqv]|[pi] \S+|o (?:StrictHostKeyChecking|UserKnownHostsFile|BatchMode)=\S+))*$/.test(
        value.text,
      )
    )
      optionRuns(cmd, shell, value)
  for (const value of valuesOf(parsed, '--rsync-path')) if (/\s/.test(value.text)) optionRuns(cmd, shell, value)
  for (const value of valuesOf(parsed, '--log-file')) shell.sink.write(value.text, cmd.name)
  const target = parsed.operands.at(-1)
  const sources = parsed.operands.slice(0, -1)
  const dry = hasFlag(parsed, '-n', '--dry-run')
  for (const source of sources) remoteOrRead(cmd, shell, source)
  if (hasFlag(parsed, '--remove-source-files') && !dry)
    for (const source of sources) shell.sink.delete(source.text, cmd.name, true)
  if (target === undefined || sources.length === 0 || dry) return unknownOut('command')
  if (isRemote(target.text))
    shell.sink.net(`ssh://${target.text.replace(/^rsync:\/\//, '').replace(/:.*/, '')}`, cmd.name, {
      dir: 'out',
      carries: 'file',
    })
  else {
    shell.sink.write(`${target.text}/.`, cmd.name)
    if (parsed.flags.some(({ name }) => name.startsWith('--del'))) shell.sink.delete(target.text, cmd.name, true)
  }
  return unknownOut('command')
}

/** `host:path`, `rsync://host/…`; a colon after a slash belongs to a file name. */
export function isRemote(text: string): boolean {
  return /^rsync:\/\//.test(text) || /^[^/:]+:(?!\/\/)/.test(text) || /^[^/:]+::/.test(text)
}

/** One side of a copy between machines. */
export function remoteOrRead(cmd: Cmd, shell: Shell, source: Field): void {
  if (isRemote(source.text))
    shell.sink.net(`ssh://${source.text.replace(/^rsync:\/\//, '').replace(/:.*/, '')}`, cmd.name)
  else shell.sink.read(source.text, cmd.name, true)
}
