// A program of somebody else, built by build.mjs, as a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds until a program must answer; big binaries on loaded machines are slow. */
const READY_MS = 60_000
/** Characters of its own log that are kept for an error message. */
const SAID_CHARACTERS = 8_000

export class Program {
  private child: ChildProcess | undefined
  private said = ''
  private readonly command: { name: string; args: string[]; env?: Record<string, string> }

  constructor(command: { name: string; args: string[]; env?: Record<string, string> }) {
    this.command = command
  }

  /** Starts it and waits until `url` answers with success. Throws with what it said when it does not. */
  async start(url: string): Promise<void> {
    const { name, args, env } = this.command
    const child = spawn(peerPath(name), args, { stdio: ['ignore', 'pipe', 'pipe'], env: env ?? {} })
    this.child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.said = (this.said + chunk).slice(-SAID_CHARACTERS)
      })
    }
    const deadline = Date.now() + READY_MS
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended: ${this.said}`)
      if ((await fetch(url).catch(() => null))?.ok) return
      if (Date.now() > deadline) throw new Error(`${name} does not answer: ${this.said}`)
      await sleep(50)
    }
  }

  /** Ends it, if it runs, and waits until it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((done) => child.once('exit', done))
    child.kill(signal)
    await gone
  }
}

/** Path of a built program. */
export function peerPath(name: string): string {
  return resolve('.cache/peers/bin', name)
}

/** A port of 127.0.0.1 that was free just now; somebody else may take it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

/** Waits until it holds; throws naming it when it does not within `ms` milliseconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 120_000): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`in vain waited for: ${what}`)
    await sleep(100)
  }
}
