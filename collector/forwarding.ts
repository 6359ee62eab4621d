// Forwarding as the collector sees it: a process of its own, so that no destination, however slow, refusing or large its requests, takes
// time from the thread that answers hooks. It reads the log by itself, up to where it is told that all is durable. Whatever happens to
// it, the gate goes on and nothing is lost: the log is the queue, the cursors are on disk.
import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { homePaths } from '../conventions/home.ts'
import type { Position } from '../conventions/log.ts'
import type { AuditStatus } from './audit/self-audit.ts'
import { readCursor } from './forward/cursor.ts'
import { signalUrl } from './forward/endpoint.ts'
import type { ForwardStatus } from './forward/forwarder.ts'
import { checkHeaders } from './forward/headers.ts'
import {
  type Durable,
  type ForwardConfig,
  type FromForwarding,
  type StreamName,
  streamsOf,
  type ToForwarding,
} from './forward-messages.ts'

/** Milliseconds for which notices are gathered: forwarding lingers for longer than this anyway. */
const NOTICE_MS = 100
/** Milliseconds until a process that ended is started again: the first time, and the longest after doubling. */
const FIRST_RESTART_MS = 1_000
const LONGEST_RESTART_MS = 60_000
/** Milliseconds after which a process has lived long enough for the next end to be a first one. */
const SETTLED_MS = 60_000
/** Milliseconds for the process to drain and end, beyond what it gives its streams. */
const CLOSE_MS = 5_000
/** Megabytes of JavaScript heap. Each stream holds one batch, one read and what of open calls has not been sent. */
const HEAP_MB = 1_024
/** Of the process (nice): about a third of the processor time that the collector gets where there is too little, but never none. */
const NICENESS = 5

export interface ForwardingOptions {
  /** The bundled process, `forward-worker.mjs`. */
  worker: URL
  /** Home folder. */
  root: string
  version: string
  logId: string
  /** Everything before it is durable. */
  durableEnd: () => Position
  checkpoint: () => string | undefined
  /** Records spans that a destination took and does not have. Resolves when that is durable. */
  onMissing: (destination: string, count: number) => Promise<void>
  /** Takes one line for people. */
  log: (line: string) => void
}

export class Forwarding {
  readonly #options: ForwardingOptions
  #child: ChildProcess | undefined
  #config: ForwardConfig = { forward: [], resource_attributes: {} }
  #version = 0
  #streams: { stream: StreamName; status: ForwardStatus }[] = []
  #audits: AuditStatus[] = []
  /** Why the process is not there. */
  #trouble: string | undefined
  #notice: NodeJS.Timeout | undefined
  /** The process that a notice is on its way to, and whether there is more to say. */
  #telling: ChildProcess | undefined
  #untold = false
  #restart: NodeJS.Timeout | undefined
  #restartMs = FIRST_RESTART_MS
  #startedAt = 0
  #stopping = false
  /** Times that the process ended by itself and was started again. */
  restarts = 0

  constructor(options: ForwardingOptions) {
    this.#options = options
  }

  /** What each stream last said of itself. */
  status(): ForwardStatus[] {
    const trouble = this.#trouble
    return this.#streams.map(({ status }) =>
      trouble === undefined ? status : { ...status, state: 'retrying', reason: trouble },
    )
  }

  /** Streams that need content, and the record that each has to send next, as its cursor on the disk says. */
  async contentCursors(): Promise<{ name: string; next: number }[]> {
    const takers = this.#config.forward.filter(({ content, pass_through }) => content || pass_through)
    return Promise.all(
      takers.map(async ({ name }) => {
        const read = await readCursor(`${homePaths(this.#options.root).forward}/${name}.json`)
        return { name, next: read.ok ? (read.cursor?.next_seq ?? 0) : 0 }
      }),
    )
  }

  audits(): readonly AuditStatus[] {
    return this.#audits
  }

  /** The log has grown. Cheap: call it after each commit. */
  notify(): void {
    if (this.#child === undefined || this.#stopping) return
    this.#notice ??= setTimeout(() => {
      this.#notice = undefined
      this.#tellDurable()
    }, NOTICE_MS).unref()
  }

  /** Checks what `config` asks for; the function it returns puts that in force. Throws TypeError when a header can't be used. */
  prepare({ forward, resource_attributes }: ForwardConfig): () => void {
    for (const { headers } of forward) checkHeaders(headers)
    const before = this.#streams
    const streams = streamsOf({ forward, resource_attributes }).map(
      (stream) => before.find((running) => running.stream.key === stream.key) ?? { stream, status: unknownYet(stream) },
    )
    return () => {
      this.#config = { forward, resource_attributes }
      this.#streams = streams
      this.#version++
      if (this.#child !== undefined) this.#tellConfig()
      else if (forward.length > 0 && this.#restart === undefined) this.#start()
    }
  }

  /** Sends what the log still holds, for a while. */
  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#notice)
    clearTimeout(this.#restart)
    const child = this.#child
    if (child === undefined) return
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    this.#post({ kind: 'stop', ...this.#durable() })
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
    await gone
    clearTimeout(timer)
  }

  #start(): void {
    const { worker, root, version, logId } = this.#options
    this.#restart = undefined
    this.#startedAt = performance.now()
    const child = fork(worker, [root, version, logId], {
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      // Its own channel carries what there is to say; what a crash prints could hold content or a header.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child = child
    lowerPriority(child)
    child.on('message', (message: FromForwarding) => this.#receive(message))
    child.once('error', (error: Error) => this.#ended(child, error.message))
    child.once('exit', (code, signal) => this.#ended(child, signal ?? `exit ${code}`))
    this.#tellDurable()
    this.#tellConfig()
  }

  #ended(child: ChildProcess, how: string): void {
    if (this.#child !== child) return
    this.#child = undefined
    if (this.#stopping) return
    if (performance.now() - this.#startedAt > SETTLED_MS) this.#restartMs = FIRST_RESTART_MS
    const wait = this.#restartMs
    this.#restartMs = Math.min(wait * 2, LONGEST_RESTART_MS)
    this.restarts++
    this.#trouble = `the forwarding process ended (${how}); it starts again in ${wait / 1000} s`
    this.#options.log(`${this.#trouble}. Nothing is lost: it goes on where its cursors are`)
    this.#restart = setTimeout(() => this.#start(), wait).unref()
  }

  #receive(message: FromForwarding): void {
    switch (message.kind) {
      case 'status':
        if (message.version !== this.#version) return
        this.#trouble = undefined
        this.#audits = message.audits
        for (const each of this.#streams) {
          each.status = message.streams.find(({ name }) => name === each.stream.name) ?? each.status
        }
        return
      case 'missing':
        void this.#record(message)
        return
      case 'log':
        this.#options.log(message.line)
    }
  }

  async #record({ id, destination, count }: Extract<FromForwarding, { kind: 'missing' }>): Promise<void> {
    let ok = false
    try {
      // The log is closed before forwarding is.
      if (!this.#stopping) {
        await this.#options.onMissing(destination, count)
        ok = true
      }
    } catch {
      // Said in the collector's log by whoever failed; the audit comes again.
    }
    this.#post({ kind: 'recorded', id, ok })
  }

  #tellConfig(): void {
    this.#post({ kind: 'config', version: this.#version, config: this.#config })
  }

  /** One notice at a time: a process that hangs must not fill the memory of this one. */
  #tellDurable(): void {
    const child = this.#child
    this.#untold = this.#telling === child
    if (this.#untold || child === undefined) return
    this.#telling = child
    this.#post({ kind: 'durable', ...this.#durable() }, () => {
      if (this.#telling !== child) return
      this.#telling = undefined
      if (this.#untold && this.#child === child) this.#tellDurable()
    })
  }

  #durable(): Durable {
    const { durableEnd, checkpoint } = this.#options
    return { position: durableEnd(), checkpoint: checkpoint() }
  }

  /** `sent`: hears when it is on its way, or never can be. */
  #post(message: ToForwarding, sent = () => {}): void {
    // A message that can't be sent has no receiver any more: `ended` takes care of it.
    this.#child?.send(message, () => sent())
  }
}

function unknownYet({ name, destination }: StreamName): ForwardStatus {
  const endpoint = signalUrl(destination.url)
  const counters = { sent: 0, rejected: 0, quarantined: 0, retries: 0, withheld: 0, unreadable: 0 }
  return { name, origin: endpoint.ok ? endpoint.url.origin : '', state: 'starting', next_seq: 0, ...counters }
}

/** Where there is too little processor for all, answers come before copies. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, NICENESS)
  } catch {
    // Gone already, or a system that does not let us: a matter of speed only.
  }
}
