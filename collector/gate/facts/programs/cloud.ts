// Containers, clusters and object stores.
import { flagWords, hasFlag, names, parseOptions, valuesOf } from '../shell/options.ts'
import type { Out, Shell } from '../shell/state.ts'
import { NOTHING, unknownOut } from '../shell/state.ts'
import { elsewhere, isRemote } from './remote.ts'
import type { Cmd, Readers } from './types.ts'

export const cloudReaders: Readers = {
  docker: container,
  podman: container,
  nerdctl: container,
  kubectl: (cmd, shell) =>
    behindDashes(
      cmd,
      shell,
      names('-n -c --namespace --context --container -f --filename -o --output -l --selector --kubeconfig'),
    ),
  aws: cloudCopy,
  gsutil: cloudCopy,
  gcloud: cloudCopy,
  az: cloudCopy,
  s3cmd: cloudCopy,
  mc: cloudCopy,
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
    valued: runs
      ? RUN_VALUES
      : names('-f -t --file --secret --ssh --tag --build-arg --target --tail --format --filter'),
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
  if (verb.text === 'exec' && parsed.operands.length > 1)
    elsewhere(shell, () => shell.runFields(shell, parsed.operands.slice(1), cmd.input, [...cmd.via, cmd.name]))
  for (const { text } of valuesOf(parsed, '--secret', '--ssh')) {
    const source = /(?:^|,)(?:src|source)=([^,]+)/.exec(text)?.[1]
    if (source !== undefined) shell.sink.read(source, cmd.name)
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
