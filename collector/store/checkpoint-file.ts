// Checkpoints on disk: the newest in a file of its own, all of them one JSON string a line.
import { appendFileSync, closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import type { HomePaths } from '../../conventions/home.ts'
import { replaceFile } from './files.ts'

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

  /** Durable when it returns. The list first: the newest file never names what the list does not have. */
  save(note: string): void {
    const fd = openSync(this.home.checkpoints, 'a', 0o600)
    try {
      appendFileSync(fd, `${JSON.stringify(note)}\n`)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    replaceFile(this.home.checkpoint, note)
  }
}

/** A crash can leave half a line at the end; the next append would make both unreadable. */
function cutHalfLine(path: string): void {
  if (!existsSync(path)) return
  const bytes = readFileSync(path)
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end === bytes.length) return
  const fd = openSync(path, 'r+')
  try {
    ftruncateSync(fd, end)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
