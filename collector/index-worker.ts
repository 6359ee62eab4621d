// Entry of the index process: DuckDB runs here, away from the process that answers the gate.
// Arguments: index file, log folder, vault folder, prices of the person's own as JSON. Started by the collector, ends with it.
import { dirname } from 'node:path'
import type { PriceEntry } from '../conventions/price-entry.ts'
import { PriceTable } from '../conventions/prices.ts'
import { importReaderOf } from './import-reader.ts'
import type { ToWorker } from './store/index/messages.ts'
import { type Channel, IndexServer } from './store/index/server.ts'

let ending: 0 | 1 | undefined
const channel: Channel = {
  post: (message) => void process.send?.(message),
  onMessage: (receive) => void process.on('message', (message) => receive(message as ToWorker)),
  // Disconnecting sends what was posted first.
  end: (code) => {
    ending = code
    process.disconnect()
  },
}

const [path, logDir, vaultDir, own = '[]'] = process.argv.slice(2)
if (path === undefined || logDir === undefined || vaultDir === undefined || process.send === undefined) {
  throw new Error('the index process is started by the collector only')
}
// The collector decides when to stop; a signal to the whole process group must not take the index away first.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined)
process.on('disconnect', leave)
// Gone while this one was starting: nobody tells of it again.
if (!process.connected) leave()

function leave(): void {
  // Not told to end: the collector is gone. At once, whatever DuckDB is doing: the index survives it, the next collector needs the file.
  if (ending === undefined) process.kill(process.pid, 'SIGKILL')
  else process.exit(ending)
}
const home = dirname(path)
let reader = importReaderOf(home)
new IndexServer(channel, {
  path,
  logDir,
  vaultDir,
  prices: new PriceTable(JSON.parse(own) as PriceEntry[]),
  readImport: (...given) => reader(...given),
  onChanged: () => {
    reader = importReaderOf(home)
  },
})
