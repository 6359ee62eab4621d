// The index as the collector's main thread sees it. Whatever happens to the worker, nothing here throws at the gate: only queries
// fail, and say so.
import { existsSync, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Position } from '../../../conventions/log.ts'
import { listSegments, segmentPath } from '../segments.ts'
import type { Param } from './database.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'
import type { SqlAnswer, SqlBudget } from './user-sql.ts'
import type { Row } from './values.ts'

/** Milliseconds for which notices are gathered: a sync of few rows costs as much as one of many. */
const NOTICE_MS = 100
/** Milliseconds until a worker that died is started again. */
const RESTART_MS = 5_000
/** Milliseconds for the worker to close its file; the index survives being killed. */
const CLOSE_MS = 10_000
/** Megabytes of JavaScript heap in the worker: beyond it the worker dies, not the collector. */
const WORKER_HEAP_MB = 1_024
/** What a query of somebody else may use when the caller says nothing. */
export const DEFAULT_BUDGET: SqlBudget = { maxRows: 10_000, timeoutMs: 10_000 }

/** The query could not be answered: the index is starting, catching up, locked, or the query failed. */
export class IndexError extends Error {
  override name = 'IndexError'
}

export interface IndexClientOptions {
  /** The bundled worker, `index-worker.mjs`. */
  worker: URL | string
  path: string
  logDir: string
  vaultDir: string
  memoryLimit?: string
  /** Lines for the operator; never content. */
  log?: (line: string) => void
  restartMs?: number
}

interface Waiting {
  resolve: (result: Row[] | SqlAnswer) => void
  reject: (error: Error) => void
}

export class IndexClient {
  private readonly options: IndexClientOptions
  private worker: Worker | undefined
  private readonly waiting = new Map<number, Waiting>()
  private nextId = 0
  private newest: Position | undefined
  private indexed: Position | undefined
  private notice: NodeJS.Timeout | undefined
  private restart: NodeJS.Timeout | undefined
  private closing = false

  constructor(options: IndexClientOptions) {
    this.options = options
    this.start()
  }

  /** Everything before `position` is durable and may be indexed. Cheap: call it after each commit. */
  notify(position: Position): void {
    this.newest = position
    if (this.closing) return
    this.notice ??= setTimeout(() => {
      this.notice = undefined
      this.post({ kind: 'durable', position: this.newest ?? position })
    }, NOTICE_MS).unref()
  }

  /** Rows of a query of our own, with all that was notified before the call. Rejects with IndexError. */
  query(sql: string, params: Param[] = []): Promise<Row[]> {
    return this.ask((id) => ({ kind: 'query', id, sql, params, durable: this.newest })) as Promise<Row[]>
  }

  /** Answer to a query of somebody else, guarded and within the budget. Rejects with IndexError when the index can't answer. */
  userSql(sql: string, budget: Partial<SqlBudget> = {}): Promise<SqlAnswer> {
    const whole = { ...DEFAULT_BUDGET, ...budget }
    return this.ask((id) => ({ kind: 'sql', id, sql, budget: whole, durable: this.newest })) as Promise<SqlAnswer>
  }

  /** Bytes of durable log that are not indexed yet. */
  lag(): number {
    const { newest } = this
    const from = this.indexed ?? { segment: 0, offset: 0 }
    if (newest === undefined) return 0
    let bytes = newest.offset - from.offset
    for (const segment of listSegments(this.options.logDir)) {
      if (segment < from.segment || segment >= newest.segment) continue
      const path = segmentPath(this.options.logDir, segment)
      if (existsSync(path)) bytes += statSync(path).size
    }
    return Math.max(0, bytes)
  }

  /** True while a worker runs. */
  get running(): boolean {
    return this.worker !== undefined
  }

  /** Lets the worker close its file and ends it. */
  async close(): Promise<void> {
    this.closing = true
    clearTimeout(this.notice)
    clearTimeout(this.restart)
    const { worker } = this
    if (worker === undefined) return
    const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.post({ kind: 'close' })
    const timer = setTimeout(() => void worker.terminate(), CLOSE_MS)
    await gone
    clearTimeout(timer)
  }

  private start(): void {
    const { worker: entry, path, logDir, vaultDir, memoryLimit } = this.options
    const workerData: WorkerSettings = { path, logDir, vaultDir, memoryLimit }
    const worker = new Worker(entry, {
      workerData,
      name: 'spanseal-index',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    })
    this.worker = worker
    worker.on('message', (message: FromWorker) => this.receive(message))
    worker.on('error', (error: Error) => this.log(`the index worker failed: ${error.message}`))
    worker.once('exit', () => this.ended())
    if (this.newest !== undefined) this.post({ kind: 'durable', position: this.newest })
  }

  private ended(): void {
    this.worker = undefined
    for (const { reject } of this.waiting.values()) reject(new IndexError('the index stopped before it could answer'))
    this.waiting.clear()
    if (this.closing) return
    const wait = this.options.restartMs ?? RESTART_MS
    this.log(`the index worker ended; it starts again in ${wait / 1000} s. Nothing is lost: the log is the database`)
    this.restart = setTimeout(() => this.start(), wait).unref()
  }

  private receive(message: FromWorker): void {
    switch (message.kind) {
      case 'synced':
        this.indexed = message.reached.position
        return
      case 'trouble':
        this.log(message.message)
        return
      case 'failed':
        this.settle(message.id)?.reject(new IndexError(message.error))
        return
      default:
        this.settle(message.id)?.resolve(message.result)
    }
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id)
    this.waiting.delete(id)
    return waiting
  }

  private ask(message: (id: number) => ToWorker): Promise<Row[] | SqlAnswer> {
    if (this.worker === undefined || this.closing) {
      return Promise.reject(new IndexError('the index is not running right now; ask again in a few seconds'))
    }
    const id = this.nextId++
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      this.post(message(id))
    })
  }

  private post(message: ToWorker): void {
    this.worker?.postMessage(message)
  }

  private log(line: string): void {
    this.options.log?.(line)
  }
}
