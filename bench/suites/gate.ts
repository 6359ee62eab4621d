// How long a tool call waits for its answer: the decision alone, and durable over the socket, idle, under ingest, and while the index
// moves its write-ahead log into its file.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { PerformanceObserver, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { decide, type GateCall, loadPolicy } from '../../collector/gate/index.ts'
import { Counting } from '../../collector/telemetry-wiring.ts'
import { PriceTable } from '../../conventions/prices.ts'
import type { AnyRecord } from '../../conventions/record.ts'
import type { Json } from '../../conventions/strict-json.ts'
import { Child, sendSpans } from '../children.ts'
import { BenchCollector } from '../collector.ts'
import { answersWithFaults } from '../faulted.ts'
import type { Bench } from '../main.ts'
import { SPANS_PER_BODY } from '../otlp-body.ts'
import { cpuOf, HAS_PROC, NO_PROC, removeFolder, temporaryFolder } from '../process.ts'
import { median, percentile } from '../stats.ts'
import type { Finding } from '../targets.ts'

/** `calls` in each block of answers; `spans` give the index something to move. */
const SIZES = {
  tiny: { counts: 1_000, passes: 1, blocks: 1, calls: 20, checkpoints: 0, spans: 0 },
  quick: { counts: 1_000_000, passes: 11, blocks: 3, calls: 200, checkpoints: 0, spans: 0 },
  normal: { counts: 3_000_000, passes: 31, blocks: 6, calls: 300, checkpoints: 2, spans: 60_000 },
  full: { counts: 10_000_000, passes: 101, blocks: 20, calls: 500, checkpoints: 5, spans: 200_000 },
} as const

/** Spans in a second: far above what one developer's agents send. */
const RATE = 10_000
const PROCESSORS = availableParallelism()
const CORPUS = 'test/fixtures/policy/corpus.jsonl'
/** Milliseconds: the index tidies up after ten seconds without anything new. */
const TIDY_WAIT_MS = 30_000
/** Seconds of CPU by which an idle index process shows that it has begun to work. */
const BUSY_CPU = 0.03

export async function run(bench: Bench): Promise<Finding[]> {
  const size = SIZES[bench.size]
  const home = temporaryFolder()
  const collector = new BenchCollector(home)
  try {
    await collector.start(bench.dist)
    return [
      ...decisions(bench.root, size.passes, size.counts),
      ...(await answers(collector, bench.children, size)),
      await answersWithFaults(bench.dist, collector, size),
      await duringCheckpoint(collector, bench.children, size),
    ]
  } finally {
    await collector.stop()
    removeFolder(home)
  }
}

function decisions(root: string, passes: number, counts: number): Finding[] {
  const ids = ['gate.decide.p50', 'gate.decide.p99', 'gate.count']
  const path = join(root, CORPUS)
  if (!existsSync(path)) return ids.map((id) => ({ id, notRun: `${CORPUS} is not there` }))
  const loaded = loadPolicy({})
  if (!loaded.ok) throw new Error('the built-in policy can not be used')
  const calls = readFileSync(path, 'utf8').trim().split('\n').map(callOf)
  const costs: number[][] = calls.map(() => [])
  const first: number[] = []
  for (let pass = -1; pass < passes; pass++) {
    for (const [i, call] of calls.entries()) {
      const began = performance.now()
      decide(loaded.policy, call)
      const took = (performance.now() - began) * 1000
      if (pass < 0) first.push(took)
      else costs[i]?.push(took)
    }
  }
  const rounds = `${passes} x ${calls.length}`
  // A call's median: what it costs. Among single times, the longest are those of calls that the machine interrupted.
  const each = costs.map(median)
  const of = (values: number[]) =>
    `p50 ${percentile(values, 50).toFixed(1)}, p99 ${percentile(values, 99).toFixed(0)}, worst ${percentile(values, 100).toFixed(0)} us`
  const shown = `medians of each call: ${of(each)}; single times: ${of(costs.flat())}; the first time ever: ${of(first)}`
  return [
    { id: 'gate.decide.p50', value: percentile(each, 50), rounds, shown },
    { id: 'gate.decide.p99', value: percentile(each, 99), rounds, shown },
    counting(counts, percentile(each, 50)),
  ]
}

/** All that is counted for a call that is decided, answered and done: the same instruments, the same labels. */
function counting(calls: number, decideUs: number): Finding {
  const count = new Counting(new PriceTable())
  const run = { agent: 'claude-code' }
  const of = (type: 'tool.decided' | 'tool.completed', body: object) =>
    ({ type, tier: 'T1', log: { seq: 1 }, run: { id: 'r' }, body }) as unknown as AnyRecord
  const decided = of('tool.decided', { tool: 'Bash', decision: 'deny', rules: ['CO-GIT-FORCE'], enforced: true })
  const completed = of('tool.completed', { tool: 'Bash', status: 'ok' })
  const runOf = () => run
  const each = () => {
    count.onDecided(0.03)
    count.log.apply(decided, runOf)
    count.log.apply(completed, runOf)
    for (const file of ['log', 'vault'] as const) count.onSync(file, 1)
    for (const event of ['PreToolUse', 'PostToolUse']) count.doors.hook(2, 'claude-code', event)
  }
  for (let i = 0; i < calls / 10; i++) each()
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length
  })
  observer.observe({ entryTypes: ['gc'] })
  const began = performance.now()
  for (let i = 0; i < calls; i++) each()
  const us = ((performance.now() - began) * 1000) / calls
  collections += observer.takeRecords().length
  observer.disconnect()
  const shown = `${us.toFixed(2)} us a call; ${collections} garbage collections in ${calls.toLocaleString('en')} calls`
  return { id: 'gate.count', value: us / decideUs, rounds: calls.toLocaleString('en'), shown }
}

function callOf(line: string): GateCall {
  const { tool, input, cwd }: { tool: string; input: Json; cwd: string } = JSON.parse(line)
  return {
    agent: 'claude-code',
    tool,
    args: input,
    cwd,
    home: '/home/dev',
    project: cwd,
    spansealHome: '/home/dev/.spanseal',
  }
}

async function answers(
  collector: BenchCollector,
  children: string,
  { blocks, calls }: { blocks: number; calls: number },
): Promise<Finding[]> {
  const idle: number[] = []
  const loaded: number[] = []
  const busy: number[] = []
  let rate = 0
  await ask(collector, calls)
  for (let block = 0; block < blocks; block++) {
    idle.push(...(await ask(collector, calls)))
    const { otlp } = await collector.status()
    let sending = true
    // Longer than the calls take; what is left is waited for.
    const requests = (RATE / SPANS_PER_BODY) * Math.max(1, Math.ceil(calls / 100))
    const sent = sendSpans(children, { url: otlp, requests, connections: 8, rate: RATE }).finally(() => {
      sending = false
    })
    // The sender must have started.
    const before = (await collector.status()).records
    while (sending && (await collector.status()).records < before + 5) await sleep(20)
    const during: number[] = []
    while (sending && during.length < calls) during.push(await collector.answer())
    loaded.push(...during)
    const { spans, seconds } = await sent
    rate += spans / seconds / blocks
    await collector.caughtUp()
    busy.push(...(await whileBusy(() => ask(collector, calls))))
  }
  const p = (values: number[]) =>
    `p50 ${percentile(values, 50).toFixed(2)} ms, p99 ${percentile(values, 99).toFixed(1)} ms, worst ${percentile(values, 100).toFixed(1)} ms`
  const rounds = `${blocks} x ${calls}`
  const p99 = percentile(loaded, 99)
  return [
    { id: 'gate.answer.p50', value: percentile(idle, 50), rounds, shown: `idle ${p(idle)}` },
    { id: 'gate.load', value: p99 / percentile(idle, 99), rounds, shown: `idle ${p(idle)}; with ingest ${p(loaded)}` },
    {
      id: 'gate.load.p99',
      value: p99,
      rounds: `${loaded.length}`,
      shown: `${Math.round(rate).toLocaleString('en')} spans/s were taken`,
    },
    {
      id: 'gate.busy',
      value: percentile(busy, 99) / percentile(idle, 99),
      rounds,
      shown: `${PROCESSORS} processes that compute: ${p(busy)}`,
    },
  ]
}

/** Runs `work` while as many processes as there are processors do nothing but compute. */
async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  const burners = Array.from({ length: PROCESSORS }, () => new Child('-e', ['console.log("{}"); for (;;);']))
  try {
    for (const burner of burners) await burner.line()
    return await work()
  } finally {
    await Promise.all(burners.map((burner) => burner.stop()))
  }
}

async function ask(collector: BenchCollector, calls: number): Promise<number[]> {
  const took: number[] = []
  for (let i = 0; i < calls; i++) took.push(await collector.answer())
  return took
}

/** The index tidies up when it has been idle for a while; the calls begin when its process starts to work. */
async function duringCheckpoint(
  collector: BenchCollector,
  children: string,
  { checkpoints, spans }: { checkpoints: number; spans: number },
): Promise<Finding> {
  const id = 'gate.checkpoint'
  if (checkpoints === 0) return { id, notRun: 'takes too long for a run of this size' }
  if (!HAS_PROC) return { id, notRun: NO_PROC }
  const wal = `${collector.home}/spanseal.duckdb.wal`
  const walBytes = () => (existsSync(wal) ? statSync(wal).size : 0)
  const during: number[] = []
  const without: number[] = []
  for (let round = 0; round < checkpoints; round++) {
    const { otlp } = await collector.status()
    await sendSpans(children, { url: otlp, requests: spans / SPANS_PER_BODY, connections: 4 })
    await collector.caughtUp()
    const before = walBytes()
    if (!(await begins(collector.indexPid))) return { id, notRun: 'the index did not checkpoint when it was idle' }
    const calls: number[] = []
    while (walBytes() >= before) {
      calls.push(await collector.answer())
      if (calls.length > 20_000) throw new Error('the index does not checkpoint')
    }
    during.push(...calls)
    await collector.caughtUp()
    without.push(...(await ask(collector, calls.length)))
  }
  const [worst, base] = [percentile(during, 100), percentile(without, 100)]
  const shown = `worst of ${during.length} answers ${worst.toFixed(1)} ms (p50 ${percentile(during, 50).toFixed(1)} ms); of as many without ${base.toFixed(1)} ms (p50 ${percentile(without, 50).toFixed(1)} ms)`
  return { id, value: worst / base, rounds: `${checkpoints} checkpoints`, shown }
}

/** True as soon as an idle process begins to use CPU; false when it does not in time. */
async function begins(pid: number): Promise<boolean> {
  const deadline = Date.now() + TIDY_WAIT_MS
  const idle = cpuOf(pid)
  while (Date.now() < deadline) {
    await sleep(10)
    if (cpuOf(pid) - idle >= BUSY_CPU) return true
  }
  return false
}
