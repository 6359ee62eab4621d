// Files that must survive a power cut: written whole, synced, then named.
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes a new file of mode 0600 durably: whole, or not at all. Throws when it exists. */
export function writeNewFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.new`
  // One that a power cut left may be the same file under another name: it must not be written through.
  rmSync(temporary, { force: true })
  writeSynced(temporary, 'wx', content)
  linkSync(temporary, path)
  unlinkSync(temporary)
  syncPath(dirname(path))
}

/** Replaces a file of mode 0600 as a whole: readers see the old bytes or the new ones. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.new`
  writeSynced(temporary, 'w', content)
  renameSync(temporary, path)
  syncPath(dirname(path))
}

/** Makes a folder of mode 0700, and those above it, durably. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let at = path; at !== dirname(first); at = dirname(at)) syncPath(dirname(at))
}

/** Makes the bytes of a file, or the names in a folder, durable: whoever wrote them may have died before doing so. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function writeSynced(path: string, flags: string, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const fd = openSync(path, flags, 0o600)
  try {
    let written = 0
    while (written < bytes.length) written += writeSync(fd, bytes, written)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
