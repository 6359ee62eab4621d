// Child processes of the bench: each says one line of JSON when it is ready, and one when it has done what it was told.
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { keepTrack } from './process.ts'

export interface Sent {
  spans: number
  seconds: number
  /** Milliseconds until the answer. */
  p50: number
  p99: number
}

export interface SendOptions {
  url: string
  requests: number
  connections: number
  /** Spans in a second; absent: as fast as they are taken. */
  rate?: number
}

/** Sends spans from a process of its own; resolves when all were answered with 200. */
export async function sendSpans(children: string, options: SendOptions): Promise<Sent> {
  const child = new Child(`${children}/send-spans.mjs`, [JSON.stringify(options)])
  return (await child.line()) as Sent
}

export class Child {
  readonly process: ChildProcess
  private readonly lines: AsyncIterator<string>
  private words = ''

  constructor(script: string, args: string[]) {
    this.process = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
    keepTrack(this.process)
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.words += chunk.toString()
    })
    const { stdout } = this.process
    if (stdout === null) throw new Error('the child has no output')
    this.lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  }

  get pid(): number {
    const { pid } = this.process
    if (pid === undefined) throw new Error('the child did not start')
    return pid
  }

  /** The next line it prints, as JSON. Rejects when it ends before. */
  async line(): Promise<unknown> {
    const { value, done } = await this.lines.next()
    if (done === true) throw new Error(`a child of the bench ended: ${this.words}`)
    return JSON.parse(value)
  }

  async stop(): Promise<void> {
    const { process: child } = this
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
  }
}
