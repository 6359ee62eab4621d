// The index inside its own process: syncs when told what is durable, answers queries, keeps going after what can be mended.
import { existsSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Position } from '../../../conventions/log.ts'
import { SegmentError } from '../segments.ts'
import { IndexDatabase, type IndexOptions } from './database.ts'
import { IndexLockedError, messageOf, remedy } from './file.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Milliseconds between attempts while another process has the file. */
const LOCK_RETRY_MS = 500
/** Milliseconds until a sync that failed is tried again without being told anything new. */
const SYNC_RETRY_MS = 5_000
/** Milliseconds a query waits for the index to catch up, as after a rebuild. */
const CATCH_UP_MS = 30_000
/** Milliseconds without anything new, and bytes of write-ahead log, after which it is moved into the file. */
const IDLE_MS = 10_000
const IDLE_WAL_BYTES = 16 * 1024 * 1024

/** The way to and from the collector. */
export interface Channel {
  post(message: FromWorker): void
  onMessage(receive: (message: ToWorker) => void): void
  /** Ends this process: 0 when told to, 1 when it can't go on and another should be started. */
  end(code: 0 | 1): void
}

export interface IndexServerOptions extends IndexOptions {
  /** The home's policy or configuration has changed; what comes after it is read by the new one. */
  onChanged?: () => void
}

/** Serves one index until told to close. */
export class IndexServer {
  private readonly channel: Channel
  private readonly options: IndexServerOptions
  private readonly opening: Promise<IndexDatabase>
  private newest: Position | undefined
  private syncing: Promise<void> | undefined
  private timer: NodeJS.Timeout | undefined
  private closing = false

  constructor(channel: Channel, options: IndexServerOptions) {
    this.channel = channel
    this.options = options
    this.opening = this.open()
    this.opening.catch((error: unknown) => this.die(error))
    channel.onMessage((message) => this.receive(message))
  }

  private receive(message: ToWorker): void {
    switch (message.kind) {
      case 'durable':
        this.newest = message.position
        void this.syncInBackground()
        return
      case 'query':
        void this.reply(message.id, message.durable, async (index) => {
          this.post({ kind: 'rows', id: message.id, result: await index.query(message.sql, message.params) })
        })
        return
      case 'sql':
        void this.reply(message.id, message.durable, async (index) => {
          this.post({ kind: 'answer', id: message.id, result: await index.userSql(message.sql, message.budget) })
        })
        return
      case 'changed':
        this.options.onChanged?.()
        return
      case 'close':
        void this.close()
    }
  }

  private post(message: FromWorker): void {
    this.channel.post(message)
  }

  private async open(): Promise<IndexDatabase> {
    for (let told = false; ; told = true) {
      try {
        const index = await IndexDatabase.open(this.options)
        if (index.rebuilt !== null) this.trouble(`the index is built again: ${index.rebuilt}`)
        return index
      } catch (error) {
        if (!(error instanceof IndexLockedError) || this.closing) throw error
        if (!told) this.trouble(error.message)
        await sleep(LOCK_RETRY_MS)
      }
    }
  }

  private async reply(
    id: number,
    durable: Position | undefined,
    work: (index: IndexDatabase) => Promise<void>,
  ): Promise<void> {
    try {
      await work(await this.current(durable))
    } catch (error) {
      this.post({ kind: 'failed', id, error: messageOf(error) })
      if (remedy(error) !== null) this.die(error)
    }
  }

  /** The index with everything up to `durable` in it. */
  private async current(durable: Position | undefined): Promise<IndexDatabase> {
    const late = new AbortController()
    const tooLate = sleep(CATCH_UP_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error('the index is still catching up with the log, or another process has it open; ask again later')
    })
    try {
      return await Promise.race([this.caughtUp(durable), tooLate])
    } finally {
      late.abort()
      tooLate.catch(() => undefined)
    }
  }

  private async caughtUp(durable: Position | undefined): Promise<IndexDatabase> {
    const index = await this.opening
    if (durable === undefined) return index
    try {
      await index.sync(durable)
    } catch (error) {
      // A damaged log is the verifier's finding; what is indexed can still be asked for.
      if (!(error instanceof SegmentError)) throw error
      this.trouble(`the log can't be indexed any further: ${error.message}`)
    }
    this.post({ kind: 'synced', reached: index.reached })
    return index
  }

  /** One sync at a time; what is said meanwhile is covered by the next. */
  private async syncInBackground(): Promise<void> {
    if (this.syncing !== undefined || this.closing) return
    clearTimeout(this.timer)
    const target = this.newest
    this.syncing = this.caughtUp(target).then(() => undefined)
    try {
      await this.syncing
      this.timer = setTimeout(() => void this.tidy(), IDLE_MS)
    } catch (error) {
      if (this.closing) return
      if (remedy(error) !== null) return this.die(error)
      this.trouble(`indexing failed: ${messageOf(error)}`)
      this.timer = setTimeout(() => void this.syncInBackground(), SYNC_RETRY_MS)
      return
    } finally {
      this.syncing = undefined
    }
    if (this.newest !== target) void this.syncInBackground()
  }

  private async tidy(): Promise<void> {
    const wal = `${this.options.path}.wal`
    if (!existsSync(wal) || statSync(wal).size < IDLE_WAL_BYTES) return
    try {
      await (await this.opening).checkpoint()
    } catch (error) {
      this.trouble(`the index could not be tidied: ${messageOf(error)}`)
    }
  }

  private async close(): Promise<void> {
    this.closing = true
    clearTimeout(this.timer)
    try {
      await (await this.opening).close()
    } catch (error) {
      this.trouble(`the index did not close: ${messageOf(error)}`)
    }
    this.channel.end(0)
  }

  private trouble(message: string): void {
    this.post({ kind: 'trouble', message })
  }

  /** Ends the process; the collector starts another one. */
  private die(error: unknown): void {
    if (this.closing) return
    this.trouble(`the index can't go on: ${messageOf(error)}`)
    this.channel.end(1)
  }
}
