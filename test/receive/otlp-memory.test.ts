// In a file, and so a process state, of its own: garbage of other tests would hide what is measured.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { otlpApp } from '../../collector/receive/otlp/app.ts'
import { utf8, withSpan } from './otlp-support.ts'

it('what a body costs does not depend on how small the pieces are that it comes in', async () => {
  setFlagsFromString('--expose-gc')
  const gc: () => void = runInNewContext('gc')
  const held = () => {
    gc()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const pieces = 300_000
  let length = 0
  const app = otlpApp({
    accept: async (batch) => {
      length = batch.bytes
      return { ok: true }
    },
  })
  let sent = 0
  let most = 0
  const before = held()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === 0) controller.enqueue(utf8(withSpan({})))
      else controller.enqueue(Uint8Array.of(0x20))
      if (++sent < pieces) return
      most = held() - before
      controller.close()
    },
  })
  const headers = { 'content-type': 'application/json' }
  const request = new Request('http://localhost/v1/traces', { method: 'POST', headers, body, duplex: 'half' })
  expect((await app.request(request)).status).toBe(200)
  expect(length).toBeGreaterThan(pieces)
  expect(most).toBeLessThan(5_000_000)
})
