// One collector a home: a lock file that names the process. Two that start at once: one wins, the other says so.
import { spawnSync } from 'node:child_process'
import { linkSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'

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
  const mine = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  writeFileSync(mine, `${process.pid} ${birthOf(process.pid)}`, { mode: 0o600 })
  try {
    for (let round = 0; round < 3; round++) {
      if (tryLink(mine, path)) return () => release(path)
      const holder = holderOf(path)
      if (holder !== undefined && isAlive(holder)) throw new LockTaken(holder.pid)
      removeStale(path, mine)
    }
    throw new LockTaken(holderOf(path)?.pid ?? 0)
  } finally {
    unlinkSync(mine)
  }
}

/** Process id of the living holder of the lock at `path`; null when nobody holds it. */
export function lockHolder(path: string): number | null {
  const holder = holderOf(path)
  return holder !== undefined && isAlive(holder) ? holder.pid : null
}

/** Whether a process has not ended yet. One that nobody collected has. */
export function isRunning(pid: number): boolean {
  return birthOf(pid) !== ''
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
    if (holder !== undefined && isAlive(holder)) throw new LockTaken(holder.pid)
    rmSync(breaker, { force: true })
    return
  }
  try {
    const holder = holderOf(path)
    if (holder === undefined || !isAlive(holder)) rmSync(path, { force: true })
  } finally {
    unlinkSync(breaker)
  }
}

interface Holder {
  pid: number
  birth: string
}

/** Who wrote the lock; undefined when there is none, also when it is given back at this very moment. */
function holderOf(path: string): Holder | undefined {
  try {
    const [pid = '', ...birth] = readFileSync(path, 'utf8').split(' ')
    return /^[1-9]\d*$/.test(pid) ? { pid: Number(pid), birth: birth.join(' ') } : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The very process that wrote the lock: not a later one with its number, not one that is dead but not yet collected. */
function isAlive({ pid, birth }: Holder): boolean {
  return birth !== '' && birthOf(pid) === birth
}

/** When a process began, in the system's own words; empty when it is gone or a zombie. */
function birthOf(pid: number): string {
  if (process.platform === 'linux') {
    try {
      // After the program's name in brackets: state is the first field, start time (clock ticks since boot) the twentieth.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
      return fields[0] === 'Z' ? '' : (fields[19] ?? '')
    } catch {
      return ''
    }
  }
  const ps = spawnSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
  const [, state = '', start = ''] = /^(\S+)\s+(.*\S)\s*$/.exec(ps.stdout ?? '') ?? []
  return state.startsWith('Z') ? '' : start
}

function release(path: string): void {
  if (holderOf(path)?.pid === process.pid) unlinkSync(path)
}
