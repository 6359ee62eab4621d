// The thread that reads spans of others for one destination: started by the first of them, and again after it ended.
import { Worker } from 'node:worker_threads'
import { type Passed, type PassSource, type Recorded, rememberSession } from './forward/pass-through.ts'

/** Megabytes of JavaScript heap: as much as looking through the largest body was given when it came. */
const HEAP_MB = 1_536

/** Sessions that are new to the thread, and what is to be read. */
export interface PassJob {
  sessions: string[]
  recorded: Recorded
  from: number
}

/** `code`: of the system's error. */
export type PassReply = { ok: true; passed: Passed } | { ok: false; code: string }

interface Running {
  resolve: (reply: PassReply) => void
  reject: (error: Error) => void
}

export class PassThrough implements PassSource {
  private readonly setup: { worker: URL; vault: string; content: boolean }
  private readonly sessions = new Set<string>()
  private untold: string[] = []
  private thread: Worker | undefined
  private running: Running | undefined
  private closed = false

  /** `worker`: the bundled thread, `pass-worker.mjs`. `vault`: its folder. */
  constructor(setup: { worker: URL; vault: string; content: boolean }) {
    this.setup = setup
  }

  hook(session: string): void {
    if (rememberSession(this.sessions, session) && this.thread !== undefined) this.untold.push(session)
  }

  async read(recorded: Recorded, from: number): Promise<Passed> {
    if (this.closed) throw new Error('closed')
    const reply = await new Promise<PassReply>((resolve, reject) => {
      this.running = { resolve, reject }
      this.thread ??= this.start()
      const job: PassJob = { sessions: this.untold, recorded, from }
      this.untold = []
      this.thread.postMessage(job)
    })
    if (reply.ok) return reply.passed
    throw Object.assign(new Error('the vault can not be read'), { code: reply.code })
  }

  /** Ends the thread; a read that is under way rejects. */
  close(): void {
    this.closed = true
    void this.thread?.terminate()
  }

  private start(): Worker {
    const { worker, ...workerData } = this.setup
    const thread = new Worker(worker, { workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB }, env: {} })
    // Alone it keeps no process alive.
    thread.unref()
    thread.on('message', (reply: PassReply) => this.running?.resolve(reply))
    thread.on('error', (error: NodeJS.ErrnoException) => this.ended(thread, error))
    thread.on('exit', () => this.ended(thread, new Error('the thread ended')))
    this.untold = [...this.sessions]
    return thread
  }

  private ended(thread: Worker, error: NodeJS.ErrnoException): void {
    if (this.thread !== thread) return
    this.thread = undefined
    // Of a body that is too large for it, the same would come of the next try.
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.running?.resolve({ ok: true, passed: TOO_LARGE })
    else this.running?.reject(error)
  }
}

const TOO_LARGE: Passed = { spans: [], done: true, withheld: 0, unreadable: true }
