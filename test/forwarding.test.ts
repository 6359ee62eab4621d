// What the collector makes of what its forwarding process says. The process here is a stand-in; the real one is in e2e/forwarding.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readConfig } from '../collector/config.ts'
import { Forwarding } from '../collector/forwarding.ts'

/** Tells what it is asked as log lines, and answers a config with a status of it, one of the version before, and a gap. */
const STAND_IN = `
const log = (line) => process.send({ kind: 'log', line })
const status = (version, sent) =>
  process.send({ kind: 'status', version, audits: [], streams: [{ name: 'a', origin: 'o', state: 'sending', next_seq: 1, sent }] })
process.on('message', (message) => {
  if (message.kind === 'stop') return process.disconnect()
  log(JSON.stringify(message))
  if (message.kind !== 'config') return
  status(message.version, 7)
  status(message.version - 1, 1)
  process.send({ kind: 'missing', id: 5, destination: 'a', count: 2 })
})
`

let folder: string
let lines: string[]
let forwarding: Forwarding
const missing: [string, number][] = []
let onMissing: () => Promise<void>
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/sps-`)
  writeFileSync(`${folder}/worker.mjs`, STAND_IN)
  lines = []
  missing.length = 0
  onMissing = async () => {}
  forwarding = new Forwarding({
    worker: pathToFileURL(`${folder}/worker.mjs`),
    root: folder,
    version: '1',
    logId: 'l',
    durableEnd: () => ({ segment: 3, offset: 4 }),
    checkpoint: () => 'note',
    onMissing: (destination, count) => {
      missing.push([destination, count])
      return onMissing()
    },
    log: (line) => lines.push(line),
  })
})
afterEach(async () => {
  await forwarding.stop()
  rmSync(folder, { recursive: true })
})

function config(text: string) {
  writeFileSync(`${folder}/config.yaml`, `version: 1\n${text}`)
  const read = readConfig(`${folder}/config.yaml`)
  if (!read.ok) throw new Error(read.errors.join())
  return read.config
}

/** Milliseconds: a process starts slowly on a busy machine. */
const STARTED = 30_000
const TO_A = 'forward: [{name: a, url: "http://127.0.0.1:9"}]\n'

it('tells it what is durable before what to do, and shows what it says of the config in force', async () => {
  const { resource_attributes } = config(TO_A)
  const follow = forwarding.prepare(config(TO_A))
  expect(forwarding.status()).toEqual([])
  follow()
  expect(forwarding.status()).toMatchObject([{ name: 'a', origin: 'http://127.0.0.1:9', state: 'starting' }])
  await vi.waitFor(() => expect(forwarding.status()).toMatchObject([{ state: 'sending', sent: 7 }]), STARTED)
  const asked = lines.map((line) => JSON.parse(line))
  expect(asked[0]).toEqual({ kind: 'durable', position: { segment: 3, offset: 4 }, checkpoint: 'note' })
  expect(asked[1]).toMatchObject({ kind: 'config', config: { forward: [{ name: 'a' }], resource_attributes } })
})

it.each([
  ['is recorded', async () => {}, true],
  ['can not be recorded', () => Promise.reject(new Error('disk')), false],
])('says whether a gap that it tells of %s', async (_, record, ok) => {
  onMissing = record
  forwarding.prepare(config(TO_A))()
  await vi.waitFor(() => expect(lines).toContain(JSON.stringify({ kind: 'recorded', id: 5, ok })), STARTED)
  expect(missing).toEqual([['a', 2]])
})

it('starts none where there is nowhere to forward to, and refuses a header that can not be sent', async () => {
  forwarding.prepare(config('forward: []\n'))()
  const bad = config('forward: [{name: a, url: "http://127.0.0.1:9", headers: {"x y": SECRET}}]\n')
  expect(() => forwarding.prepare(bad)).toThrow(new TypeError('a header of the destination has no valid name'))
  await forwarding.stop()
  expect(lines).toEqual([])
})
