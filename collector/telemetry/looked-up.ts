// Metrics that are looked up when somebody asks: sizes, lags, ages, and counts that others keep.
import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { HomePaths } from '../../conventions/home.ts'
import type { ForwardState, ForwardStatus } from '../forward/forwarder.ts'
import type { OpenLog } from '../open-log.ts'
import type { Pipeline } from '../pipeline.ts'
import type { IndexClient } from '../store/index/client.ts'
import type { Watcher } from '../watch/watcher.ts'
import type { Looked } from './metrics.ts'
import type { Ready } from './readiness.ts'
import { type LastVerify, VERIFY_STATUSES } from './verified.ts'

export interface Sources {
  home: HomePaths
  opened: OpenLog
  pipeline: Pipeline
  forwarding: { status(): ForwardStatus[]; restarts: number }
  index: IndexClient
  watcher: Watcher
  lastVerify: LastVerify | undefined
}

const STATES = { starting: 0, idle: 0, sending: 0, retrying: 0, blocked: 0, halted: 0, stopped: 0 } satisfies Record<
  ForwardState,
  0
>

/** `now`: milliseconds since 1970. */
export function* lookedUp(sources: Sources, ready: Ready, now: number): Generator<Looked> {
  const { home, opened, pipeline, forwarding, index, watcher, lastVerify } = sources
  const size = opened.writer.durableSize

  const pending = [...opened.state.approvals.values()].filter(({ state }) => state === 'pending')
  yield ['spanseal.approval.pending', pending.length]
  const oldest = Math.min(now, ...pending.map(({ requested }) => requested))
  yield ['spanseal.approval.oldest', (now - oldest) / 1000]
  const open = { enforce: 0, observe: 0, ungated: 0 }
  for (const run of opened.state.runs.values()) if (run.open) open[run.mode]++
  for (const [mode, count] of Object.entries(open)) yield ['spanseal.run.open', count, mode]

  const { refused, ignored, duplicates } = pipeline.counts
  yield ['spanseal.claims', refused, 'refused']
  yield ['spanseal.claims', ignored, 'ignored']
  yield ['spanseal.claims', duplicates, 'duplicate']

  const covered = Number(opened.checkpoints.newest?.split('\n')[1] ?? 0)
  yield ['spanseal.log.size', size]
  yield ['spanseal.checkpoint.size', covered]
  yield ['spanseal.checkpoint.lag', Math.max(0, size - covered)]
  const signed = statSync(home.checkpoint, { throwIfNoEntry: false })?.mtimeMs
  if (signed !== undefined) yield ['spanseal.checkpoint.age', Math.max(0, now - signed) / 1000]
  if (lastVerify !== undefined) {
    for (const status of VERIFY_STATUSES) yield ['spanseal.verify.status', status === lastVerify.status ? 1 : 0, status]
    yield ['spanseal.verify.timestamp', Date.parse(lastVerify.time) / 1000]
  }

  const seen = forwarding.status()
  for (const { name, state } of seen)
    for (const each of Object.keys(STATES)) yield ['spanseal.forward.state', each === state ? 1 : 0, name, each]
  // One that is starting has not read yet how far it had come: 0 would look like a counter that began anew.
  const read = seen.filter(({ state }) => state !== 'starting')
  yield ['spanseal.outside.size', Math.max(0, ...read.map(({ next_seq }) => next_seq))]
  for (const { name, next_seq, sent, rejected, quarantined, retries, withheld, unreadable } of read) {
    yield ['spanseal.forward.lag', Math.max(0, size - next_seq), name]
    yield ['spanseal.forward.position', next_seq, name]
    yield ['spanseal.forward.spans', sent, name, 'sent']
    yield ['spanseal.forward.spans', rejected, name, 'rejected']
    yield ['spanseal.forward.spans', quarantined, name, 'quarantined']
    yield ['spanseal.forward.spans', withheld, name, 'withheld']
    yield ['spanseal.forward.spans', unreadable, name, 'unreadable']
    yield ['spanseal.forward.retries', retries, name]
  }

  yield ['spanseal.forward.restarts', forwarding.restarts]

  yield ['spanseal.index.lag', index.lag()]
  yield ['spanseal.storage.size', folderBytes(home.log), 'log']
  yield ['spanseal.storage.size', folderBytes(home.vault), 'vault']
  yield ['spanseal.storage.size', fileBytes(home.index) + fileBytes(`${home.index}.wal`), 'index']
  const { bavail, bsize } = statfsSync(home.root)
  yield ['spanseal.disk.free', bavail * bsize]
  yield ['spanseal.ready', ready.ready ? 1 : 0]
  yield ['spanseal.watch.errors', watcher.counts.errors]
  yield ['process.memory.usage', process.memoryUsage.rss()]
  yield ['process.uptime', process.uptime()]
}

function folderBytes(dir: string): number {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name }) => sum + fileBytes(join(dir, name)), 0)
}

/** 0 for a file that is not there (any more). */
function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
