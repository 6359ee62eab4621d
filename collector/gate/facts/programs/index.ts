// Every program the gate can read, by name.
import { archiveReaders } from './archive.ts'
import { builtinReaders } from './builtins.ts'
import { cloudReaders } from './cloud.ts'
import { databaseReaders } from './databases.ts'
import { fileReaders } from './files.ts'
import { findReaders } from './find.ts'
import { gitReaders } from './git.ts'
import { httpReaders } from './http.ts'
import { interpreterReaders, versioned } from './interpreters.ts'
import { netReaders } from './net.ts'
import { packageReaders } from './packages.ts'
import { sessionReaders } from './sessions.ts'
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
    ...archiveReaders,
    ...findReaders,
    ...httpReaders,
    ...netReaders,
    ...textReaders,
    ...gitReaders,
    ...packageReaders,
    ...databaseReaders,
    ...cloudReaders,
    ...sessionReaders,
  } satisfies Readers),
)

/** The reader of a program, or undefined when nobody knows it. */
export function programReader(name: string): Reader | undefined {
  const known = READERS.get(name) ?? READERS.get(versioned(name))
  return known ?? (/^mkfs(?:\.|$)/.test(name) ? READERS.get('mkfs') : undefined)
}
