// `init --fast` as a person does it: what it asks before it changes anything, what it installs, and how it goes away again.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it, test } from 'vitest'
import { agentProblem } from '../../collector/cli/fast-checks.ts'
import { preToolUse } from '../support/collector.ts'
import { FastUser, otherProgram } from '../support/fast-user.ts'

const HTTP_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure']
/** Where the agent has to be able to start the collector, or to be refused. */
const HEALING = ['SessionStart', 'UserPromptSubmit', 'Stop', 'ConfigChange', 'PostToolBatch']
const MINE =
  '{\n  "model": "opus",\n  "hooks": { "PostToolUse": [ { "hooks": [ { "type": "command", "command": "true" } ] } ] }\n}'

let user: FastUser
afterEach(() => user.remove())

const text = (file = user.settings) => readFileSync(file, 'utf8')
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
const token = () => readFileSync(`${user.home}/keys/http.token`, 'utf8').trim()

test('installs, switches to and fro, and uninstall restores every byte', async () => {
  user = await new FastUser().ready('2.1.295', MINE)
  const init = await user.run(user.initFast)
  expect(init).toMatchObject({ status: 0, stdout: '' })
  expect(init.stderr).toContain('tool calls come by http hooks')
  expect(init.stderr).not.toContain(token())

  for (const event of HTTP_EVENTS) {
    const { type, url, headers, timeout, onFailure } = user.entry(event)
    expect([type, headers]).toEqual(['http', { Authorization: `Bearer ${token()}` }])
    expect(url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${user.port}/hook/claude-code/${event}\\?`))
    expect([timeout, onFailure]).toEqual(event === 'PreToolUse' ? [600, 'block'] : [5, undefined])
  }
  for (const event of HEALING) expect(user.entry(event).type).toBe('command')
  expect([mode(`${user.home}/keys/http.token`), mode(user.settings), mode(`${user.home}/installs.json`)]).toEqual(
    Array(3).fill('600'),
  )
  expect(await user.json(['status'])).toMatchObject({ fast: `http://127.0.0.1:${user.port}` })

  const [fast, first] = [text(), token()]
  expect((await user.run(user.initFast)).stderr).toContain('hooks were already in')
  expect([text(), token()]).toEqual([fast, first])

  expect((await user.run(['init', '--yes'])).status).toBe(0)
  const commands = text()
  expect(commands).not.toContain('"http"')
  expect(existsSync(`${user.home}/keys/http.token`)).toBe(false)
  expect(readFileSync(`${user.home}/config.yaml`, 'utf8')).not.toContain('fast')
  expect(await user.json(['status'])).toMatchObject({ fast: null })

  expect((await user.run(user.initFast)).status).toBe(0)
  // Whoever kept the old settings can't use them any more.
  expect(token()).not.toBe(first)
  expect(text().replaceAll(token(), first)).toBe(fast)
  const dry = await user.run(['uninstall', '--dry-run'])
  expect(dry.stdout).toContain('Bearer <token>')
  expect(dry.stdout).not.toContain(token())

  expect((await user.run(['uninstall'])).status).toBe(0)
  expect(text()).toBe(MINE)
  expect(existsSync(`${user.home}/keys/http.token`)).toBe(false)
  expect(readFileSync(`${user.home}/config.yaml`, 'utf8')).not.toContain('fast')
  // The same bytes as without the way round.
  expect((await user.run(['init', '--yes'])).status).toBe(0)
  expect(text()).toBe(commands)
})

test('a dry run says it, without a token, and changes nothing', async () => {
  user = await new FastUser().ready()
  const { status, stdout } = await user.run([...user.initFast, '--dry-run'])
  expect(status).toBe(0)
  expect(stdout).toContain(`http://127.0.0.1:${user.port}/hook/claude-code/PreToolUse`)
  expect(stdout).toContain('Bearer <token>')
  expect(text()).toBe('{}\n')
  expect(existsSync(user.home)).toBe(false)
})

test('--observe and --fail-open are in the address, and then nothing blocks', async () => {
  user = await new FastUser().ready()
  expect((await user.run([...user.initFast, '--observe'])).status).toBe(0)
  expect(text()).not.toContain('onFailure')
  expect(await user.post('PreToolUse', preToolUse('s1', 'c1', 'rm -rf ~'))).toMatchObject({ status: 200, body: '{}' })
  expect(await user.json(['runs'])).toMatchObject([{ mode: 'observe', denied: 1 }])
  expect((await user.run([...user.initFast, '--fail-open'])).status).toBe(0)
  expect(text()).not.toContain('onFailure')
  expect(user.entry('PreToolUse').url).toContain('mode=enforce&fail=open&')
})

test('a project gets it in settings.local.json, where git ignores that file or there is no git', async () => {
  user = await new FastUser().ready()
  const file = `${user.project}/.claude/settings.local.json`
  expect((await user.run([...user.initFast, '--project'])).status).toBe(0)
  expect([user.entry('PreToolUse', file).type, mode(file), text()]).toEqual(['http', '600', '{}\n'])
  expect((await user.run(['uninstall'])).status).toBe(0)
  expect(existsSync(file)).toBe(false)

  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: user.project, stdio: 'ignore', env: { HOME: user.userHome } })
  git('init', '-q')
  const refused = await user.run([...user.initFast, '--project'])
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`git does not ignore ${file}`) })
  mkdirSync(`${user.project}/.claude`, { recursive: true })
  writeFileSync(file, '{}', { mode: 0o600 })
  git('add', '.claude/settings.local.json')
  writeFileSync(`${user.project}/.gitignore`, '.claude/settings.local.json\n')
  // Ignored by name, and in the index all the same.
  expect(await user.run([...user.initFast, '--project'])).toMatchObject({ status: 1 })
  expect(text(file)).toBe('{}')
  git('rm', '-q', '--cached', '.claude/settings.local.json')
  expect((await user.run([...user.initFast, '--project'])).status).toBe(0)
})

describe('is refused, with nothing changed, when', () => {
  const refusals: Record<
    string,
    { make: () => unknown; env?: Record<string, string>; args?: string[]; says: string | (() => string) }
  > = {
    'one Claude Code of several is older than onFailure': {
      make: () => user.agent(`${user.userHome}/.npm-global/bin`, 'echo "2.1.294 (Claude Code)"'),
      says: () => `${user.userHome}/.npm-global/bin/claude is Claude Code 2.1.294`,
    },
    'one on PATH is': {
      make: () => user.agent(`${user.userHome}/odd place`, 'echo "1.9.999 (Claude Code)"'),
      env: { PATH: '' },
      says: 'odd place/claude is Claude Code 1.9.999',
    },
    'one inside an editor is': {
      make: () =>
        user.agent(
          `${user.userHome}/.vscode/extensions/anthropic.claude-code-2.0.1-linux-x64/resources/native-binary`,
          'echo "2.0.1 (Claude Code)"',
        ),
      says: 'native-binary/claude is Claude Code 2.0.1',
    },
    'one does not say its version': {
      make: () => user.agent(`${user.userHome}/.bun/bin`, 'echo broken; exit 1'),
      says: () => `${user.userHome}/.bun/bin/claude does not say its version`,
    },
    'others can read the settings': {
      make: () => chmodSync(user.settings, 0o644),
      says: () => `others can read ${user.settings} (mode 644)`,
    },
    'a proxy stands between the agent and its hooks': {
      make: () => {},
      env: { HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'example.com' },
      says: 'HTTPS_PROXY is set',
    },
    'a proxy of the settings does': {
      make: () => writeFileSync(user.settings, '{"env":{"http_proxy":"http://proxy.example:3128"}}'),
      says: 'http_proxy is set',
    },
    'the port is that of OTLP': { make: () => {}, args: ['--fast-port', '4318'], says: 'a port of their own' },
    'the port is none': { make: () => {}, args: ['--fast-port', '0'], says: '--fast-port must be' },
  }
  it.each(Object.keys(refusals))('%s', async (name) => {
    user = await new FastUser().ready()
    const { make, env = {}, args = [], says } = refusals[name] ?? { make: () => {}, says: '' }
    make()
    const before = text()
    if (env.PATH === '') env.PATH = `${user.userHome}/odd place:/usr/bin:/bin`
    const { status, stderr } = await user.run([...user.initFast, ...args], { env })
    expect(status).toBeGreaterThan(0)
    expect(stderr).toContain(typeof says === 'string' ? says : says())
    expect([text(), existsSync(user.home)]).toEqual([before, false])
  })

  it('there is no Claude Code at all', () => {
    user = new FastUser()
    expect(agentProblem([])).toContain('no claude was found')
  })

  it('the port is taken; with NO_PROXY, a proxy does not matter', async () => {
    user = await new FastUser().ready()
    const other = await otherProgram(user.port)
    expect(await user.run(user.initFast)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`another program has port ${user.port}`),
    })
    expect(existsSync(user.home)).toBe(false)
    await other.close()
    const env = { http_proxy: 'http://proxy.example:3128', no_proxy: 'localhost, 127.0.0.1' }
    expect(await user.run(user.initFast, { env })).toMatchObject({ status: 0 })
    expect(await user.run(['init', '--fast-port', '9'])).toMatchObject({ status: 2 })
  })

  it('the command hooks stay when there were some', async () => {
    user = await new FastUser().ready('2.1.294')
    await user.run(['init', '--yes', '--otlp-port', '0'])
    const before = text()
    expect(await user.run(user.initFast)).toMatchObject({ status: 1, stderr: expect.stringContaining('2.1.294') })
    expect(text()).toBe(before)
    expect(await user.json(['status'])).toMatchObject({ fast: null })
  })
})
