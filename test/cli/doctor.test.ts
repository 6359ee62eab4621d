// The doctor tells the truth: well when all is well, and what is wrong when something is.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hookCommand, TempUser } from '../support/cli.ts'

interface Diagnosis {
  exit: number
  checks: { id: string; status: string; detail: string; fix?: string }[]
}

let user: TempUser
beforeAll(async () => {
  user = new TempUser()
  expect((await user.run(['init', '--yes', '--otlp-port', '0'])).status).toBe(0)
})
afterAll(() => user.remove())

const settings = () => `${user.userHome}/.claude/settings.json`
async function doctor(): Promise<Diagnosis & { status: number | null }> {
  const { status, stdout } = await user.run(['doctor', '--json'])
  return { status, ...(JSON.parse(stdout) as Diagnosis) }
}
/** Ids that are not ok. */
const complaints = ({ checks }: Diagnosis) =>
  checks.filter(({ status }) => status !== 'ok').map(({ id, status }) => `${id} ${status}`)

test('after init all is well: exit 0, every check by its stable id, the canary answered and recorded', async () => {
  const found = await doctor()
  expect([complaints(found), found.status, found.exit]).toEqual([[], 0, 0])
  expect(found.checks.map(({ id }) => id)).toEqual([
    'node.version',
    'home.folder',
    'home.keys',
    'log.readable',
    'disk.space',
    'collector.running',
    'collector.version',
    'otlp.port',
    'index.lag',
    'hooks.installed',
    'hooks.settings',
    'hooks.file',
    'hooks.runtime',
    'hooks.canary',
  ])
  const runs = (await user.json(['runs'])) as { session: string; calls: number; prompts: number; closed: unknown }[]
  // Marked by its name, closed, and empty.
  expect(runs.map(({ session }) => session.startsWith('doctor-'))).toEqual([true])
  expect(runs[0]).toMatchObject({ calls: 0, prompts: 0, closed: expect.any(String) })
  const text = await user.run(['doctor'])
  expect(text.stdout.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^ok {4}node\.version /),
    `ok    home.folder         ${user.home}, mode 700`,
  ])
})

test('it starts a collector that does not run, and says when it can’t', async () => {
  await user.run(['down'])
  expect((await doctor()).checks).toContainEqual(
    expect.objectContaining({ id: 'collector.running', detail: expect.stringContaining('could be started') }),
  )
  await user.run(['down'])
  const config = readFileSync(`${user.home}/config.yaml`)
  writeFileSync(`${user.home}/config.yaml`, 'version: 9\n')
  const found = await doctor()
  expect([complaints(found), found.status]).toEqual([['collector.running fail'], 1])
  writeFileSync(`${user.home}/config.yaml`, config)
})

test('hooks that were changed, switched off or taken out', async () => {
  const before = readFileSync(settings(), 'utf8')
  for (const [from, to] of [
    ['PreToolUse', 'PreToolUsed'],
    ['"timeout": 600', '"timeout": 1'],
    ['{', '{ "disableAllHooks": true,'],
    ['{', ''],
  ] as const) {
    writeFileSync(settings(), before.replace(from, to))
    const found = await doctor()
    expect([from, complaints(found), found.status]).toEqual([from, ['hooks.settings fail'], 1])
  }
  writeFileSync(settings(), before)
})

test('a hook file that is gone or can’t be run, a runtime that is gone', async () => {
  const version = readdirSync(`${user.home}/bin`)[0]
  const hook = `${user.home}/bin/${version}/hook.sh`
  expect(hookCommand(settings(), 'PreToolUse')).toContain(hook)
  const [text, runtime] = [readFileSync(hook), readFileSync(`${user.home}/bin/${version}/hook.json`, 'utf8')]
  rmSync(hook)
  expect(complaints(await doctor())).toEqual(['hooks.file fail', 'hooks.canary fail'])
  writeFileSync(hook, '#!/bin/sh\nexit 0\n', { mode: 0o700 })
  expect(complaints(await doctor())).toEqual(['hooks.canary fail'])
  writeFileSync(hook, text)
  writeFileSync(
    `${user.home}/bin/${version}/hook.json`,
    runtime.replace(JSON.stringify(process.execPath).slice(1, -1), '/gone/node'),
  )
  expect(complaints(await doctor())).toEqual(['hooks.runtime fail'])
  writeFileSync(`${user.home}/bin/${version}/hook.json`, runtime)
})

test('a home or keys that others can look into', async () => {
  chmodSync(`${user.home}/keys/record.pem`, 0o644)
  expect(complaints(await doctor())).toContain('home.keys fail')
  chmodSync(`${user.home}/keys/record.pem`, 0o600)
  chmodSync(user.home, 0o755)
  const found = await doctor()
  expect(complaints(found)).toEqual(['home.folder fail'])
  expect(found.checks.at(-1)?.fix).toContain('chmod 700')
  chmodSync(user.home, 0o700)
})

test('an OTLP port that another program has: a failure, exit 1, while hooks work on', async () => {
  const other = createServer()
  const port = await new Promise<number>((done) =>
    other.listen(0, '127.0.0.1', () => {
      const address = other.address()
      done(typeof address === 'object' && address !== null ? address.port : 0)
    }),
  )
  await user.run(['down'])
  const config = readFileSync(`${user.home}/config.yaml`, 'utf8')
  writeFileSync(`${user.home}/config.yaml`, config.replace('port: 0', `port: ${port}`))
  const found = await doctor()
  expect([complaints(found), found.status]).toEqual([['otlp.port fail'], 1])
  other.close()
  writeFileSync(`${user.home}/config.yaml`, config)
})

test('without hooks it says so', async () => {
  await user.run(['uninstall'])
  expect(complaints(await doctor())).toEqual(['hooks.installed fail'])
})
