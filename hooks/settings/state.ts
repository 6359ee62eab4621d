// What we wrote into agents' settings (<home>/installs.json): needed to undo it exactly and to notice when it changes.
import { readFileSync } from 'node:fs'
import { homePaths } from '../../conventions/home.ts'
import type { Handler } from './entries.ts'
import { replaceFile } from './file.ts'

export interface Install {
  agent: string
  file: string
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
  /** Our entry of each native event. */
  handlers: Record<string, Handler>
  /** We switched readable reasoning on. */
  thinkingSummaries: boolean
  /** Base64 of the file as it was before us; null when there was none. */
  original: string | null
  /** SHA-256 of the bytes we wrote, hex. */
  written: string
}

/** The installs of a home; none when there is no such file. Throws when the file can't be read or is broken: it must not be lost. */
export function readInstalls(home: string): Install[] {
  let text: string
  try {
    text = readFileSync(homePaths(home).installs, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
  const state: { version?: unknown; installs?: unknown } = JSON.parse(text)
  if (state.version !== 1 || !Array.isArray(state.installs)) {
    throw new Error(`${homePaths(home).installs} is of another version of Spanseal`)
  }
  return state.installs
}

/** Replaces what is known of one file; `install: null` forgets it. */
export function writeInstall(home: string, file: string, install: Install | null): void {
  const others = readInstalls(home).filter((known) => known.file !== file)
  const installs = install === null ? others : [...others, install]
  const text = `${JSON.stringify({ version: 1, installs }, null, 2)}\n`
  replaceFile(homePaths(home).installs, new TextEncoder().encode(text), 0o600)
}
