// What one destination costs for each span it is sent, against receiving and decoding an ingested span.
import { Child, sendSpans } from '../children.ts'
import { fillHome } from '../home.ts'
import type { Bench } from '../main.ts'
import { SPANS_PER_BODY } from '../otlp-body.ts'
import { cpuOf, HAS_PROC, NO_PROC, removeFolder, temporaryFolder } from '../process.ts'
import { median } from '../stats.ts'
import type { Finding } from '../targets.ts'

const SIZES = {
  tiny: { rounds: 1, calls: 50, spans: 1_000 },
  quick: { rounds: 3, calls: 2_000, spans: 20_000 },
  normal: { rounds: 7, calls: 4_000, spans: 40_000 },
  full: { rounds: 15, calls: 20_000, spans: 200_000 },
} as const

/** Seconds of CPU a span. */
interface Costs {
  spans: number
  forward: number
  reading: number
  sending: number
}

export async function run({ size, children }: Bench): Promise<Finding[]> {
  const ids = ['forward.cpu', 'forward.reading', 'forward.sending']
  if (!HAS_PROC) return ids.map((id) => ({ id, notRun: NO_PROC }))
  const { rounds, calls, spans } = SIZES[size]
  const home = temporaryFolder()
  const floor = new Child(`${children}/decode-only.mjs`, [])
  const sink = new Child(`${children}/sink.mjs`, [])
  const started = [floor, sink]
  try {
    await fillHome(home, calls)
    const { url: floorUrl } = (await floor.line()) as { url: string }
    const { url: sinkUrl } = (await sink.line()) as { url: string }
    const forwarder = new Child(`${children}/forward.mjs`, [home, sinkUrl])
    started.push(forwarder)
    const decode: number[] = []
    const warm: Costs[] = []
    let cold: Costs | undefined
    for (let round = -1; round < rounds; round++) {
      const before = cpuOf(floor.pid)
      await sendSpans(children, { url: floorUrl, requests: spans / SPANS_PER_BODY, connections: 4 })
      const cost = (cpuOf(floor.pid) - before) / spans
      const costs = await oneRound(forwarder)
      if (costs.spans < calls) throw new Error(`${costs.spans} spans of ${calls} calls were forwarded`)
      // Code that runs for the first time is slower on both sides.
      cold ??= costs
      if (round < 0) continue
      decode.push(cost)
      warm.push(costs)
    }
    const us = (seconds: number) => `${(seconds * 1e6).toFixed(1)} us`
    const base = median(decode)
    const forward = median(warm.map((costs) => costs.forward))
    const reading = median(warm.map((costs) => costs.reading))
    const sending = median(warm.map((costs) => costs.sending))
    const times = `${rounds} x ${(cold?.spans ?? 0).toLocaleString('en')}`
    return [
      {
        id: 'forward.cpu',
        value: forward / base,
        rounds: times,
        shown: `${us(forward)} a span, in the first round ${us(cold?.forward ?? Number.NaN)}; decode-only ${us(base)}`,
      },
      { id: 'forward.reading', value: reading / base, rounds: times, shown: `${us(reading)} a span` },
      { id: 'forward.sending', value: sending / base, rounds: times, shown: `${us(sending)} a span` },
    ]
  } finally {
    for (const child of started) await child.stop()
    removeFolder(home)
  }
}

async function oneRound(forwarder: Child): Promise<Costs> {
  forwarder.process.stdin?.write('\n')
  const done = (await forwarder.line()) as { spans: number; cpu: number; reading: number; sending: number }
  const { spans, cpu, reading, sending } = done
  return { spans, forward: cpu / spans, reading: reading / spans, sending: sending / spans }
}
