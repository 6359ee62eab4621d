// One running collector: everything opened in order, and closed in the other.
import { mkdirSync, rmSync } from 'node:fs'
import { type HomePaths, homePaths } from '../conventions/home.ts'
import { adapters } from '../hooks/index.ts'
import { type Config, readConfig } from './config.ts'
import { type Doors, openDoors } from './doors.ts'
import { checkDestinations, openForwarders, refuseLoops } from './forwarders.ts'
import { type Gate, openGate } from './gate-wiring.ts'
import { takeLock } from './lock.ts'
import { type OpenLog, openLog } from './open-log.ts'
import { Pipeline } from './pipeline.ts'
import { answers } from './receive/listen.ts'
import { settingsProblemOf } from './settings-wiring.ts'
import { homeSockets } from './sockets.ts'
import { recordStart } from './startup.ts'
import { approvalsOf, statusOf } from './status.ts'
import { replaceFile } from './store/files.ts'
import { IndexClient } from './store/index/client.ts'
import { openWatcher } from './watch-wiring.ts'

/** Milliseconds between looks for idle runs and long turns. */
const TICK_MS = 5_000
/** Milliseconds the forwarders get to send what is left when the collector stops; the rest goes out after the next start. */
const DRAIN_MS = 2_000
/** Milliseconds for refusals under way to reach their hooks before a collector that can't write ends. */
const FAREWELL_MS = 100

export interface CollectorOptions {
  /** Absolute home folder. */
  root: string
  version: string
  /** Takes one line for people; never content. */
  log: (line: string) => void
}

export interface RunningCollector {
  /** Resolves when everything is closed; rejects when the collector had to give up. */
  stopped: Promise<void>
  stop(reason: 'command' | 'signal'): void
}

/** Opens a home and its doors. Throws when it can't; the message says what to do. */
export async function startCollector(options: CollectorOptions): Promise<RunningCollector> {
  const home = homePaths(options.root)
  for (const dir of [home.root, home.run, home.forward]) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const release = takeLock(home.lock)
  try {
    const config = configOf(home)
    checkDestinations(config)
    // A lock says nothing about a process that another container sees under another number; its socket does.
    if (await answers(homeSockets(home).hook)) throw new Error(`another collector already answers in ${home.root}`)
    return await open(home, config, options, release)
  } catch (error) {
    release()
    throw error
  }
}

function configOf(home: HomePaths): Config {
  const read = readConfig(home.config)
  if (!read.ok) throw new Error(`${home.config} can't be used:\n  ${read.errors.join('\n  ')}`)
  return read.config
}

async function open(
  home: HomePaths,
  config: Config,
  { version, log }: CollectorOptions,
  release: () => void,
): Promise<RunningCollector> {
  const started = new Date().toISOString()
  const ending = endingOf()
  const followers: { notify(): void }[] = []
  const opened = openLog({
    home,
    now: Date.now,
    onDurable: () => {
      for (const follower of followers) follower.notify()
    },
    onFault: (error) => log(`a checkpoint could not be kept: ${String(error)}`),
  })
  const gate = openGate(home, config.user_home)
  const pipeline = openPipeline(home, opened, gate, log, (error) => {
    log(`the log can't be written, giving up: ${error.message}`)
    setTimeout(() => ending.fail(error), FAREWELL_MS)
  })
  await recordStart({ log: opened, pipeline, gate, version })

  const index = new IndexClient({
    worker: new URL('./index-worker.mjs', import.meta.url),
    path: home.index,
    logDir: home.log,
    vaultDir: home.vault,
    log,
  })
  // What the log already holds, before anything new is written.
  index.notify(opened.durableEnd())
  const forwarders = openForwarders({
    config,
    home,
    source: opened.reader,
    checkpoint: () => opened.checkpoints.newest,
    version,
    log,
  })
  followers.push({ notify: () => index.notify(opened.durableEnd()) }, ...forwarders)

  const watcher = openWatcher({ home, userHome: config.user_home, opened, pipeline, now: Date.now })
  let doors: Doors | undefined
  let stopping = false
  const stop = (reason: 'command' | 'signal') => {
    if (stopping) return
    stopping = true
    close(reason).then(ending.done, ending.fail)
  }
  const close = async (reason: 'command' | 'signal') => {
    clearInterval(tick)
    watcher.stop()
    rmSync(home.endpoint, { force: true })
    const closed = doors?.close()
    // Held calls are answered before their doors can close.
    await pipeline.suspend('collector_stop')
    await closed
    opened.writer.append({ type: 'collector.stopped', source: { kind: 'collector' }, body: { reason } })
    await opened.close()
    await Promise.all(forwarders.map((forwarder) => forwarder.stop({ drainMs: DRAIN_MS })))
    await index.close()
    release()
  }

  doors = await openDoors({
    home,
    config,
    pipeline,
    version,
    log,
    admin: {
      status: () => ({
        version,
        pid: process.pid,
        started,
        otlp: doors?.otlp ?? null,
        fast: doors?.fast ?? null,
        ...statusOf({ opened, pipeline, gate, forwarders, index }),
        watch: { ...watcher.counts },
      }),
      approvals: () => approvalsOf(opened.state),
      answer: (id, answer) => pipeline.approvals.answer(id, answer),
      query: (sql, params) => index.query(sql, params),
      sql: (sql, maxRows) => index.userSql(sql, { maxRows }),
      checkpoint: () => opened.checkpoints.now(),
      stop: () => setImmediate(() => stop('command')),
    },
  })
  refuseLoops(config, doors.otlp)
  const tick = setInterval(() => {
    pipeline.tick().catch((error: unknown) => log(`looking for idle runs failed: ${String(error)}`))
  }, TICK_MS)
  const { otlp, hook, admin } = doors
  replaceFile(home.endpoint, `${JSON.stringify({ otlp, hook, admin, pid: process.pid, version, started }, null, 2)}\n`)
  for (const forwarder of forwarders) forwarder.start()
  watcher.start()
  for (const follower of followers) follower.notify()
  log(`ready: ${opened.writer.durableSize} records, OTLP ${otlp ?? 'off'}`)
  return { stopped: ending.promise, stop }
}

function openPipeline(
  home: HomePaths,
  opened: OpenLog,
  gate: Gate,
  log: CollectorOptions['log'],
  onFailure: (error: Error) => void,
): Pipeline {
  let failed = false
  return new Pipeline({
    log: opened,
    gate,
    adapters,
    now: Date.now,
    settingsProblem: settingsProblemOf(home),
    // The kind and place of an error, never its message: that may quote what was being recorded.
    onFault: (error) => log(`refused, because of an internal error: ${placeOf(error)}`),
    onFailure: (error) => {
      if (!failed) onFailure(error)
      failed = true
    },
  })
}

/** A promise that others settle. */
function endingOf(): { promise: Promise<void>; done: () => void; fail: (error: unknown) => void } {
  let done: () => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const promise = new Promise<void>((resolve, reject) => {
    done = resolve
    fail = reject
  })
  return { promise, done, fail }
}

function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return `${error.name} ${
    error.stack
      ?.split('\n')
      .find((line) => line.trim().startsWith('at '))
      ?.trim() ?? ''
  }`
}
