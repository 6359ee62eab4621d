// What one destination costs for each tool span it is sent, against receiving and decoding an ingested span.
import { Child, sendSpans } from '../children.ts'
import { fillHome } from '../home.ts'
import type { Bench } from '../main.ts'
import { SPANS_PER_BODY } from '../otlp-body.ts'
import { cpuOf, HAS_PROC, NO_PROC, removeFolder, temporaryFolder } from '../process.ts'
import { median } from '../stats.ts'
import type { Finding } from '../targets.ts'

const SIZES = {
  tiny: { rounds: 1, calls: 50, spans: 1_000 },
  quick: { rounds: 3, calls: 800, spans: 10_000 },
  normal: { rounds: 7, calls: 4_000, spans: 40_000 },
  full: { rounds: 15, calls: 20_000, spans: 200_000 },
} as const

export async function run({ size, children }: Bench): Promise<Finding[]> {
  const id = 'forward.cpu'
  if (!HAS_PROC) return [{ id, notRun: NO_PROC }]
  const { rounds, calls, spans } = SIZES[size]
  const home = temporaryFolder()
  const floor = new Child(`${children}/decode-only.mjs`, [])
  const sink = new Child(`${children}/sink.mjs`, [])
  try {
    await fillHome(home, calls)
    const urls = [(await floor.line()) as { url: string }, (await sink.line()) as { url: string }]
    const [floorUrl = '', sinkUrl = ''] = urls.map(({ url }) => url)
    const decode: number[] = []
    const forward: number[] = []
    let forwarded = 0
    for (let round = -1; round < rounds; round++) {
      const before = cpuOf(floor.pid)
      await sendSpans(children, { url: floorUrl, requests: spans / SPANS_PER_BODY, connections: 4 })
      const cost = (cpuOf(floor.pid) - before) / spans
      const child = new Child(`${children}/forward.mjs`, [home, sinkUrl])
      const done = (await child.line()) as { spans: number; cpu: number }
      await child.stop()
      if (done.spans < calls) throw new Error(`${done.spans} spans of ${calls} calls were forwarded`)
      if (round < 0) continue
      decode.push(cost)
      forward.push(done.cpu / done.spans)
      forwarded = done.spans
    }
    const us = (cost: number[]) => `${(median(cost) * 1e6).toFixed(2)} us`
    const shown = `${us(forward)} a forwarded span, a process that starts cold; decode-only ${us(decode)}; spans of third parties are not forwarded by this version`
    return [
      { id, value: median(forward) / median(decode), rounds: `${rounds} x ${forwarded.toLocaleString('en')}`, shown },
    ]
  } finally {
    await floor.stop()
    await sink.stop()
    removeFolder(home)
  }
}
