// Starts the collector as a process of its own: own session, clean environment, its words in a file. Two at once end with one collector.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HomePaths } from '../../conventions/home.ts'
import { lockHolder } from '../lock.ts'
import { answers } from '../receive/probe.ts'
import { makeFolder } from '../store/files.ts'
import { loadHttp, type Status, statusOf } from './admin-client.ts'
import { readEndpoint } from './endpoint.ts'
import { CliError, messageOf } from './exit.ts'

/** Milliseconds between looks whether it answers: a look at a file that is not there, until the collector has opened its doors. */
const POLL_MS = 2
/** Milliseconds until it must answer; a hook waits 20 s in all. */
const READY_MS = 15_000
/** Bytes of the collector's words before they are put aside and begun anew. */
const MAX_START_LOG_BYTES = 1024 * 1024
/** Lines of its last words that are repeated. */
const LAST_LINES = 5

export interface Started<Seen = Status> {
  status: Seen
  /** False when one ran already, or somebody else started it meanwhile. */
  byUs: boolean
}

/** Which Node runs which collector: by default those of this process. */
export interface Program {
  runtime: string
  program: string
}

/** Variables that a person may let through to the collector: headers of destinations refer to them. No other program knows them. */
const LET_THROUGH = 'SPANSEAL_FORWARD_'

/**
 * Returns when a collector of this home answers. Throws CliError with the collector's own last words when none comes to.
 * `secrets`: where SPANSEAL_FORWARD_ variables are taken from.
 */
export function ensureCollector(
  home: HomePaths,
  program: Program = ownProgram(),
  secrets: NodeJS.ProcessEnv = {},
): Promise<Started> {
  return ensure(home, program, secrets, async () => {
    // It takes a while to load, and there is one to wait anyway.
    await loadHttp()
    return statusOf(home)
  })
}

/**
 * The same for a hook that waits: returns when hooks are answered, which is a while before a question over HTTP would be. A hook gives no
 * secrets, its environment is the agent's.
 */
export async function ensureForHook(home: HomePaths): Promise<void> {
  await ensure(home, ownProgram(), {}, async () => {
    const endpoint = readEndpoint(home)
    return endpoint !== null && (await answers(endpoint.hook)) ? endpoint : null
  })
}

/** `look`: what a collector says of itself; null when none answers. */
async function ensure<Seen extends { pid: number }>(
  home: HomePaths,
  program: Program,
  secrets: NodeJS.ProcessEnv,
  look: () => Promise<Seen | null>,
): Promise<Started<Seen>> {
  const running = readEndpoint(home) === null ? null : await look()
  if (running !== null) return { status: running, byUs: false }
  makeFolders(home)
  const deadline = Date.now() + READY_MS
  let child: Child | null = null
  for (;;) {
    // Another one that is starting or just stopping has the lock: wait for what comes of it.
    const holder = lockHolder(home.lock)
    if (child === null && holder === null) child = startChild(home, program, secrets)
    await sleep(POLL_MS)
    const status = await look()
    if (status !== null) return { status, byUs: status.pid === child?.process.pid }
    if (child?.ended !== undefined) {
      const words = child.words()
      if (lockHolder(home.lock) === null && !LOST_THE_RACE.test(words)) {
        throw new CliError(`the collector did not start: ${lastLines(words) || child.ended}`)
      }
      child = null
    }
    if (Date.now() > deadline) throw new CliError(lateMessage(home, child))
  }
}

/** What lock.ts says to the second of two. */
const LOST_THE_RACE = /another collector \(process \d+\) already has this home/

/** The collector in this terminal, with the same clean environment. Resolves with its exit code. */
export function runForeground(home: HomePaths): Promise<number> {
  makeFolders(home)
  const { runtime, program } = ownProgram()
  const child = spawn(runtime, [program, '--home', home.root], {
    cwd: '/',
    env: cleanEnvironment(process.env),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

interface Child {
  process: ChildProcess
  /** How it ended; undefined while it runs. */
  ended: string | undefined
  words: () => string
}

function startChild(home: HomePaths, { runtime, program }: Program, secrets: NodeJS.ProcessEnv): Child {
  const log = openStartLog(home)
  try {
    const from = fstatSync(log).size
    const started = spawn(runtime, [program, '--home', home.root], {
      detached: true,
      cwd: '/',
      env: cleanEnvironment(secrets),
      stdio: ['ignore', log, log],
    })
    const child: Child = {
      process: started,
      ended: undefined,
      words: () => readFileSync(home.startLog).subarray(from).toString('utf8'),
    }
    started.on('error', (error) => {
      child.ended = error.message
    })
    started.on('exit', (code, signal) => {
      child.ended = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
    })
    started.unref()
    return child
  } finally {
    closeSync(log)
  }
}

/** The collector's program lies beside this one, here and where `init` copies both. */
function ownProgram(): Program {
  return { runtime: process.execPath, program: fileURLToPath(new URL('./collector.cjs', import.meta.url)) }
}

/** Nothing of the project an agent works in may reach the collector: not NODE_OPTIONS, not OTEL_*, not a PATH with other programs. */
function cleanEnvironment(secrets: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { PATH: '/usr/bin:/bin', HOME: homedir() }
  for (const name of ['LANG', 'LC_ALL', 'TZ']) if (process.env[name] !== undefined) env[name] = process.env[name]
  for (const name of Object.keys(secrets)) if (name.startsWith(LET_THROUGH)) env[name] = secrets[name]
  return env
}

function makeFolders(home: HomePaths): void {
  try {
    for (const folder of [home.root, home.run]) makeFolder(folder)
  } catch (error) {
    throw new CliError(`${home.root} can't be made or used: ${messageOf(error)}`)
  }
}

function openStartLog(home: HomePaths): number {
  try {
    const size = statSync(home.startLog, { throwIfNoEntry: false })?.size ?? 0
    if (size > MAX_START_LOG_BYTES) renameSync(home.startLog, `${home.startLog}.1`)
    return openSync(home.startLog, 'a', 0o600)
  } catch (error) {
    throw new CliError(`${home.startLog} can't be written: ${messageOf(error)}`)
  }
}

function lateMessage(home: HomePaths, child: Child | null): string {
  const holder = child?.process.pid ?? lockHolder(home.lock)
  const who = holder === null ? 'no collector' : `the collector (process ${holder})`
  return `${who} did not answer within ${READY_MS / 1000} s; what it says is in ${home.startLog}`
}

function lastLines(words: string): string {
  return words.trimEnd().split('\n').slice(-LAST_LINES).join('\n')
}
