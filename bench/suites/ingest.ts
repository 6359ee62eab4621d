// What an ingested span costs, against receiving and decoding it only; and the memory it takes.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Steps } from '../child/steps.ts'
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
const STEPS = ['look', 'secrets', 'commit', 'decode', 'read', 'rows'] as const
/** Bodies that each step is done for. */
const STEP_BODIES = { tiny: 5, quick: 200, normal: 400, full: 1_000 } as const
const CONNECTIONS = 4

export async function run({ size, dist, children }: Bench): Promise<Finding[]> {
  if (!HAS_PROC) {
    const ids = [
      'durable',
      'index',
      'durable.rate',
      'index.rate',
      'floor.rate',
      'receive',
      ...STEPS,
      'memory',
      'index.memory',
    ]
    return ids.map((id) => ({ id: `ingest.${id}`, notRun: NO_PROC }))
  }
  const { rounds, spans, seconds } = SIZES[size]
  const home = temporaryFolder()
  const floor = new Child(`${children}/decode-only.mjs`, [])
  const receiver = new Child(`${children}/decode-only.mjs`, ['receive'])
  const collector = new BenchCollector(home)
  try {
    const floors = { floor: await addressed(floor), receiver: await addressed(receiver) }
    await collector.start(dist)
    const { costs, floorCost } = await perSpan(children, floors, collector, rounds, spans)
    const steps = await stepsAlone(children, STEP_BODIES[size], floorCost)
    return [...costs, ...steps, ...(await memory(children, collector, seconds))]
  } finally {
    await floor.stop()
    await receiver.stop()
    await collector.stop()
    removeFolder(home)
  }
}

interface Receiver {
  pid: number
  url: string
}

async function addressed(child: Child): Promise<Receiver> {
  const { url } = (await child.line()) as { url: string }
  return { pid: child.pid, url }
}

async function perSpan(
  children: string,
  { floor, receiver }: { floor: Receiver; receiver: Receiver },
  collector: BenchCollector,
  rounds: number,
  spans: number,
): Promise<{ costs: Finding[]; floorCost: number }> {
  const send = (url: string) => sendSpans(children, { url, requests: spans / SPANS_PER_BODY, connections: CONNECTIONS })
  const { otlp } = await collector.status()
  const costOf = async ({ pid, url }: Receiver) => {
    const before = cpuOf(pid)
    await send(url)
    return (cpuOf(pid) - before) / spans
  }
  const receive: number[] = []
  const decode: number[] = []
  const durable: number[] = []
  const indexed: number[] = []
  for (let round = -1; round < rounds; round++) {
    const receiveCpu = await costOf(receiver)
    const floorCpu = await costOf(floor)
    const before = collector.cpu()
    await send(otlp)
    await collector.caughtUp()
    const after = collector.cpu()
    // The first round is the one in which code is compiled.
    if (round < 0) continue
    const own = after.collector - before.collector
    receive.push(receiveCpu)
    decode.push(floorCpu)
    durable.push(own / spans)
    indexed.push((own + after.index - before.index) / spans)
  }
  const [receiveCost, floorCost] = [median(receive), median(decode)]
  const [durableCost, indexedCost] = [median(durable), median(indexed)]
  const times = `${rounds} x ${spans.toLocaleString('en')}`
  const found = (id: string, value: number, shown: string): Finding => ({
    id: `ingest.${id}`,
    value,
    rounds: times,
    shown,
  })
  const costs = [
    found('durable', durableCost / floorCost, `${us(durableCost)} a span; decode-only ${us(floorCost)}`),
    found('index', indexedCost / floorCost, `${us(indexedCost)} a span, taken apart and classified`),
    found('durable.rate', 1 / durableCost, ''),
    found('index.rate', 1 / indexedCost, ''),
    found('floor.rate', 1 / floorCost, 'what this machine does of the baseline, to judge the rates by'),
    found('receive', receiveCost / floorCost, `${us(receiveCost)} a span`),
  ]
  return { costs, floorCost }
}

const us = (cost: number) => `${(cost * 1e6).toFixed(2)} us`

/** Each step alone, as a share of the floor. */
async function stepsAlone(children: string, bodies: number, floorCost: number): Promise<Finding[]> {
  const child = new Child(`${children}/steps.mjs`, [String(bodies)])
  const steps = (await child.line()) as Steps
  const rounds = `${bodies} bodies`
  return STEPS.map((step) => ({
    id: `ingest.${step}`,
    value: steps[step] / floorCost,
    rounds,
    shown: `${us(steps[step])} a span`,
  }))
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
