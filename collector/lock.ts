// One collector a home: a lock file that names the process. Two that start at once: one wins, the other says so.

import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'

/** Another collector has this home. */
export class LockTaken extends Error {
  override name = 'LockTaken'
  readonly pid: number
  constructor(pid: number) {
    super(`another collector (process ${pid}) already has this home`)
    this.pid = pid
  }
}

/** Takes the lock at `path`, also from a process that is gone. Returns how to give it back. Throws LockTaken. */
export function takeLock(path: string): () => void {
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(mine, String(process.pid), { mode: 0o600 })
  try {
    for (let round = 0; round < 3; round++) {
      if (tryLink(mine, path)) return () => release(path)
      const holder = holderOf(path)
      if (holder !== undefined && holder !== process.pid && isAlive(holder)) throw new LockTaken(holder)
      removeStale(path, mine)
    }
    throw new LockTaken(holderOf(path) ?? 0)
  } finally {
    unlinkSync(mine)
  }
}

/** A hard link is made by one process only, whatever happens at once. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Takes a dead holder's lock away; of several who try at once, only the one that holds the breaker does. */
function removeStale(path: string, mine: string): void {
  const breaker = `${path}.break`
  if (!tryLink(mine, breaker)) {
    const holder = holderOf(breaker)
    if (holder !== undefined && isAlive(holder)) throw new LockTaken(holder)
    unlinkSync(breaker)
    return
  }
  try {
    const holder = holderOf(path)
    if (holder === undefined || holder === process.pid || !isAlive(holder)) unlinkSync(path)
  } finally {
    unlinkSync(breaker)
  }
}

function holderOf(path: string): number | undefined {
  if (!existsSync(path)) return undefined
  const pid = Number(readFileSync(path, 'utf8'))
  return Number.isInteger(pid) && pid > 0 ? pid : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function release(path: string): void {
  if (holderOf(path) === process.pid) unlinkSync(path)
}
