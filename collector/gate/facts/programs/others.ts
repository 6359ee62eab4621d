// Containers, package tools, databases and the rest whose effects need more than one line.

import { flagWords, hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import { fileContent } from '../shell/redirects.ts'
import type { Out, Shell } from '../shell/state.ts'
import { deeper, NOTHING, unknownOut } from '../shell/state.ts'
import { readSql } from '../sql.ts'
import { isRemote } from './files.ts'
import { elsewhere } from './net.ts'
import { configuration, optionRuns } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const otherReaders: Readers = {
  docker: container,
  podman: container,
  nerdctl: container,
  kubectl: (cmd, shell) =>
    behindDashes(
      cmd,
      shell,
      names('-n -c --namespace --context --container -f --filename -o --output -l --selector --kubeconfig'),
    ),
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
  psql: database,
  mysql: database,
  mariadb: database,
  sqlite3: database,
  sqlite: database,
  duckdb: database,
  mongo: database,
  mongosh: database,
  'clickhouse-client': database,
  bq: database,
  cqlsh: database,
  tmux: session,
  screen: session,
  hyperfine: (cmd, shell) =>
    eachText(
      cmd,
      shell,
      '-n -w -r -m -M -p -c -s -S -L -i --warmup --runs --prepare --setup --cleanup --export-json --export-markdown',
    ),
  concurrently: (cmd, shell) => eachText(cmd, shell, '-n -c -p --names --prefix -k'),
  watch: (cmd, shell) => eachText(cmd, shell, '-n --interval', true),
  script: (cmd, shell) => {
    const parsed = parseOptions(cmd.args, {
      valued: names('-c -O -I -B -o -m -T -E --command --log-out --log-in --log-timing'),
      stopAtOperand: true,
    })
    for (const value of valuesOf(parsed, '-c', '--command'))
      deeper(shell, () => shell.readText(shell, value.text, NOTHING))
    const [file, ...rest] = parsed.operands
    if (file !== undefined) shell.sink.write(file.text, cmd.name)
    return rest.length > 0 ? shell.runFields(shell, rest, NOTHING, [...cmd.via, cmd.name]) : NOTHING
  },
  make,
  gmake: make,
  'run-parts': (cmd, shell) => {
    shell.sink.feed('file', 'shell', cmd.name)
    return NOTHING
  },
  aws: cloudCopy,
  gsutil: cloudCopy,
  gcloud: cloudCopy,
  az: cloudCopy,
  s3cmd: cloudCopy,
  mc: cloudCopy,
  crontab: (cmd, shell) => {
    if (!hasFlag(parseOptions(cmd.args, { valued: names('-u') }), '-l'))
      shell.sink.write('/var/spool/cron/crontabs/user', cmd.name)
    return unknownOut('command')
  },
}

const RUN_VALUES = names(
  '-v -e -w -u -p -h -l -m -a --volume --mount --env --env-file --workdir --user --publish --name --network --net --entrypoint --pid --ipc --cap-add --security-opt --device --label --hostname --memory --cpus --platform --restart --add-host --volumes-from --gpus --shm-size --tmpfs --dns --log-driver --userns --cgroupns --ulimit',
)

function container(cmd: Cmd, shell: Shell): Out {
  const outer = parseOptions(cmd.args, {
    valued: names(
      '-H -c -l -f -p --host --context --config --log-level --file --project-name --project-directory --env-file --profile',
    ),
    stopAtOperand: true,
  })
  let words = outer.operands
  const compose = words[0]?.text === 'compose'
  if (compose)
    words = parseOptions(words.slice(1), {
      valued: names('-f -p --file --project-name --project-directory --env-file --profile'),
      stopAtOperand: true,
    }).operands
  if (words[0]?.text === 'container') words = words.slice(1)
  const [verb, ...rest] = words
  if (verb === undefined) return unknownOut('command')
  const runs = /^(?:run|create|exec)$/.test(verb.text)
  const parsed = parseOptions(rest, {
    valued: runs ? RUN_VALUES : names('-f -t --file --tag --build-arg --target --tail --format --filter'),
    stopAtOperand: runs,
  })
  cmd.run.words = [...(compose ? ['compose'] : []), verb.text, ...parsed.operands.map(({ text }) => text)]
  cmd.run.flags = [...flagWords(outer), ...flagWords(parsed)]
  for (const value of valuesOf(parsed, '-v', '--volume'))
    mount(cmd, shell, value.text.split(':')[0] ?? '', /:ro\b/.test(value.text))
  for (const value of valuesOf(parsed, '--mount')) {
    const source = /(?:source|src)=([^,]*)/.exec(value.text)?.[1]
    if (source !== undefined && !/type=volume/.test(value.text))
      mount(cmd, shell, source, /readonly|,ro\b/.test(value.text))
  }
  if (verb.text === 'cp')
    for (const operand of parsed.operands) if (!isRemote(operand.text)) shell.sink.read(operand.text, cmd.name, true)
  const copied = verb.text === 'cp' ? parsed.operands[1] : undefined
  if (copied !== undefined && !isRemote(copied.text)) shell.sink.write(copied.text, cmd.name)
  return unknownOut('command')
}

/** A folder of the host inside a container can be read and, unless told otherwise, written. */
function mount(cmd: Cmd, shell: Shell, source: string, readOnly: boolean): void {
  if (!/^[./~]/.test(source) && !source.startsWith(shell.scope.cwd ?? '/')) return
  shell.sink.read(source, cmd.name, true)
  if (!readOnly) shell.sink.write(source, cmd.name, true)
}

function behindDashes(cmd: Cmd, shell: Shell, valued: ReadonlySet<string>): Out {
  const parsed = parseOptions(cmd.args, { valued })
  cmd.run.flags = flagWords(parsed)
  cmd.run.words = parsed.operands.map(({ text }) => text)
  if (parsed.rest.length > 0)
    elsewhere(shell, () => shell.runFields(shell, parsed.rest, NOTHING, [...cmd.via, cmd.name]))
  return unknownOut('command')
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

/** SQL on the command line or on standard input; `\!`, `.shell` and `system` leave the client. */
function database(cmd: Cmd, shell: Shell): Out {
  const sqlite = /^(?:sqlite3?|duckdb)$/.test(cmd.name)
  const parsed = parseOptions(cmd.args, {
    valued: names(
      '-c -f -e -h -U -d -p -P -u -D -o -v --command --file --execute --host --username --dbname --eval --query -q -cmd -init --init',
    ),
    oneDash: sqlite,
  })
  const texts = [
    ...valuesOf(parsed, '-c', '-e', '-q', '--command', '--execute', '--eval', '--query', '-cmd'),
    ...(sqlite ? parsed.operands.slice(1) : []),
    ...(cmd.name === 'bq' ? parsed.operands.slice(1) : []),
  ]
  for (const { text } of texts) sqlText(cmd, shell, text)
  if (cmd.input.text !== null && cmd.input.text !== '') sqlText(cmd, shell, cmd.input.text)
  for (const file of valuesOf(parsed, '-f', '--file')) {
    const content = fileContent(shell, file.text)
    shell.sink.read(file.text, cmd.name)
    if (content.text !== null) sqlText(cmd, shell, content.text)
  }
  if (sqlite && parsed.operands[0] !== undefined) shell.sink.read(parsed.operands[0].text, cmd.name)
  return unknownOut('command')
}

function sqlText(cmd: Cmd, shell: Shell, text: string): void {
  for (const line of text.split(/[\n;]/)) {
    const outside = /^\s*(?:\\!|\.shell|\.system|system|\\system|!)\s+(.+)$/.exec(line) ?? /^\s*\\!(.+)$/.exec(line)
    if (outside?.[1] === undefined) continue
    shell.sink.feed('option', 'shell', cmd.name)
    const command = outside[1]
    deeper(shell, () => shell.readText(shell, command, NOTHING))
  }
  if (/\bcopy\b[^;]*\b(?:program|from program|to program)\b|\bxp_cmdshell\b|\bload_extension\b|\\o\s*\|/i.test(text))
    shell.sink.feed('option', 'shell', cmd.name)
  readSql(shell.sink, text)
}

function session(cmd: Cmd, shell: Shell): Out {
  const isScreen = cmd.name === 'screen'
  const parsed = parseOptions(cmd.args, {
    valued: names(isScreen ? '-S -c -e -h -p -s -t -T -X' : '-S -L -f -c -s -n -t -e -x -y -F'),
    stopAtOperand: isScreen,
  })
  const words = parsed.operands
  const verb = words[0]?.text ?? ''
  const starts = isScreen
    ? words
    : /^(?:new|new-session|new-window|neww|split-window|splitw|respawn-\w+|run|run-shell|send-keys|send|pipe-pane|if-shell|display-popup|popup)$/.test(
          verb,
        )
      ? words.slice(1)
      : []
  if (starts.length > 0) shell.sink.feed('inline', 'shell', cmd.name)
  // `screen -dmS name command`: the name is the value of -S.
  for (const word of starts) if (/\s/.test(word.text)) deeper(shell, () => shell.readText(shell, word.text, NOTHING))
  if (starts.length > 1) shell.runFields(shell, starts, NOTHING, [...cmd.via, cmd.name])
  return NOTHING
}

function eachText(cmd: Cmd, shell: Shell, valued: string, joined = false): Out {
  const parsed = parseOptions(cmd.args, { valued: names(valued), stopAtOperand: joined })
  const texts = joined ? [parsed.operands.map(({ text }) => text).join(' ')] : parsed.operands.map(({ text }) => text)
  for (const value of valuesOf(parsed, '--prepare', '--setup', '--cleanup', '-p', '-c', '-s'))
    if (cmd.name === 'hyperfine') texts.push(value.text)
  for (const text of texts) deeper(shell, () => shell.readText(shell, text, NOTHING))
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

/** Copies to object stores. */
function cloudCopy(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names('--profile --region --project --output --query --format --endpoint-url --body --bucket --key -f -n'),
  })
  cmd.run.flags = flagWords(parsed)
  cmd.run.words = parsed.operands.map(({ text }) => text)
  const isStore = (text: string) => /^(?:s3|gs|az|https):\/\//.test(text)
  const at = cmd.run.words.findIndex((word) => /^(?:cp|mv|sync|rsync|upload|put|put-object|mb|presign)$/.test(word))
  if (at < 0) return unknownOut('network')
  const operands = parsed.operands.slice(at + 1)
  const target = operands.at(-1)
  const bodies = valuesOf(parsed, '--body', '-f')
  for (const operand of [...operands, ...bodies])
    if (!isStore(operand.text))
      shell.sink.read(
        operand.text,
        cmd.name,
        hasFlag(parsed, '-r', '--recursive') || /sync/.test(cmd.run.words[at] ?? ''),
      )
  const sends =
    (target !== undefined && isStore(target.text) && operands.some(({ text }) => !isStore(text))) || bodies.length > 0
  if (sends) shell.sink.net(target?.text ?? 's3://bucket', cmd.name, { dir: 'out', carries: 'file' })
  else if (target !== undefined && !isStore(target.text) && target.text !== '-') shell.sink.write(target.text, cmd.name)
  return unknownOut('network')
}
