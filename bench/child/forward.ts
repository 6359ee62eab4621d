// One destination catching up with the log of a home that nobody writes to. Arguments: home, destination. Prints spans and CPU.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Forwarder } from '../../collector/forward/forwarder.ts'
import { LogReader } from '../../collector/store/log-files.ts'
import { listSegments, segmentPath } from '../../collector/store/segments.ts'
import { homePaths } from '../../conventions/home.ts'

const [root = '', url = ''] = process.argv.slice(2)
const { log } = homePaths(root)
const segment = listSegments(log).at(-1) ?? 0
const end = { segment, offset: statSync(segmentPath(log, segment)).size }
const folder = mkdtempSync(join(tmpdir(), 'spanseal-bench-'))
const before = process.cpuUsage()
const forwarder = new Forwarder({
  name: 'bench',
  url,
  headers: {},
  source: new LogReader(log, () => end),
  stateFile: `${folder}/bench.json`,
  checkpoint: () => undefined,
  resourceAttributes: {},
  version: 'bench',
  log: (line) => console.error(line),
})
forwarder.start()
forwarder.notify()
while (forwarder.status().state !== 'idle') await sleep(5)
const { user, system } = process.cpuUsage(before)
await forwarder.stop({ drainMs: 0 })
rmSync(folder, { recursive: true })
console.log(JSON.stringify({ spans: forwarder.status().sent, cpu: (user + system) / 1e6 }))
