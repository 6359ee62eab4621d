// Every program the gate can read, by name.
import { builtinReaders } from './builtins.ts'
import { fileReaders } from './files.ts'
import { findReaders } from './find.ts'
import { gitReaders } from './git.ts'
import { interpreterReaders, versioned } from './interpreters.ts'
import { netReaders } from './net.ts'
import { otherReaders } from './others.ts'
import { simpleReaders } from './simple.ts'
import { textReaders } from './text.ts'
import type { Reader, Readers } from './types.ts'

/** Later ones win: a reader of its own is more exact than a line in a table. */
const READERS: ReadonlyMap<string, Reader> = new Map(
  Object.entries({
    ...simpleReaders(),
    ...interpreterReaders(),
    ...builtinReaders,
    ...fileReaders,
    ...findReaders,
    ...netReaders,
    ...textReaders,
    ...gitReaders,
    ...otherReaders,
  } satisfies Readers),
)

/** The reader of a program, or undefined when nobody knows it. */
export function programReader(name: string): Reader | undefined {
  return (
    READERS.get(name) ?? READERS.get(versioned(name)) ?? (/^mkfs(?:\.|$)/.test(name) ? READERS.get('mkfs') : undefined)
  )
}
