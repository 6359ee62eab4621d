// One request to a destination that takes it and never answers.
import { createServer, type Server } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Sender } from '../../collector/forward/sender.ts'

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
  const sender = new Sender({ url, headers: {}, timeoutMs: 1_000 })
  const outcome = sender.send({ resourceSpans: [] }, new AbortController().signal, Date.now())
  await asked
  collectGarbage()
  collectGarbage()
  expect(await outcome).toEqual({ kind: 'retry', reason: 'timeout' })
})

it('gives a request up when it is told to', async () => {
  const stop = new AbortController()
  const outcome = new Sender({ url, headers: {} }).send({ resourceSpans: [] }, stop.signal, Date.now())
  await asked
  stop.abort()
  expect(await outcome).toEqual({ kind: 'aborted' })
})

it('sends nothing when it was told to stop before', async () => {
  const outcome = await new Sender({ url, headers: {} }).send({ resourceSpans: [] }, AbortSignal.abort(), Date.now())
  expect(outcome).toEqual({ kind: 'aborted' })
})
