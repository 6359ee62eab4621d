// The collector as a process of its own: one at a time, whoever asks, in whatever environment.
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { TempUser } from '../support/cli.ts'

let user: TempUser
afterEach(() => user.remove())

const endpoint = () => JSON.parse(readFileSync(`${user.home}/endpoint.json`, 'utf8')) as Record<string, unknown>
const isGone = (pid: number) => !existsSync(`/proc/${pid}`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

test('up returns when the collector answers, twice is once, down waits until it is gone', async () => {
  user = new TempUser().withConfig()
  expect((await user.run(['up'])).status).toBe(0)
  const pid = user.collectorPid
  expect(await user.json(['status'])).toMatchObject({ running: true, pid })
  // OTLP first: what a person looks for.
  expect(Object.keys(endpoint())[0]).toBe('otlp')
  const again = await user.run(['up'])
  expect(again.status).toBe(0)
  expect(again.stderr).toContain('already up')
  expect(user.collectorPid).toBe(pid)
  expect((await user.run(['down'])).status).toBe(0)
  expect(user.collectorPid).toBe(null)
  expect(isGone(Number(pid))).toBe(true)
  expect(existsSync(`${user.home}/endpoint.json`)).toBe(false)
  expect((await user.run(['status', '--json'])).status).toBe(1)
})

test('five at once start one collector, and all of them end well', async () => {
  user = new TempUser().withConfig()
  const ran = await Promise.all(Array.from({ length: 5 }, () => user.run(['up', '--from-hook'])))
  expect(ran.map(({ status, stderr }) => [status, stderr])).toEqual(ran.map(() => [0, '']))
  const started = readFileSync(`${user.home}/run/start.log`, 'utf8').match(/ ready: /g)
  expect(started).toHaveLength(1)
})

test('up while another is stopping ends with a collector', async () => {
  user = new TempUser().withConfig()
  await user.run(['up'])
  const before = user.collectorPid
  const [, up] = await Promise.all([user.run(['down']), sleep(120).then(() => user.run(['up']))])
  expect(up.status).toBe(0)
  // Either `up` came before the end, or it started another.
  if (user.collectorPid === null) expect(up.stderr).toContain(`already up (process ${before})`)
})

test('it outlives who started it: own session, folder /, no pipe of theirs', async () => {
  user = new TempUser().withConfig()
  await user.run(['up'])
  const pid = Number(user.collectorPid)
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // Fields after the name: state, parent, group, session.
  expect([fields[2], fields[3]]).toEqual([String(pid), String(pid)])
  expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/')
  expect([0, 1, 2].map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))).toEqual([
    '/dev/null',
    `${user.home}/run/start.log`,
    `${user.home}/run/start.log`,
  ])
  process.kill(pid, 'SIGHUP')
  await sleep(100)
  expect(await user.json(['status'])).toMatchObject({ pid })
})

test('a hostile project reaches neither the collector’s environment nor its program', async () => {
  user = new TempUser().withConfig()
  const proof = `${user.project}/loaded`
  const evil = `${user.project}/evil.cjs`
  writeFileSync(evil, `require('node:fs').appendFileSync(${JSON.stringify(proof)}, process.argv.join(' ') + '\\n')`)
  mkdirSync(`${user.project}/node_modules/@duckdb/node-api`, { recursive: true })
  writeFileSync(`${user.project}/node_modules/@duckdb/node-api/index.js`, readFileSync(evil))
  writeFileSync(`${user.project}/.env`, 'SPANSEAL_HOME=/nowhere\n')
  const env = {
    NODE_OPTIONS: `--require ${evil}`,
    NODE_PATH: `${user.project}/node_modules`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://evil.example:4318',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=evil',
    SPANSEAL_HOME: `${user.project}/other`,
    http_proxy: 'http://evil.example',
    LC_ALL: 'C.UTF-8',
  }
  const ran = await user.run(['--home', user.home, 'up', '--from-hook'], { env })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
  const names = readFileSync(`/proc/${user.collectorPid}/environ`, 'utf8').split('\0').filter(Boolean)
  expect(names.sort()).toEqual([`HOME=${user.userHome}`, 'LC_ALL=C.UTF-8', 'PATH=/usr/bin:/bin'])
  expect(readFileSync(`${user.home}/config.yaml`, 'utf8')).not.toContain('evil')
  // It reached the command, which an installed hook runs in a clean environment, and nothing behind it.
  expect(readFileSync(proof, 'utf8')).toMatch(/^\S+ \S+\/spanseal\.mjs [^\n]*\n$/)
  expect(existsSync(`${user.project}/other`)).toBe(false)
})

test('a collector that can’t start says why, at once', async () => {
  user = new TempUser().withConfig('version: 1\notlp: { port: yes }\n')
  const { status, stderr } = await user.run(['--home', user.home, 'up', '--from-hook'])
  expect(status).toBe(1)
  expect(stderr).toContain('otlp.port')
  expect(user.collectorPid).toBe(null)
})

test('a terminal’s OTEL_* is stored once, comments stay, and our own port is never a destination', async () => {
  user = new TempUser().withConfig('version: 1\n# my port\notlp: { port: 45873 }\n')
  const config = () => readFileSync(`${user.home}/config.yaml`, 'utf8')
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9/base',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VjcmV0LXRva2Vu',
    OTEL_RESOURCE_ATTRIBUTES: 'team=tools,room=a%2Cb',
  }
  const first = await user.run(['up'], { env })
  expect(first.status).toBe(0)
  expect(first.stderr).not.toContain('c2VjcmV0')
  expect(config()).toContain('# my port')
  expect(config()).toContain('url: http://127.0.0.1:9/base')
  expect(config()).toContain('authorization: Basic c2VjcmV0LXRva2Vu')
  expect(config()).toContain('room: a,b')
  expect(await user.json(['status'])).toMatchObject({ forward: [{ name: 'otel', origin: 'http://127.0.0.1:9' }] })
  const before = config()
  expect((await user.run(['up'], { env })).stderr).not.toContain('configuration')
  expect((await user.run(['up'])).status).toBe(0)
  for (const own of ['http://localhost:45873', 'http://127.0.0.1:45873/v1/traces', 'http://[::1]:45873/']) {
    const refused = await user.run(['up'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: own } })
    expect(refused.stderr).toContain('own OTLP port')
  }
  expect(config()).toBe(before)
  const moved = await user.run(['up'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:10' } })
  expect(moved.stderr).toContain('started anew')
  expect(config()).toContain('http://127.0.0.1:10')
  expect(config()).not.toContain('c2VjcmV0')
})

test('a new destination is in force when up returns, also where a collector ran already', async () => {
  user = new TempUser().withConfig()
  await user.run(['up'])
  const before = user.collectorPid
  const again = await user.run(['up'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } })
  expect(again.status).toBe(0)
  expect(user.collectorPid).not.toBe(before)
  expect(await user.json(['status'])).toMatchObject({ running: true, forward: [{ origin: 'http://127.0.0.1:9' }] })
})

test('up --foreground stays, and ends with the collector', async () => {
  user = new TempUser().withConfig()
  const child = user.start(['up', '--foreground'])
  const ended = new Promise((done) => child.once('exit', done))
  while (user.collectorPid === null) await sleep(20)
  while ((await user.run(['status'])).status !== 0) await sleep(20)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(user.collectorPid).toBe(null)
})

test('variables for the headers of destinations reach a collector that a person starts, not one that a hook starts', async () => {
  user = new TempUser().withConfig()
  const env = { SPANSEAL_FORWARD_TOKEN: 'for-the-test', SPANSEAL_HOME_OF_OTHERS: 'x' }
  const seen = () => readFileSync(`/proc/${user.collectorPid}/environ`, 'utf8').split('\0')
  await user.run(['up', '--from-hook'], { env })
  expect(seen().filter((line) => line.startsWith('SPANSEAL_'))).toEqual([])
  await user.run(['down'])
  await user.run(['up'], { env })
  expect(seen().filter((line) => line.startsWith('SPANSEAL_'))).toEqual(['SPANSEAL_FORWARD_TOKEN=for-the-test'])
})
