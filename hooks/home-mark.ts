// A short name for a home folder, where its path is too long or says too much.
import { createHash } from 'node:crypto'

/** 16 hex digits; `home`: its absolute path. */
export function homeMark(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 16)
}
