// What an ingested span costs, against receiving and decoding it only; and the memory it takes.
import { setTimeout as sleep } from 'node:timers/promises'
import { Child, sendSpans } from '../children.ts'
import { BenchCollector } from '../collector.ts'
import type { Bench } from '../main.ts'
import { SPANS_PER_BODY } from '../otlp-body.ts'
import { cpuOf, HAS_PROC, NO_PROC, removeFolder, temporaryFolder } from '../process.ts'
import { median } from '../stats.ts'
import type { Finding } from '../targets.ts'

const SIZES = {
  tiny: { rounds: 1, spans: 1_000, seconds: 1 },
  quick: { rounds: 3, spans: 10_000, seconds: 3 },
  normal: { rounds: 5, spans: 40_000, seconds: 10 },
  full: { rounds: 15, spans: 200_000, seconds: 60 },
} as const

const RATE = 10_000
const CONNECTIONS = 4

export async function run({ size, dist, children }: Bench): Promise<Finding[]> {
  if (!HAS_PROC) {
    const ids = ['durable', 'index', 'durable.rate', 'index.rate', 'memory', 'index.memory']
    return ids.map((id) => ({ id: `ingest.${id}`, notRun: NO_PROC }))
  }
  const { rounds, spans, seconds } = SIZES[size]
  const home = temporaryFolder()
  const floor = new Child(`${children}/decode-only.mjs`, [])
  const collector = new BenchCollector(home)
  try {
    const { url } = (await floor.line()) as { url: string }
    await collector.start(dist)
    const costs = await perSpan(children, floor, url, collector, rounds, spans)
    return [...costs, ...(await memory(children, collector, seconds))]
  } finally {
    await floor.stop()
    await collector.stop()
    removeFolder(home)
  }
}

async function perSpan(
  children: string,
  floor: Child,
  floorUrl: string,
  collector: BenchCollector,
  rounds: number,
  spans: number,
): Promise<Finding[]> {
  const send = (url: string) => sendSpans(children, { url, requests: spans / SPANS_PER_BODY, connections: CONNECTIONS })
  const { otlp } = await collector.status()
  const decode: number[] = []
  const durable: number[] = []
  const indexed: number[] = []
  for (let round = -1; round < rounds; round++) {
    const floorBefore = cpuOf(floor.pid)
    await send(floorUrl)
    const floorCpu = cpuOf(floor.pid) - floorBefore
    const before = collector.cpu()
    await send(otlp)
    await collector.caughtUp()
    const after = collector.cpu()
    // The first round is the one in which code is compiled.
    if (round < 0) continue
    const own = after.collector - before.collector
    decode.push(floorCpu / spans)
    durable.push(own / spans)
    indexed.push((own + after.index - before.index) / spans)
  }
  const [floorCost, durableCost, indexedCost] = [median(decode), median(durable), median(indexed)]
  const us = (cost: number) => `${(cost * 1e6).toFixed(2)} us`
  const times = `${rounds} x ${spans.toLocaleString('en')}`
  const base = `decode-only ${us(floorCost)} a span (${Math.round(1 / floorCost).toLocaleString('en')} spans per CPU-second)`
  return [
    {
      id: 'ingest.durable',
      value: durableCost / floorCost,
      rounds: times,
      shown: `${us(durableCost)} a span; ${base}`,
    },
    {
      id: 'ingest.index',
      value: indexedCost / floorCost,
      rounds: times,
      shown: `${us(indexedCost)} a span, taken apart and classified`,
    },
    { id: 'ingest.durable.rate', value: 1 / durableCost, rounds: times, shown: '' },
    { id: 'ingest.index.rate', value: 1 / indexedCost, rounds: times, shown: '' },
  ]
}

/** The most that was resident at any look while spans came in at the rate. */
async function memory(children: string, collector: BenchCollector, seconds: number): Promise<Finding[]> {
  const { otlp } = await collector.status()
  let sending = true
  const requests = (RATE / SPANS_PER_BODY) * seconds
  const sent = sendSpans(children, { url: otlp, requests, connections: CONNECTIONS, rate: RATE }).finally(() => {
    sending = false
  })
  let own = 0
  let both = 0
  while (sending) {
    const now = collector.memory()
    own = Math.max(own, now.collector)
    both = Math.max(both, now.collector + now.index)
    await sleep(100)
  }
  const { spans, seconds: took, p50, p99 } = await sent
  await collector.caughtUp()
  const rounds = `${seconds} s`
  const rate = `${Math.round(spans / took).toLocaleString('en')} spans/s were taken, answers p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  return [
    { id: 'ingest.memory', value: own, rounds, shown: `the most at any look; ${rate}` },
    {
      id: 'ingest.index.memory',
      value: both,
      rounds,
      shown: `of it the index process ${Math.round(both - own)} MB or more`,
    },
  ]
}
