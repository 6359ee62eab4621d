// Reads a file whose path someone else names: a named pipe, a device or a huge file there must not hang or fill the collector.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'

/**
 * The first `maxBytes` bytes of a regular file as text; null when there is no such file. Throws when it is no regular file, or
 * can't be read.
 */
export function readRegularFile(path: string, maxBytes: number): string | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
  try {
    if (!fstatSync(fd).isFile()) throw new Error('not a regular file')
    const bytes = Buffer.alloc(Math.min(maxBytes, fstatSync(fd).size))
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(fd)
  }
}

/** Whether anything is there, also a link to nowhere: that is a file which can't be read, not one that is missing. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
