// Programs that copy, move, link, delete or change files.
import { absolute } from '../paths.ts'
import { flagWords, hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import { fileContent, key, wrote } from '../shell/redirects.ts'
import type { Field, Out, Shell } from '../shell/state.ts'
import { NO_TAINTS, NOTHING, unknownOut } from '../shell/state.ts'
import { isRemote, remoteOrRead } from './remote.ts'
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
  rsync,
  gio: (cmd, shell) => {
    const [verb, ...rest] = parseOptions(cmd.args).operands
    for (const file of rest)
      if (/^(?:trash|remove|move|rename)$/.test(verb?.text ?? '')) shell.sink.delete(file.text, cmd.name, true)
    return unknownOut('command')
  },
  'ssh-keygen': keys,
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

/** Shows, lists and checks read a key; everything else makes or changes one. */
function keys(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-f -t -b -C -N -P -D -O -I -s -n -Y -w -F -R -V -m -E') })
  cmd.run.flags = flagWords(parsed)
  const shows = hasFlag(parsed, '-l', '-F', '-e', '-y', '-B', '-L', '-H')
  for (const file of valuesOf(parsed, '-f')) {
    if (shows) shell.sink.read(file.text, cmd.name)
    else shell.sink.write(file.text, cmd.name)
  }
  for (const library of valuesOf(parsed, '-D')) optionRuns(cmd, shell, library)
  return unknownOut('command')
}
