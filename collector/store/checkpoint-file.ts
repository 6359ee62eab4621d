// Checkpoints on disk: the newest in a file of its own, all of them one JSON string a line.
import { appendFileSync, closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { HomePaths } from '../../conventions/home.ts'
import { replaceFile, syncPath } from './files.ts'

export class CheckpointFile {
  private readonly home: HomePaths

  constructor(home: HomePaths) {
    this.home = home
    cutHalfLine(home.checkpoints)
  }

  /** Newest checkpoint, if any. */
  newest(): string | undefined {
    return existsSync(this.home.checkpoint) ? readFileSync(this.home.checkpoint, 'utf8') : undefined
  }

  /** Last of the list. */
  last(): string | undefined {
    if (!existsSync(this.home.checkpoints)) return undefined
    const line = readFileSync(this.home.checkpoints, 'utf8').trimEnd().split('\n').at(-1)
    return line ? JSON.parse(line) : undefined
  }

  /** Durable when it returns. The list first: the newest file never names what the list does not have. */
  save(note: string): void {
    const isNew = !existsSync(this.home.checkpoints)
    const fd = openSync(this.home.checkpoints, 'a', 0o600)
    try {
      appendFileSync(fd, `${JSON.stringify(note)}\n`)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    if (isNew) syncPath(dirname(this.home.checkpoints))
    replaceFile(this.home.checkpoint, note)
  }
}

/** A crash can leave half a line at the end, a power cut a line with a hole; the next append would make two unreadable. */
function cutHalfLine(path: string): void {
  if (!existsSync(path)) return
  const bytes = readFileSync(path)
  const end = bytes.lastIndexOf(0x0a) + 1
  const start = end === 0 ? 0 : bytes.lastIndexOf(0x0a, end - 2) + 1
  const whole = isLine(bytes.subarray(start, end)) ? end : start
  if (whole === bytes.length) return
  const fd = openSync(path, 'r+')
  try {
    ftruncateSync(fd, whole)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function isLine(bytes: Buffer): boolean {
  try {
    return typeof JSON.parse(bytes.toString('utf8')) === 'string'
  } catch {
    return false
  }
}
