// Gate answers of a collector whose destinations are all in trouble, beside one that has none.
import { createServer } from 'node:http'
import { BenchCollector } from './collector.ts'
import { removeFolder, temporaryFolder } from './process.ts'
import { percentile } from './stats.ts'
import type { Finding } from './targets.ts'

/** What destinations do: a status to answer with, or never to answer. The last one does not listen at all. */
const FAULTS = ['401', '404', '429', '503', '400', 'hang'] as const

/** `without`: a collector that runs and has no destination. Blocks of calls alternate between the two. */
export async function answersWithFaults(
  dist: string,
  without: BenchCollector,
  { blocks, calls }: { blocks: number; calls: number },
): Promise<Finding> {
  const server = createServer((incoming, outgoing) => {
    const [, fault = ''] = (incoming.url ?? '').split('/')
    incoming.resume()
    if (fault !== 'hang') incoming.on('end', () => outgoing.writeHead(Number(fault)).end())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const forward = [
    ...FAULTS.map((fault) => ({ name: `answers-${fault}`, url: `http://127.0.0.1:${port}/${fault}` })),
    { name: 'away', url: 'http://127.0.0.1:1' },
  ]
  const home = temporaryFolder()
  const faulted = new BenchCollector(home, `forward: ${JSON.stringify(forward)}\n`)
  const took: [number[], number[]] = [[], []]
  try {
    await faulted.start(dist)
    for (let block = -1; block < blocks; block++) {
      for (const [i, collector] of [without, faulted].entries()) {
        for (let call = 0; call < calls; call++) {
          const ms = await collector.answer()
          // The first block only warms up.
          if (block >= 0) took[i]?.push(ms)
        }
      }
    }
  } finally {
    await faulted.stop()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    removeFolder(home)
  }
  const p = (values: number[]) =>
    `p50 ${percentile(values, 50).toFixed(2)} ms, p99 ${percentile(values, 99).toFixed(1)} ms`
  const shown = `${forward.length} destinations in trouble: ${p(took[1])}; none: ${p(took[0])}`
  return {
    id: 'gate.faulted',
    value: percentile(took[1], 50) / percentile(took[0], 50),
    rounds: `${blocks} x ${calls}`,
    shown,
  }
}
