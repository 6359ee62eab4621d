// The index as the collector sees it: a process of its own, because DuckDB is native code, and what ends a native thread ends the
// gate with it. Whatever happens to that process, nothing here throws: only queries fail, and say so.
import { type ChildProcess, fork } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Position } from '../../../conventions/log.ts'
import type { PriceEntry } from '../../../conventions/price-entry.ts'
import { listSegments, segmentPath } from '../segments.ts'
import type { Param } from './database.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import type { SqlAnswer, SqlBudget } from './user-sql.ts'
import type { Row } from './values.ts'

/**
 * Milliseconds for which notices are gathered: a sync of few rows costs as much as one of thousands, whose share of it is small. No
 * query waits for it: each brings the index up to date first.
 */
const NOTICE_MS = 500
/** Milliseconds after the collector's start. Opening DuckDB would take the processor from the doors and the hook that waits for them. */
const START_MS = 500
/** Milliseconds until a process that died is started again. */
const RESTART_MS = 5_000
/** Milliseconds for the process to close its file; the index survives being killed. */
const CLOSE_MS = 10_000
/** Megabytes of JavaScript heap in the process, beside DuckDB's own limit. */
const HEAP_MB = 1_024
/** What a query of somebody else may use when the caller says nothing. */
export const DEFAULT_BUDGET: SqlBudget = { maxRows: 10_000, timeoutMs: 10_000 }

/** The query could not be answered: the index is starting, catching up, locked, or the query failed. */
export class IndexError extends Error {
  override name = 'IndexError'
}

export interface IndexClientOptions {
  /** The bundled process, `index-worker.mjs`. */
  worker: URL | string
  path: string
  logDir: string
  vaultDir: string
  /** Prices of the person's own, over the shipped ones. */
  prices?: readonly PriceEntry[]
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
  private child: ChildProcess | undefined
  private readonly waiting = new Map<number, Waiting>()
  private nextId = 0
  private newest: Position | undefined
  private indexed: Position | undefined
  private notice: NodeJS.Timeout | undefined
  private restart: NodeJS.Timeout | undefined
  private closing = false
  /** Waits for the first start; undefined from then on. */
  private first: NodeJS.Timeout | undefined

  constructor(options: IndexClientOptions) {
    this.options = options
    this.first = setTimeout(() => this.start(), START_MS).unref()
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

  /** Policy or configuration of the home has changed: what is indexed from here on is read by it. */
  changed(): void {
    this.post({ kind: 'changed' })
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
      bytes += statSync(segmentPath(this.options.logDir, segment), { throwIfNoEntry: false })?.size ?? 0
    }
    return Math.max(0, bytes)
  }

  /** True while the process runs. */
  get running(): boolean {
    return this.child !== undefined
  }

  /** Lets the process close its file and waits for its end. */
  async close(): Promise<void> {
    this.closing = true
    clearTimeout(this.first)
    clearTimeout(this.notice)
    clearTimeout(this.restart)
    const { child } = this
    if (child === undefined) return
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    this.post({ kind: 'close' })
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
    await gone
    clearTimeout(timer)
  }

  private start(): void {
    clearTimeout(this.first)
    this.first = undefined
    const { worker, path, logDir, vaultDir, prices = [] } = this.options
    const child = fork(worker, [path, logDir, vaultDir, JSON.stringify(prices)], {
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      // Its own channel carries what there is to say; what a crash prints could hold content.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.child = child
    child.on('message', (message: FromWorker) => this.receive(message))
    child.once('error', (error: Error) => this.ended(child, error.message))
    child.once('exit', (code, signal) => this.ended(child, signal ?? `exit ${code}`))
    if (this.newest !== undefined) this.post({ kind: 'durable', position: this.newest })
  }

  private ended(child: ChildProcess, how: string): void {
    if (this.child !== child) return
    this.child = undefined
    for (const { reject } of this.waiting.values()) reject(new IndexError('the index stopped before it could answer'))
    this.waiting.clear()
    if (this.closing) return
    const wait = this.options.restartMs ?? RESTART_MS
    this.log(
      `the index process ended (${how}); it starts again in ${wait / 1000} s. Nothing is lost: the log is the database`,
    )
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
    if (this.first !== undefined && !this.closing) this.start()
    if (this.child === undefined || this.closing) {
      return Promise.reject(new IndexError('the index is not running right now; ask again in a few seconds'))
    }
    const id = this.nextId++
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      this.post(message(id))
    })
  }

  private post(message: ToWorker): void {
    // A message that can't be sent has no receiver any more: `ended` tells whoever waits.
    this.child?.send(message, () => undefined)
  }

  private log(line: string): void {
    this.options.log?.(line)
  }
}
