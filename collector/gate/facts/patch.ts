// Patches in the form agents send them: the files they add, change, move and delete.
import type { Sink } from './sink.ts'

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/
const MOVE = /^\*\*\* Move to: (.+)$/
const UNIFIED = /^(?:\+\+\+|---) (?:[ab]\/)?([^\t\n]+)/

/** Notes the files of a patch. */
export function readPatch(patch: string, sink: Sink, by: string): void {
  for (const line of patch.split('\n')) {
    const file = FILE.exec(line)
    if (file?.[2] !== undefined) {
      if (file[1] === 'Delete') sink.delete(file[2], by)
      else sink.write(file[2], by)
      continue
    }
    const path = MOVE.exec(line)?.[1] ?? UNIFIED.exec(line)?.[1]
    if (path !== undefined) sink.write(path, by)
  }
}
