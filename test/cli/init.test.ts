// Installing as a person does it: real commands, real hook file, real collector.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { hookCommand, TempUser } from '../support/cli.ts'

let user: TempUser
afterEach(() => user.remove())

const INIT = ['init', '--yes', '--otlp-port', '0']
const settings = (of = user) => `${of.userHome}/.claude/settings.json`
const session = (id: string, event: string, more: object = {}) => ({
  session_id: id,
  cwd: user.project,
  hook_event_name: event,
  ...more,
})
const tool = (id: string, command: string) => ({
  ...session('s1', 'PreToolUse'),
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
})
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

test.each(['home', 'a home too long for a socket path '.repeat(4), 'Zoë’s "home" $HOME \'x\' 日本'])(
  'with HOME named %s: installs, gates, records, and uninstall restores every byte',
  async (name) => {
    user = new TempUser(name)
    mkdirSync(`${user.userHome}/.claude`)
    const mine =
      '{\n\t"model": "opus",\n\t"hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "true" } ] } ] }\n}'
    writeFileSync(settings(), mine)
    const init = await user.run(INIT)
    expect(init).toMatchObject({ status: 0, stdout: '' })
    expect(init.stderr).toContain(`hooks installed in ${settings()}`)
    expect([mode(user.home), mode(`${user.home}/config.yaml`)]).toEqual(['700', '600'])
    expect(readFileSync(`${user.home}/config.yaml`, 'utf8')).toContain('user_home:')

    expect(await user.hook('SessionStart', session('s1', 'SessionStart', { source: 'startup' }))).toMatchObject({
      status: 0,
      stdout: '',
    })
    expect(await user.hook('PreToolUse', tool('c1', 'ls'))).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const denied = await user.hook('PreToolUse', tool('c2', 'rm -rf ~'))
    expect(denied).toMatchObject({ status: 2, stdout: '' })
    expect(await user.json(['runs'])).toMatchObject([
      { session: 's1', agent: 'claude-code', calls: 2, denied: 1, mode: 'enforce' },
    ])

    const installed = readFileSync(settings())
    expect((await user.run(INIT)).stderr).toContain('hooks were already in')
    expect(readFileSync(settings())).toEqual(installed)

    const uninstall = await user.run(['uninstall'])
    expect(uninstall.status).toBe(0)
    expect(uninstall.stderr).toContain(`the evidence stays in ${user.home}`)
    expect(readFileSync(settings(), 'utf8')).toBe(mine)
    expect(user.collectorPid).toBe(null)
    expect(existsSync(`${user.home}/log`)).toBe(true)
    expect((await user.run(['uninstall'])).status).toBe(0)
  },
)

test('the hook starts the collector when none answers, also when the place it was installed from is gone', async () => {
  user = new TempUser()
  // A copy of the package in a folder that goes away, as npx's cache does; run by a Node that is a link.
  const cache = `${user.project}/npx`
  cpSync('dist', `${cache}/dist`, { recursive: true, dereference: true })
  symlinkSync(resolve('node_modules'), `${cache}/node_modules`)
  const init = await user.run(INIT, { cli: `${cache}/dist/spanseal.mjs` })
  expect(init.status).toBe(0)
  await user.run(['down'])
  rmSync(cache, { recursive: true })
  expect(user.collectorPid).toBe(null)
  const both = await Promise.all([
    user.hook('PreToolUse', tool('c1', 'ls')),
    user.hook('PreToolUse', tool('c2', 'rm -rf ~')),
  ])
  expect(both.map(({ status }) => status)).toEqual([0, 2])
  const version = readdirSync(`${user.home}/bin`)[0]
  expect(readFileSync(`/proc/${user.collectorPid}/cmdline`, 'utf8').split('\0').slice(0, 2)).toEqual([
    realpathSync(process.execPath),
    `${user.home}/bin/${version}/collector.cjs`,
  ])
  const staged = await user.run(['runs', '--json'], { cli: `${user.home}/bin/${version}/spanseal.mjs` })
  expect(JSON.parse(staged.stdout)).toMatchObject([{ calls: 2, denied: 1 }])
  expect(await user.run(INIT, { cli: `${user.home}/bin/${version}/spanseal.mjs` })).toMatchObject({ status: 2 })
})

test('a hook whose collector can’t start stops the call and says how to repair and how to remove', async () => {
  user = new TempUser()
  await user.run(INIT)
  await user.run(['down'])
  writeFileSync(`${user.home}/config.yaml`, 'version: 2\n')
  const { status, stdout, stderr } = await user.hook('PreToolUse', tool('c1', 'ls'))
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toContain('version')
  expect(stderr).toContain(' doctor, or: ')
  expect(stderr).toContain(' uninstall')
})

test('--dry-run says what would change and changes nothing', async () => {
  user = new TempUser()
  mkdirSync(`${user.userHome}/.claude`)
  writeFileSync(settings(), '{}\n')
  const { status, stdout, stderr } = await user.run([...INIT, '--dry-run'])
  expect(status).toBe(0)
  expect(stderr).toContain(`would change ${settings()}`)
  expect(stdout).toContain('PreToolUse')
  expect(readFileSync(settings(), 'utf8')).toBe('{}\n')
  expect(existsSync(user.home)).toBe(false)
  // What it would do is what it does.
  await user.run(INIT)
  const command = hookCommand(settings(), 'PreToolUse')
  expect(stdout).toContain(JSON.stringify(command))
  expect((await user.run(['uninstall', '--dry-run'])).stdout).toContain('PreToolUse')
  expect(existsSync(settings())).toBe(true)
})

test('--project, --observe and --fail-open are what the hook then does', async () => {
  user = new TempUser()
  expect((await user.run([...INIT, '--project', '--observe'])).status).toBe(0)
  const file = `${user.project}/.claude/settings.local.json`
  expect(existsSync(settings())).toBe(false)
  expect(await user.hook('PreToolUse', tool('c1', 'rm -rf ~'), file)).toMatchObject({
    status: 0,
    stdout: '',
    stderr: '',
  })
  expect(await user.json(['runs'])).toMatchObject([{ mode: 'observe', denied: 1 }])
  expect(readFileSync(file, 'utf8')).not.toContain('PermissionRequest')
  expect((await user.run(['uninstall'])).status).toBe(0)
  expect(existsSync(file)).toBe(false)

  expect((await user.run([...INIT, '--fail-open'])).status).toBe(0)
  await user.run(['down'])
  renameSync(`${user.home}/config.yaml`, `${user.home}/kept.yaml`)
  writeFileSync(`${user.home}/config.yaml`, 'version: 2\n')
  const open = await user.hook('PreToolUse', tool('c1', 'ls'))
  expect(open.status).toBe(0)
  expect(open.stderr).toContain('let through')
  renameSync(`${user.home}/kept.yaml`, `${user.home}/config.yaml`)
})

test('settings that can’t be edited safely are left alone, and nothing else happens', async () => {
  user = new TempUser()
  mkdirSync(`${user.userHome}/.claude`)
  writeFileSync(settings(), '{ "hooks": ')
  expect(await user.run(INIT)).toMatchObject({ status: 1 })
  expect(readFileSync(settings(), 'utf8')).toBe('{ "hooks": ')
  expect(existsSync(user.home)).toBe(false)
  expect(await user.run(['init', '--agent', 'nobody'])).toMatchObject({ status: 2 })
})

test('no hooks are installed when the collector does not start: they could only block', async () => {
  user = new TempUser()
  mkdirSync(user.home, { mode: 0o700 })
  writeFileSync(`${user.home}/log`, 'not a folder')
  const { status, stderr } = await user.run(INIT)
  expect(status).toBe(1)
  expect(stderr).toContain('the collector did not start')
  expect(existsSync(settings())).toBe(false)
})

test('CLAUDE_CONFIG_DIR and OTEL_* of the terminal are followed', async () => {
  user = new TempUser()
  const env = {
    CLAUDE_CONFIG_DIR: `${user.userHome}/elsewhere`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_RESOURCE_ATTRIBUTES: 'team=tools',
  }
  expect((await user.run(INIT, { env })).stderr).toContain('traces go to http://127.0.0.1:9')
  expect(existsSync(`${user.userHome}/elsewhere/settings.json`)).toBe(true)
  expect(await user.json(['status'])).toMatchObject({ forward: [{ name: 'otel' }] })
})
