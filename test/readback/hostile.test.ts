// A backend that answers with more than can be held, or never runs out of answers: read up to a bound, and what was not read is said.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { inHalves, MAX_ANSWER_BYTES } from '../../collector/readback/ask.ts'
import { findInJaeger } from '../../collector/readback/jaeger.ts'
import { findInTempo } from '../../collector/readback/tempo.ts'

const LOG = 'a'.repeat(32)
const FROM = Date.parse('2026-11-30T00:00:00Z')
const MIB = Buffer.alloc(1024 * 1024, ' ')
/** Milliseconds that a test may take: it moves hundreds of megabytes. */
const SLOW_MS = 60_000

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

/** A stand-in for a query API. */
async function backend(answer: (path: string, res: ServerResponse) => void) {
  const server = createServer((req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' })
    answer(new URL(req.url ?? '', 'http://x').pathname, res)
  })
  await new Promise<void>((next) => server.listen(0, '127.0.0.1', next))
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {} }
}

/** Writes until nobody reads any more, and counts. */
function endless(res: ServerResponse, sent: { bytes: number }): void {
  const go = () => {
    while (!res.destroyed) {
      sent.bytes += MIB.length
      if (!res.write(MIB)) return
    }
  }
  res.on('drain', go)
  go()
}

const trace = (id: string) => {
  const attributes = [{ key: 'spanseal.log.id', value: { stringValue: LOG } }]
  return {
    resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: id, spanId: 'b'.repeat(16), name: 'chat x', attributes }] }] }],
  }
}

it('Jaeger without end: each answer read to the bound, said as not checked', { timeout: SLOW_MS }, async () => {
  const sent = { bytes: 0 }
  let answers = 0
  const place = await backend((path, res) => {
    if (path.endsWith('/services')) return res.end('{"services":["agent"]}')
    if (path.endsWith('/operations')) return res.end('{"operations":[{"name":"chat x"}]}')
    answers++
    endless(res, sent)
  })
  const { copies, notChecked } = await findInJaeger(place, LOG, { from: FROM, to: FROM + 2_000 })
  expect(copies).toEqual([])
  expect(notChecked).toEqual([
    'traces of agent beyond 200 or 64 MiB of an answer in 2026-11-30T00:00:00.000Z to 2026-11-30T00:00:01.000Z and 1 more windows',
  ])
  expect(answers).toBe(3)
  // What lies in sockets besides is a few megabytes.
  expect(sent.bytes).toBeLessThan(answers * (MAX_ANSWER_BYTES + 16 * MIB.length))
})

it('Tempo with one trace without end: the others count, that one is named', { timeout: SLOW_MS }, async () => {
  const [good, bad] = ['1'.repeat(32), '2'.repeat(32)]
  const place = await backend((path, res) => {
    if (path === '/api/search') return res.end(JSON.stringify({ traces: [{ traceID: bad }, { traceID: good }] }))
    if (path.endsWith(bad)) return endless(res, { bytes: 0 })
    res.end(JSON.stringify(trace(good)))
  })
  const { copies, notChecked } = await findInTempo(place, LOG, { from: FROM, to: FROM + 1_000 })
  expect(copies.map(({ traceId }) => traceId)).toEqual([good])
  expect(notChecked).toEqual([`trace ${bad}: ${place.url} answers with more than 64 MiB`])
})

it('an answer that ends in the middle is an error that says so', async () => {
  const place = await backend((_path, res) => {
    res.write('{"services":')
    setTimeout(() => res.destroy(), 20)
  })
  await expect(findInJaeger(place, LOG, { from: FROM, to: FROM + 1_000 })).rejects.toThrow(
    /stops in the middle of an answer/,
  )
})

it('answers that are always full end, and every window that was left is told', async () => {
  const day = { from: FROM, to: FROM + 86_400_000 }
  for (const items of [[], Array(200).fill(0)]) {
    let asked = 0
    let told = 0
    const found = await inHalves(
      day,
      { shortest: 1_000, most: 1_000 },
      async () => {
        asked++
        return { items, isFull: true }
      },
      ({ from, to }) => {
        told += to - from
      },
    )
    expect(asked).toBeLessThanOrEqual(2_000)
    expect(found.length).toBeLessThanOrEqual(1_000)
    expect(told).toBe(day.to - day.from)
  }
})
