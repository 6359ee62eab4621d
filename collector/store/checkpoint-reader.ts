// Checkpoints as they were signed, read on from where the last reading ended.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export class CheckpointReader {
  private readonly path: string
  private offset = 0

  /** `path`: log/checkpoints.jsonl. */
  constructor(path: string) {
    this.path = path
  }

  /** Those since the last call, oldest first. A half-written line is left for the next. Throws the system's error. */
  next(): { size: number; note: string }[] {
    const text = this.read()
    const end = text.lastIndexOf('\n') + 1
    this.offset += Buffer.byteLength(text.slice(0, end))
    return text
      .slice(0, end)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const note = String(JSON.parse(line))
        return { size: Number(note.split('\n')[1]), note }
      })
  }

  private read(): string {
    let fd: number
    try {
      fd = openSync(this.path, 'r')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
      throw error
    }
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - this.offset))
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, this.offset)).toString('utf8')
    } finally {
      closeSync(fd)
    }
  }
}
