// Readiness is found out, not assumed.
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Readiness, type ReadinessOptions } from '../../collector/telemetry/readiness.ts'

let dir: string
let server: Server
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'spanseal-ready-'))
  server = createServer()
  await new Promise<void>((done) => server.listen(`${dir}/hook.sock`, done))
})
afterEach(async () => {
  chmodSync(dir, 0o700)
  await new Promise((done) => server.close(done))
  rmSync(dir, { recursive: true, force: true })
})

const check = (changed: Partial<ReadinessOptions> = {}) =>
  new Readiness({
    durable: async () => {},
    probe: `${dir}/probe`,
    hookSocket: () => `${dir}/hook.sock`,
    stopping: () => false,
    ...changed,
  }).check()

it('says yes when all of it works, and leaves nothing behind', async () => {
  expect(await check()).toEqual({ ready: true, reasons: [] })
  expect(existsSync(`${dir}/probe`)).toBe(false)
})

it('says no, and why: failed log, stuck disk, full disk, no socket, stopping', async () => {
  const broken = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  const stuck = () => new Promise<void>(() => {})
  const cases: [Partial<ReadinessOptions>, RegExp][] = [
    [{ durable: () => Promise.reject(broken) }, /log can’t be written: ENOSPC/],
    [{ durable: stuck, durableMs: 20 }, /log can’t be written: not within 0.02 s/],
    [{ probe: `${dir}/nowhere/probe` }, /disk takes no new file: ENOENT/],
    [{ hookSocket: () => undefined }, /hooks can’t reach the collector: its socket is not open/],
    [{ hookSocket: () => `${dir}/gone.sock` }, /its socket is gone/],
    [{ stopping: () => true }, /stopping/],
  ]
  for (const [changed, reason] of cases) {
    const { ready, reasons } = await check(changed)
    expect(ready).toBe(false)
    expect(reasons.join()).toMatch(reason)
  }
})

it('says no on a disk that is full', async () => {
  // Every write to it fails with ENOSPC.
  symlinkSync('/dev/full', `${dir}/probe`)
  expect((await check()).reasons.join()).toMatch(/disk takes no new file: ENOSPC/)
})

it('asks the disk once for many who ask at once', async () => {
  let asked = 0
  const readiness = new Readiness({
    durable: async () => {
      asked++
    },
    probe: `${dir}/probe`,
    hookSocket: () => `${dir}/hook.sock`,
    stopping: () => false,
  })
  await Promise.all(Array.from({ length: 50 }, () => readiness.check()))
  expect(asked).toBe(1)
})
