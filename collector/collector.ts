// One running collector: everything opened in order, and closed in the other.
import { rmSync } from 'node:fs'
import { type HomePaths, homePaths } from '../conventions/home.ts'
import { PriceTable } from '../conventions/prices.ts'
import { adapters } from '../hooks/index.ts'
import { addressProblems } from './addresses.ts'
import type { Config } from './config.ts'
import { type Doors, openDoors } from './doors.ts'
import { Forwarding } from './forwarding.ts'
import type { Gate } from './gate-wiring.ts'
import { LiveGate } from './live-gate.ts'
import { takeLock } from './lock.ts'
import { type OpenLog, openLog } from './open-log.ts'
import { Pipeline } from './pipeline.ts'
import { loadWeb } from './receive/listen.ts'
import { answers } from './receive/probe.ts'
import { configHash, Reloader, type ReloadResult, readFiles } from './reload.ts'
import { Retention, readPurge } from './retention.ts'
import { settingsProblemOf } from './settings-wiring.ts'
import { homeSockets } from './sockets.ts'
import { recordLoaded, recordStart } from './startup.ts'
import { approvalsOf, statusOf } from './status.ts'
import { makeFolder, replaceFile } from './store/files.ts'
import { IndexClient } from './store/index/client.ts'
import { Counting, Telemetry } from './telemetry-wiring.ts'
import { openWatcher } from './watch-wiring.ts'
import { tellOf, Webhook } from './webhook.ts'

/** Milliseconds between looks for idle runs and long turns. */
const TICK_MS = 5_000
/** Milliseconds for refusals under way to reach their hooks before a collector that can't write ends. */
const FAREWELL_MS = 100

/** Milliseconds until what the other doors need is loaded, unless a request has come first: the call that started us comes before. */
const LOAD_WEB_MS = 300

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
  /** Reads configuration and policy again; with any error the old ones stay in force. */
  reload(): Promise<ReloadResult>
}

/** Opens a home and its doors. Throws when it can't; the message says what to do. */
export async function startCollector(options: CollectorOptions): Promise<RunningCollector> {
  const home = homePaths(options.root)
  for (const dir of [home.root, home.run, home.forward]) makeFolder(dir)
  const release = takeLock(home.lock)
  try {
    const files = readFiles(home)
    if (!files.ok) throw new Error(`${home.root} can't be used:\n  ${files.errors.join('\n  ')}`)
    const { port } = files.config.otlp
    refuseAddresses(files.config, port === 0 ? null : `http://127.0.0.1:${port}`)
    // A lock says nothing about a process that another container sees under another number; its socket does.
    if (await answers(homeSockets(home).hook)) throw new Error(`another collector already answers in ${home.root}`)
    return await open(home, files, options, release)
  } catch (error) {
    release()
    throw error
  }
}

function refuseAddresses(config: Config, otlp: string | null): void {
  const [problem] = addressProblems(config, otlp)
  if (problem !== undefined) throw new Error(problem)
}

async function open(
  home: HomePaths,
  { config, gate: firstGate }: { config: Config; gate: Gate },
  { version, log }: CollectorOptions,
  release: () => void,
): Promise<RunningCollector> {
  const started = new Date().toISOString()
  const ending = endingOf()
  const followers: { notify(): void }[] = []
  const counting = new Counting(new PriceTable(config.prices))
  // While the log is read, nobody is told of calls that were held before.
  let onHeld: (approval: string) => void = () => {}
  const opened = openLog({
    home,
    now: Date.now,
    onRecord: (record, { runs, used }) => {
      counting.log.apply(
        record,
        (id) => runs.get(id),
        (message) => used.of(message),
      )
      if (record.type === 'approval.requested') onHeld(record.body.approval)
    },
    onSync: counting.onSync,
    onDurable: () => {
      for (const follower of followers) follower.notify()
    },
    onFault: (error) => log(`a checkpoint or its tiles could not be kept: ${String(error)}`),
  })
  counting.log.live = true
  if (opened.cut > 0)
    log(`cut ${opened.cut} bytes behind the last whole record: nobody was told about what was in them`)
  const gate = new LiveGate(firstGate, counting.onDecided)
  const pipeline = openPipeline(home, opened, gate, log, (error) => {
    log(`the log can't be written, giving up: ${error.message}`)
    setTimeout(() => ending.fail(error), FAREWELL_MS)
  })
  const { ids } = opened.context
  await recordStart({
    log: opened,
    pipeline,
    gate,
    configHash: configHash(config, ids),
    contentDays: config.retention?.content_days,
    version,
  })

  const notices = counting.metrics.counter('spanseal.approvals.notices')
  const webhook = new Webhook({ onOutcome: (outcome) => notices.add(1, outcome), log })
  webhook.set(config.approvals?.webhook)
  onHeld = (id) => {
    // A log that can't be written ends the collector; then nobody waits any more.
    opened.writer.durable().then(
      () => tellOf(opened, id, webhook),
      () => {},
    )
  }

  const index = new IndexClient({
    worker: new URL('./index-worker.mjs', import.meta.url),
    path: home.index,
    logDir: home.log,
    vaultDir: home.vault,
    prices: config.prices,
    log,
  })
  // What the log already holds, before anything new is written.
  index.notify(opened.durableEnd())
  const forwarding = new Forwarding({
    worker: new URL('./forward-worker.mjs', import.meta.url),
    root: home.root,
    version,
    logId: opened.logId,
    durableEnd: opened.durableEnd,
    checkpoint: () => opened.checkpoints.newest,
    onMissing: (destination, count) => pipeline.copiesMissing(destination, count),
    log,
  })
  const startForwarding = forwarding.prepare(config)
  followers.push({ notify: () => index.notify(opened.durableEnd()) }, forwarding)

  const retention = new Retention({
    home,
    opened,
    now: Date.now,
    contentCursors: () => forwarding.contentCursors(),
    log,
  })

  const watcher = openWatcher({ home, userHome: config.user_home, opened, pipeline, now: Date.now })
  let doors: Doors | undefined
  let stopping = false
  const telemetry = new Telemetry({
    home,
    opened,
    pipeline,
    forwarding,
    index,
    watcher,
    counting,
    hookSocket: () => doors?.hook,
    stopping: () => stopping,
    version,
    log,
  })
  const startPush = telemetry.preparePush(config.metrics)
  const reloader = new Reloader({
    home,
    ids,
    config,
    gate,
    otlp: () => doors?.otlp ?? null,
    prepare: (next) => {
      const changeForwarding = forwarding.prepare(next.config)
      const changePush = telemetry.preparePush(next.config.metrics)
      return () => {
        // The records come first and everything after them is decided by the new policy: no call stands in between.
        recordLoaded(opened, next.gate, next.configHash, next.config.retention?.content_days)
        gate.swap(next.gate)
        webhook.set(next.config.approvals?.webhook)
        doors?.setApps(next.config.apps)
        changeForwarding()
        changePush()
        index.changed()
        return opened.writer.durable()
      }
    },
    onResult: (result) => {
      counting.onReload(result.outcome)
      log(sayReload(result))
    },
  })
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
    await Promise.all([forwarding.stop(), telemetry.stop()])
    await index.close()
    release()
  }

  doors = await openDoors({
    home,
    config,
    pipeline,
    telemetry: telemetry.door,
    counted: counting.doors,
    version,
    logId: opened.logId,
    log,
    admin: {
      status: () => ({
        version,
        pid: process.pid,
        started,
        otlp: doors?.otlp ?? null,
        // Absent where nobody asked for it.
        ...(config.otlp.grpc !== undefined && { otlp_grpc: doors?.grpc ?? null }),
        fast: doors?.fast ?? null,
        ...statusOf({ opened, pipeline, gate, forwarding, index }),
        watch: { ...watcher.counts },
      }),
      approvals: () => approvalsOf(opened.state),
      answer: (id, answer, given) => pipeline.approvals.answer(id, answer, given),
      approvers: () => pipeline.approvals.approvers.list(),
      changeApprover: (change, given) => pipeline.approvals.approvers.change(change, given),
      query: (sql, params) => index.query(sql, params),
      sql: (sql, maxRows) => index.userSql(sql, { maxRows }),
      checkpoint: () => opened.checkpoints.now(),
      purge: async (wanted) => {
        const read = readPurge(wanted)
        return read.ok ? retention.purge(read.purge) : read
      },
      rotateKey: () => opened.rotation.rotate(),
      revokeKey: ({ kid, from_seq, reason }) => opened.rotation.revoke(kid, from_seq, reason),
      reload: () => reloader.reload(),
      verified: (result) => telemetry.verified(result),
      stop: () => setImmediate(() => stop('command')),
    },
  })
  refuseAddresses(config, doors.otlp)
  const tick = setInterval(() => {
    pipeline.tick().catch((error: unknown) => log(`looking for idle runs failed: ${String(error)}`))
    retention.tick().catch((error: unknown) => log(`content could not be taken away: ${String(error)}`))
  }, TICK_MS)
  const { otlp, grpc, hook, admin } = doors
  const endpoint = { otlp, ...(grpc !== null && { otlp_grpc: grpc }), hook, admin, pid: process.pid, version, started }
  replaceFile(home.endpoint, `${JSON.stringify(endpoint, null, 2)}\n`)
  startForwarding()
  startPush()
  watcher.start()
  for (const follower of followers) follower.notify()
  retention.resume().catch((error: unknown) => log(`an erasure could not be ended: ${String(error)}`))
  setTimeout(() => {
    loadWeb().catch((error: unknown) =>
      ending.fail(new Error(`a part of the collector can't be loaded: ${String(error)}`)),
    )
  }, LOAD_WEB_MS).unref()
  log(`ready: ${opened.writer.durableSize} records, OTLP ${otlp ?? 'off'}${grpc === null ? '' : `, gRPC ${grpc}`}`)
  return { stopped: ending.promise, stop, reload: () => reloader.reload() }
}

/** One line for people. */
function sayReload({ outcome, changed, errors }: ReloadResult): string {
  if (outcome === 'refused') return `reload refused, what was in force stays:\n  ${errors.join('\n  ')}`
  return outcome === 'unchanged' ? 'reload: nothing has changed' : `reload: a new ${changed.join(' and ')} is in force`
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
