// Paths and commands on other machines.
import type { Field, Shell } from '../shell/state.ts'
import { subshell } from '../shell/state.ts'
import type { Cmd } from './types.ts'

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

/** Reads a command for another machine: its relative paths and its home are not ours. */
export function elsewhere<T>(shell: Shell, work: () => T): T {
  return subshell(shell, () => {
    shell.scope.cwd = null
    return work()
  })
}
