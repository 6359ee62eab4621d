// One destination catching up with the log of a home that nobody writes to, again for each line on stdin. Arguments: home,
// destination. Prints spans, CPU of forwarding them, and CPU of two things that are in it: reading the same log, and sending requests of
// the same spans that were made before.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { BatchReader } from '../../collector/forward/batch.ts'
import type { Destination } from '../../collector/forward/destination.ts'
import { signalUrl } from '../../collector/forward/endpoint.ts'
import { Forwarder } from '../../collector/forward/forwarder.ts'
import { Sender } from '../../collector/forward/sender.ts'
import type { Request } from '../../collector/forward/signal.ts'
import { traces } from '../../collector/forward/traces.ts'
import { LogReader } from '../../collector/store/log-files.ts'
import { listSegments, segmentPath } from '../../collector/store/segments.ts'
import { homePaths } from '../../conventions/home.ts'
import { LOG_START } from '../../conventions/log.ts'

const [root = '', url = ''] = process.argv.slice(2)
const { log } = homePaths(root)
const segment = listSegments(log).at(-1) ?? 0
const end = { segment, offset: statSync(segmentPath(log, segment)).size }
const source = new LogReader(log, () => end)
/** Bytes of log per read, as the forwarder reads. */
const READ_BYTES = 128 * 1024
const destination: Destination = { url, protocol: 'http/json', evidence: 'attribute', content: false, headers: {} }
const signal = traces({ evidence: true })
const endpoint = signalUrl(url)
if (!endpoint.ok) throw new Error(endpoint.message)
const sender = new Sender({ ...destination, url: endpoint.url, compress: false })

for await (const _ of createInterface({ input: process.stdin })) {
  const [spans, cpu] = await measured(forward)
  const [, reading] = await measured(async () => read())
  const requests = await made()
  const [, sending] = await measured(() => send(requests))
  console.log(JSON.stringify({ spans, cpu, reading, sending }))
}

/** Sends everything; gives the number of spans that were taken. */
async function forward(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'spanseal-bench-'))
  const forwarder = new Forwarder({
    name: 'bench',
    destination,
    signal,
    source,
    stateFile: `${folder}/bench.json`,
    checkpoint: () => undefined,
    resourceAttributes: {},
    version: 'bench',
    log: (line) => console.error(line),
  })
  forwarder.start()
  forwarder.notify()
  for (let status = forwarder.status(); status.state !== 'idle'; status = forwarder.status()) {
    // The destination takes everything: whatever keeps it back would keep it back for ever.
    if (status.retries > 0) throw new Error(`not forwarded: ${status.reason}`)
    await sleep(5)
  }
  await forwarder.stop({ drainMs: 0 })
  rmSync(folder, { recursive: true })
  return forwarder.status().sent
}

function read(): void {
  let from = LOG_START
  for (let entries = source.read(from, READ_BYTES); entries.length > 0; entries = source.read(from, READ_BYTES))
    from = entries.at(-1)?.next ?? from
}

/** All requests that the log makes. */
async function made(): Promise<Request[]> {
  const reader = new BatchReader(source, signal)
  const requests: Request[] = []
  for (let batch = await reader.next(undefined); batch.items.length > 0; batch = await reader.next(undefined))
    requests.push(signal.request(batch.items, { resourceAttributes: {}, version: 'bench' }))
  return requests
}

async function send(requests: readonly Request[]): Promise<void> {
  const { signal: never } = new AbortController()
  for (const request of requests) {
    const outcome = await sender.send(request, never, Date.now())
    if (outcome.kind !== 'delivered') throw new Error(`not sent: ${outcome.kind}`)
  }
}

/** What `work` gives, and the seconds of CPU it took. */
async function measured<T>(work: () => Promise<T>): Promise<[T, number]> {
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return [result, (user + system) / 1e6]
}
