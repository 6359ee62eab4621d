// Programs that run text somewhere else: terminals, schedulers, repeaters.
import { UNKNOWN } from '../../call.ts'
import { flagWords, hasFlag, names, parseOptions, valuesOf } from '../shell/options.ts'
import type { Out, Shell } from '../shell/state.ts'
import { deeper, NOTHING, plain, unknownOut } from '../shell/state.ts'
import type { Cmd, Readers } from './types.ts'

export const sessionReaders: Readers = {
  parallel,
  ed: lineEditor,
  ex: lineEditor,
  dc: lineEditor,
  gh: hosting,
  glab: hosting,
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
  crontab: (cmd, shell) => {
    if (!hasFlag(parseOptions(cmd.args, { valued: names('-u') }), '-l'))
      shell.sink.write('/var/spool/cron/crontabs/user', cmd.name)
    return unknownOut('command')
  },
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

/** `parallel COMMAND ::: ARG…`: without a command each argument is one. */
function parallel(cmd: Cmd, shell: Shell): Out {
  const mark = cmd.args.findIndex(({ text }) => /^:::\+?$/.test(text))
  const own = mark < 0 ? cmd.args : cmd.args.slice(0, mark)
  const { operands } = parseOptions(own, {
    valued: names('-j -S -a -I -d --jobs --colsep --joblog --delay --retries --arg-file --delimiter'),
    stopAtOperand: true,
  })
  const values = mark < 0 ? [plain(UNKNOWN)] : cmd.args.slice(mark + 1)
  for (const value of values) {
    const line = operands.map(({ text }) => text).join(' ')
    const whole = line.includes('{}') ? line.replaceAll('{}', value.text) : `${line} ${value.text}`
    deeper(shell, () => shell.readText(shell, whole, NOTHING))
  }
  return unknownOut('command')
}

/** ed, ex, dc: a line that starts with `!` runs a command; ed and ex write files. */
function lineEditor(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-c -e -f --expression --command') })
  const script = [
    ...valuesOf(parsed, '-c', '-e', '--expression', '--command').map(({ text }) => text),
    cmd.input.text ?? '',
  ].join('\n')
  for (const match of script.matchAll(/^\s*:?[rwe]?\s*!(.+)$/gm)) {
    shell.sink.feed('option', 'shell', cmd.name)
    deeper(shell, () => shell.readText(shell, match[1] ?? '', NOTHING))
  }
  for (const match of script.matchAll(/^\s*:?(?:w|wq|saveas)!?\s+([^!\s]\S*)/gm))
    shell.sink.write(match[1] ?? '', cmd.name)
  if (cmd.name !== 'dc') for (const file of parsed.operands) shell.sink.write(file.text, cmd.name)
  return unknownOut('command')
}

/** gh and glab: options that take values, so that rules see verbs and fields. */
function hosting(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names(
      '-X -f -F -H -q -t -R -b -B -m -l -a -p -L -s -n --method --field --raw-field --header --jq --template --repo --title --body --body-file --base --head --label --assignee --milestone --limit --state --json --input --notes --notes-file --target --scopes --hostname --name',
    ),
  })
  cmd.run.flags = flagWords(parsed)
  cmd.run.words = parsed.operands.map(({ text }) => text)
  for (const file of valuesOf(parsed, '--body-file', '--notes-file', '--input'))
    if (file.text !== '-') shell.sink.read(file.text, cmd.name)
  const carried = cmd.args.some(({ taints }) => taints.has('file')) || cmd.input.taints.has('file')
  const files =
    valuesOf(parsed, '-F', '--field').some(({ text }) => /=@/.test(text)) ||
    /^gist create/.test(cmd.run.words.join(' '))
  if (/^gist create/.test(cmd.run.words.join(' ')))
    for (const file of parsed.operands.slice(2)) shell.sink.read(file.text, cmd.name)
  if (carried || files) shell.sink.net('https://github.com/', cmd.name, { dir: 'out', carries: 'body' })
  return unknownOut('network')
}
