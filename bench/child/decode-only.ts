// The floor of ingest: receives and decodes as the collector does, keeps nothing. Prints its address; ends on SIGTERM.
import { listenOnPort } from '../../collector/receive/listen.ts'
import { otlpApp } from '../../collector/receive/otlp/app.ts'

const app = otlpApp({ accept: async () => ({ ok: true }) })
const { port } = await listenOnPort(0, app.fetch)
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
process.once('SIGTERM', () => process.exit(0))
