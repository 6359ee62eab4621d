// CPU and memory of processes, and processes that are timed from outside.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Clock ticks in a second: what Linux counts CPU time in for readers of /proc, whatever its own timer does. */
const TICKS = 100

/** True where /proc says what a process used. Elsewhere rows about CPU and memory of other processes are not run. */
export const HAS_PROC = process.platform === 'linux'
export const NO_PROC = 'needs /proc: CPU and memory of another process are read from there'

function statOf(pid: number | 'self'): string[] {
  // The program's name, in brackets, may hold anything; fields are counted from the state, the third one.
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
}

/** Seconds of CPU a living process used so far, all threads. */
export function cpuOf(pid: number): number {
  const stat = statOf(pid)
  return (Number(stat[11]) + Number(stat[12])) / TICKS
}

/** Seconds of CPU of all children of this process that have ended. */
function cpuOfEnded(): number {
  const stat = statOf('self')
  return (Number(stat[13]) + Number(stat[14])) / TICKS
}

/** Resident memory now, MB. */
export function memoryOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

/** Living children of a process. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        return Number(statOf(child)[1]) === pid
      } catch {
        // Ended between two looks.
        return false
      }
    })
}

/** Program and arguments of a process. */
export function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
}

export interface Timed {
  /** Milliseconds. */
  wall: number
  /** Milliseconds of CPU, in steps of a clock tick: add up many rounds. */
  cpu: number
}

/** Runs a program to its end with `input` on stdin. Rejects when it does not end with code 0. No other child may end meanwhile. */
export async function timed(
  command: readonly [string, ...string[]],
  input = '',
  env: NodeJS.ProcessEnv = {},
): Promise<Timed> {
  const [program, ...args] = command
  const cpuBefore = HAS_PROC ? cpuOfEnded() : 0
  const began = performance.now()
  const code = await new Promise<string>((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...env },
      stdio: [input === '' ? 'ignore' : 'pipe', 'ignore', 'pipe'],
    })
    let words = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      words += chunk.toString()
    })
    child.once('error', reject)
    child.once('exit', (status, signal) => resolve(status === 0 ? '' : `${signal ?? `exit ${status}`}: ${words}`))
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
  const wall = performance.now() - began
  if (code !== '') throw new Error(`${program} ended with ${code}`)
  return { wall, cpu: HAS_PROC ? (cpuOfEnded() - cpuBefore) * 1000 : Number.NaN }
}

/** What everything about processes is compared with: a Node that does nothing. */
export function emptyNode(): Promise<Timed> {
  return timed([process.execPath, '-e', '0'])
}

/** Runs a program that is only run for its effect; true when it ended with code 0. */
export function ranQuietly(program: string, args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore', cwd: '/' }).status === 0
}

const left = { processes: new Set<ChildProcess>(), folders: new Set<string>() }
// A run that is interrupted leaves nothing behind.
process.on('exit', () => {
  for (const child of left.processes) child.kill('SIGKILL')
  for (const folder of left.folders) rmSync(folder, { recursive: true, force: true })
})

/** Ends a child together with this process, whatever happens. */
export function keepTrack(child: ChildProcess): void {
  left.processes.add(child)
  child.once('exit', () => left.processes.delete(child))
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spanseal-bench-'))
  left.folders.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  left.folders.delete(folder)
}
