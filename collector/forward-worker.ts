// Entry of the forwarding process: all streams to all destinations, and the audits of what they took. Arguments: home folder, version,
// log id. Started by the collector, ends with it.
import { homePaths } from '../conventions/home.ts'
import { LOG_START } from '../conventions/log.ts'
import { LOOK_MS } from './audit/self-audit.ts'
import { Audits } from './audit-wiring.ts'
import type { Durable, FromForwarding, ToForwarding } from './forward-messages.ts'
import { Forwarders } from './forwarders.ts'
import { LogReader } from './store/log-files.ts'

/** Milliseconds between looks at whether there is something to tell, while something goes on. */
const STATUS_MS = 100
/** The same while nothing does: what a stream begins by itself, after a pause, must not stay untold. */
const REST_MS = 1_000
/** States in which nothing changes until there is news. */
const AT_REST: ReadonlySet<string> = new Set(['idle', 'halted', 'stopped'])

const [root, version, logId] = process.argv.slice(2)
if (root === undefined || version === undefined || logId === undefined || process.send === undefined) {
  throw new Error('the forwarding process is started by the collector only')
}
const home = homePaths(root)
const post = (message: FromForwarding) => void process.send?.(message)
const log = (line: string) => post({ kind: 'log', line })

let end = LOG_START
let checkpoint: string | undefined
const source = new LogReader(home.log, () => end)
const forwarders = new Forwarders({ home, source, checkpoint: () => checkpoint, version, log })

let nextId = 0
const recording = new Map<number, { resolve: () => void; reject: (error: Error) => void }>()
const audits = new Audits({
  home,
  source,
  logId,
  delivered: (name) => forwarders.list.find((each) => each.status().name === name)?.status().next_seq ?? 0,
  onMissing: (destination, count) =>
    new Promise((resolve, reject) => {
      const id = nextId++
      recording.set(id, { resolve, reject })
      post({ kind: 'missing', id, destination, count })
    }),
  log,
})
setInterval(() => void audits.look().then(tell), LOOK_MS)

let configVersion = 0
let told = ''
let timer: NodeJS.Timeout | undefined

/** Says how all is, where that has changed, and looks again: soon while something goes on. */
function tell(): void {
  const streams = forwarders.list.map((each) => each.status())
  const status: FromForwarding = { kind: 'status', version: configVersion, streams, audits: audits.status() }
  const text = JSON.stringify(status)
  const isNews = text !== told
  told = text
  if (isNews) post(status)
  clearTimeout(timer)
  const goesOn = isNews || streams.some(({ state }) => !AT_REST.has(state))
  timer = setTimeout(tell, goesOn ? STATUS_MS : REST_MS)
}

function take(durable: Durable): void {
  end = durable.position
  checkpoint = durable.checkpoint
}

function receive(message: ToForwarding): void {
  switch (message.kind) {
    case 'config':
      configVersion = message.version
      forwarders.follow(message.config)
      audits.follow(message.config)
      tell()
      return
    case 'durable':
      take(message)
      forwarders.notify()
      // What it leads to begins after a pause.
      clearTimeout(timer)
      timer = setTimeout(tell, STATUS_MS)
      return
    case 'recorded': {
      const asked = recording.get(message.id)
      recording.delete(message.id)
      if (message.ok) asked?.resolve()
      else asked?.reject(new Error('the gap could not be recorded'))
      return
    }
    case 'stop':
      take(message)
      void forwarders.stop().then(() => {
        ending = true
        // What was posted goes out first.
        process.disconnect()
      })
  }
}

let ending = false
process.on('message', receive)
// The collector decides when to stop; a signal to the whole process group must not cut off what is still to be sent.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined)
process.on('disconnect', leave)
// Gone while this one was starting: nobody tells of it again.
if (!process.connected) leave()

function leave(): void {
  // Not told to end: the collector is gone, and the next one will start another of these on the same cursors.
  if (ending) process.exit(0)
  else process.kill(process.pid, 'SIGKILL')
}
