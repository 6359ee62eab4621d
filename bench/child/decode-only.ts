// The floor of ingest: receives as the collector does, decodes every span, keeps nothing. The collector's own door only looks through
// protobuf bodies; a receiver that does something with spans decodes them. With the argument `receive` it does not even look. Prints
// its address; ends on SIGTERM.
import { listenOnPort } from '../../collector/receive/listen.ts'
import { otlpApp } from '../../collector/receive/otlp/app.ts'
import { joined } from '../../collector/receive/otlp/body.ts'
import { decodeTraces } from '../../collector/receive/otlp/decode.ts'
import { type Inspected, inspect } from '../../collector/receive/otlp/inspect.ts'

const unseen: Inspected = { ok: true, count: 1, invalid: { total: 0, named: [] }, spoofed: 0, loops: 0, sessions: [] }
const receiveOnly = process.argv[2] === 'receive'

const app = otlpApp({
  inspect: async (blocks, encoding, signal) => {
    if (receiveOnly) return { inspected: unseen, contents: [] }
    const body = joined(blocks)
    if (!decodeTraces(body, encoding).ok) throw new Error('a body that was taken does not decode')
    return { inspected: inspect(body, encoding, signal, ''), contents: [] }
  },
  accept: async () => ({ ok: true }),
})
const { port } = await listenOnPort({ host: '127.0.0.1', port: 0 }, app.fetch)
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
process.once('SIGTERM', () => process.exit(0))
