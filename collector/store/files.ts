// Files that must survive a power cut: written whole, synced, then named.
import { closeSync, fsyncSync, linkSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes a new file of mode 0600 durably: whole, or not at all. Throws when it exists. */
export function writeNewFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.new`
  writeSynced(temporary, 'w', content)
  linkSync(temporary, path)
  unlinkSync(temporary)
  syncFolder(dirname(path))
}

/** Replaces a file of mode 0600 as a whole: readers see the old bytes or the new ones. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.new`
  writeSynced(temporary, 'w', content)
  renameSync(temporary, path)
  syncFolder(dirname(path))
}

/** Makes the names in a folder durable. */
export function syncFolder(path: string): void {
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
