// Looks through bodies on threads of their own, so that no body, however large, keeps the thread that answers hooks. Two lanes: an
// ordinary body never waits for a large one. One body at a time in each; whoever is next waits here, in the order they came.
import { Worker } from 'node:worker_threads'
import type { Signal } from '../../../conventions/import.ts'
import type { Content } from '../../../conventions/record.ts'
import type { Blocks } from './body.ts'
import type { Encoding } from './decode.ts'
import type { Inspected } from './inspect.ts'

/** Bytes of the largest body in the fast lane: about ten times what an exporter sends by default. */
const FAST_BYTES = 512 * 1024
/** Megabytes of JavaScript heap in a lane. A JSON body of the largest size needs most of it. */
const HEAP_MB = { fast: 256, slow: 1_536 }

const CLOSED = 'the collector has closed its doors'

/** What is known of a body, and what is to be committed to and kept of it (nothing when it is refused). */
export interface Looked {
  inspected: Inspected
  contents: Content[]
}

export type Inspect = (body: Blocks, encoding: Encoding, signal: Signal) => Promise<Looked>

/** What a lane's thread is sent; it answers each with a `Looked`. */
export interface Job extends Blocks {
  encoding: Encoding
  signal: Signal
}

interface Waiting {
  job: Job
  resolve: (looked: Looked) => void
  reject: (error: Error) => void
}

export interface PoolOptions {
  /** The bundled thread, `otlp-worker.mjs`. */
  worker: URL
  /** Of the log that is written to. */
  logId: string
}

export class InspectPool {
  private readonly fast: Lane
  private readonly slow: Lane

  constructor({ worker, logId }: PoolOptions) {
    this.fast = new Lane(worker, logId, HEAP_MB.fast)
    this.slow = new Lane(worker, logId, HEAP_MB.slow)
  }

  /** The blocks are gone afterwards. Rejects when a thread ended while it looked. */
  readonly inspect: Inspect = (body, encoding, signal) => {
    const { blocks, length } = body
    return (length <= FAST_BYTES ? this.fast : this.slow).run({ blocks, length, encoding, signal })
  }

  async close(): Promise<void> {
    await Promise.all([this.fast.close(), this.slow.close()])
  }
}

class Lane {
  private readonly worker: URL
  private readonly logId: string
  private readonly heapMb: number
  private thread: Worker | undefined
  private running: Waiting | undefined
  private readonly queue: Waiting[] = []
  private closed = false

  constructor(worker: URL, logId: string, heapMb: number) {
    this.worker = worker
    this.logId = logId
    this.heapMb = heapMb
  }

  run(job: Job): Promise<Looked> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new Error(CLOSED))
      this.queue.push({ job, resolve, reject })
      this.next()
    })
  }

  async close(): Promise<void> {
    this.closed = true
    for (const { reject } of this.queue.splice(0)) reject(new Error(CLOSED))
    await this.thread?.terminate()
  }

  private next(): void {
    if (this.running !== undefined) return
    this.running = this.queue.shift()
    if (this.running === undefined) return
    const { job } = this.running
    // Started by the first body: most collectors never see one.
    this.thread ??= this.start()
    this.thread.postMessage(
      job,
      job.blocks.map(({ buffer }) => buffer),
    )
  }

  private start(): Worker {
    const thread = new Worker(this.worker, {
      workerData: { logId: this.logId },
      resourceLimits: { maxOldGenerationSizeMb: this.heapMb },
      env: {},
    })
    // Alone it keeps no process alive.
    thread.unref()
    thread.on('message', (looked: Looked) => {
      this.running?.resolve(looked)
      this.running = undefined
      this.next()
    })
    thread.on('error', (error: NodeJS.ErrnoException) => this.ended(thread, error))
    thread.on('exit', () => this.ended(thread, new Error('the thread ended')))
    return thread
  }

  /** The body that was looked through pays for it; the next one gets a new thread. */
  private ended(thread: Worker, error: NodeJS.ErrnoException): void {
    if (this.thread !== thread) return
    this.thread = undefined
    const { running } = this
    this.running = undefined
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
      const message = 'the body holds more than can be looked through; send smaller batches'
      running?.resolve({ inspected: { ok: false, field: '', message, tooLarge: true }, contents: [] })
    } else running?.reject(error)
    this.next()
  }
}
