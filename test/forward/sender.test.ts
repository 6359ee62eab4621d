// One request: what goes over the line, and a destination that takes it and never answers.
import { createServer, type Server } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Sender } from '../../collector/forward/sender.ts'
import { traces } from '../../collector/forward/traces.ts'
import { startBackend } from './backend.ts'

const NO_SPANS = traces({ evidence: true }).request([], { resourceAttributes: {}, version: '1' })

let server: Server
let url: URL
let asked: Promise<void>

beforeEach(async () => {
  asked = new Promise((done) => {
    server = createServer(() => done())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

it('gives a request up after its time, also when garbage is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const sender = new Sender({ url, headers: {}, protocol: 'http/json', compress: true, timeoutMs: 1_000 })
  const outcome = sender.send(NO_SPANS, new AbortController().signal, Date.now())
  await asked
  collectGarbage()
  collectGarbage()
  expect(await outcome).toEqual({ kind: 'retry', reason: 'timeout' })
})

it('gives a request up when it is told to', async () => {
  const stop = new AbortController()
  const outcome = new Sender({ url, headers: {}, protocol: 'http/json', compress: false }).send(
    NO_SPANS,
    stop.signal,
    Date.now(),
  )
  await asked
  stop.abort()
  expect(await outcome).toEqual({ kind: 'aborted' })
})

it('sends nothing when it was told to stop before', async () => {
  const outcome = await new Sender({ url, headers: {}, protocol: 'http/json', compress: false }).send(
    NO_SPANS,
    AbortSignal.abort(),
    Date.now(),
  )
  expect(outcome).toEqual({ kind: 'aborted' })
})

it.each([true, false])('compresses only where it is told to, and says so (%j)', async (compress) => {
  const backend = await startBackend()
  const sender = new Sender({
    url: new URL(`${backend.url}/v1/traces`),
    protocol: 'http/json',
    headers: { 'Content-Encoding': 'br', 'Content-Type': 'text/plain' },
    compress,
  })
  const outcome = await sender.send(NO_SPANS, new AbortController().signal, Date.now())
  expect(outcome).toEqual({ kind: 'delivered', rejected: 0 })
  const [request] = backend.requests
  expect(request?.headers['content-encoding']).toBe(compress ? 'gzip' : undefined)
  expect(request?.headers['content-type']).toBe('application/json')
  expect(request?.request).toEqual({ resourceSpans: [] })
})
