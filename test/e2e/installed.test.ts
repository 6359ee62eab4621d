// What `spanseal init` installs, run as an agent runs it: through the command in its settings, by /bin/sh, from a project that means harm.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { event, postToolUse, preToolUse } from '../support/collector.ts'

const CLI = resolve('dist/spanseal.mjs')

/** A person's machine: a home folder whose name is hard to quote, Claude Code's settings in it, nothing else. */
class Machine {
  readonly base = mkdtempSync(join(tmpdir(), 'spanseal-installed-'))
  readonly userHome = join(this.base, `it's a "home" für $HOME`)
  readonly root = join(this.userHome, '.spanseal')
  readonly project = join(this.base, 'project')

  constructor() {
    mkdirSync(this.userHome)
    mkdirSync(this.project)
  }

  env(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    return { PATH: '/usr/bin:/bin', HOME: this.userHome, LANG: 'C.UTF-8', ...more }
  }

  /** Runs the command line; not synchronously, or a hook that waits meanwhile would never get its payload. */
  cli(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
    return run(process.execPath, [CLI, ...args], { env: this.env(), cwd: this.project })
  }

  command(name: string): string {
    const settings = JSON.parse(readFileSync(join(this.userHome, '.claude/settings.json'), 'utf8'))
    return settings.hooks[name][0].hooks[0].command
  }

  /** Runs the installed hook as Claude Code does. */
  async hook(
    name: string,
    payload: object | string | Uint8Array,
    { env = this.env(), cwd = this.project, command = this.command(name) } = {},
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const input = typeof payload === 'string' || payload instanceof Uint8Array ? payload : JSON.stringify(payload)
    const { status, stdout, stderr } = await run('/bin/sh', ['-c', command], { env, cwd, input })
    return { code: status, stdout, stderr }
  }

  /** Id of the call that waits for a person, once there is one. */
  async held(): Promise<string> {
    for (;;) {
      const { stdout } = await this.cli('approvals', 'list', '--json')
      const id = JSON.parse(stdout || '[]')[0]?.id
      if (id !== undefined) return id
    }
  }

  /** Kills the collector and waits until nothing answers any more. */
  async killCollector(): Promise<void> {
    const { hook } = JSON.parse(readFileSync(join(this.root, 'endpoint.json'), 'utf8'))
    process.kill(this.pid(), 'SIGKILL')
    const answers = () =>
      new Promise<boolean>((done) => {
        const socket = connect(hook, () => done(true))
        socket.on('error', () => done(false))
        socket.on('connect', () => socket.destroy())
      })
    while (await answers()) await sleep(10)
  }

  pid(): number {
    return JSON.parse(readFileSync(join(this.root, 'endpoint.json'), 'utf8')).pid
  }

  async sql(query: string): Promise<unknown[][]> {
    const answer = await this.cli('sql', query, '--json')
    expect(answer.status, answer.stderr).toBe(0)
    return JSON.parse(answer.stdout).rows
  }

  async remove(): Promise<void> {
    await this.cli('down')
    rmSync(this.base, { recursive: true, force: true })
  }
}

function run(
  program: string,
  args: string[],
  { input, ...options }: { env: NodeJS.ProcessEnv; cwd: string; input?: string | Uint8Array },
) {
  return new Promise<{ status: number; stdout: string; stderr: string }>((done) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      done({ status: error === null ? 0 : Number(error.code), stdout, stderr })
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

let machine: Machine
beforeEach(async () => {
  machine = new Machine()
  const init = await machine.cli('init', '--otlp-port', '0')
  expect(init.status, init.stderr).toBe(0)
})
afterEach(() => machine.remove())

describe('the installed hook', () => {
  it('lets through, denies and records, with nothing on stdout', async () => {
    expect(await machine.hook('PreToolUse', preToolUse('S1', 'c1'))).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await machine.hook('PostToolUse', postToolUse('S1', 'c1'))).toEqual({ code: 0, stdout: '', stderr: '' })
    const denied = await machine.hook('PreToolUse', preToolUse('S1', 'c2', 'git push --force origin main'))
    expect(denied).toMatchObject({ code: 2, stdout: '' })
    expect(denied.stderr.length).toBeGreaterThan(20)
    const calls = await machine.sql('SELECT call_id, decision, status FROM calls ORDER BY call_id')
    expect(calls).toEqual([
      ['c1', 'allow', 'ok'],
      ['c2', 'deny', null],
    ])
  })

  it('holds a call until a person answers in another terminal', async () => {
    const approved = machine.hook('PreToolUse', preToolUse('S1', 'c1', 'git push origin main'))
    expect((await machine.cli('approvals', 'approve', await machine.held())).status).toBe(0)
    expect((await approved).code).toBe(0)
    const rejected = machine.hook('PreToolUse', preToolUse('S1', 'c2', 'git push origin main'))
    expect((await machine.cli('approvals', 'reject', await machine.held())).status).toBe(0)
    expect(await rejected).toMatchObject({ code: 2, stdout: '' })
    expect((await machine.cli('approvals', 'approve', '')).status).not.toBe(0)
  })

  it('starts the collector when none answers; two at once start one; it is no child of theirs', async () => {
    await machine.killCollector()
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => machine.hook('PreToolUse', preToolUse('S1', id))),
    )
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(await machine.sql('SELECT count(*) FROM calls')).toEqual([[4]])
    const pid = machine.pid()
    const running = spawnSync('/bin/ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).stdout
    expect(
      running.split('\n').filter((line) => line.includes('collector.cjs') && line.includes(machine.root)),
    ).toHaveLength(1)
    const session = spawnSync('/bin/ps', ['-o', 'sid=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
    expect(session).toBe(String(pid))
  })

  it('blocks with a way to repair and to remove when the collector can not start', async () => {
    await machine.killCollector()
    chmodSync(join(machine.root, 'keys/record.pem'), 0o644)
    const before = await machine.hook('PreToolUse', preToolUse('S1', 'c1'))
    expect(before).toMatchObject({ code: 2, stdout: '' })
    for (const word of ['chmod 600', 'doctor', 'uninstall']) expect(before.stderr).toContain(word)
    const after = await machine.hook('Stop', event('S1', 'Stop'))
    expect(after).toMatchObject({ code: 1, stdout: '' })
    chmodSync(join(machine.root, 'keys/record.pem'), 0o600)
    expect((await machine.hook('PreToolUse', preToolUse('S1', 'c1'))).code).toBe(0)
  })

  it('works without the package it was installed from', async () => {
    const settings = readFileSync(join(machine.userHome, '.claude/settings.json'), 'utf8')
    expect(settings).not.toContain(resolve('.'))
    await machine.killCollector()
    expect((await machine.hook('PreToolUse', preToolUse('S1', 'c1'))).code).toBe(0)
    const args = spawnSync('/bin/ps', ['-o', 'args=', '-p', String(machine.pid())], { encoding: 'utf8' }).stdout
    expect(args).not.toContain(resolve('.'))
  })

  it('refuses a settings change that would switch it off, and lets others be', async () => {
    const file = join(machine.userHome, '.claude/settings.json')
    const change = { ...event('S1', 'ConfigChange', { source: 'user_settings', file_path: file }) }
    expect((await machine.hook('ConfigChange', change)).code).toBe(0)
    const command = machine.command('ConfigChange')
    const whole = readFileSync(file, 'utf8')
    const settings = JSON.parse(whole)
    writeFileSync(file, JSON.stringify({ ...settings, hooks: { ...settings.hooks, PreToolUse: [] } }))
    const ask = (payload: object) => machine.hook('ConfigChange', payload, { command })
    expect(await ask(change)).toMatchObject({ code: 2, stdout: '' })
    writeFileSync(file, whole)
    const project = join(machine.project, '.claude/settings.json')
    mkdirSync(join(machine.project, '.claude'))
    writeFileSync(project, '{"disableAllHooks": true}')
    expect((await ask({ ...change, source: 'project_settings', file_path: project })).code).toBe(2)
  })

  it('is undone by uninstall: no hook is left, the evidence stays', async () => {
    await machine.hook('PreToolUse', preToolUse('S1', 'c1'))
    const undone = await machine.cli('uninstall')
    expect(undone.status, undone.stderr).toBe(0)
    expect(existsSync(join(machine.userHome, '.claude/settings.json'))).toBe(false)
    expect((await machine.cli('verify', '--json')).status).toBe(0)
    expect(await machine.sql('SELECT count(*) FROM calls')).toEqual([[1]])
  })
})

describe('a hostile project and environment', () => {
  it('changes neither the hook nor the collector it starts', async () => {
    const evil = join(machine.base, 'evil')
    mkdirSync(join(evil, 'node_modules/hono'), { recursive: true })
    const touched = join(machine.base, 'touched')
    const strike = `require('node:fs').writeFileSync(${JSON.stringify(touched)}, process.argv.join(' '))`
    writeFileSync(join(evil, 'preload.cjs'), strike)
    for (const name of ['hono', '@duckdb/node-api', 'zod']) {
      const dir = join(evil, 'node_modules', name)
      mkdirSync(dir, { recursive: true })
      writeFileSync(join(dir, 'package.json'), JSON.stringify({ name, main: 'index.js' }))
      writeFileSync(join(dir, 'index.js'), strike)
    }
    for (const name of ['curl', 'env', 'node', 'sh']) {
      writeFileSync(join(evil, name), `#!/bin/sh\necho ${name} > '${touched}'\nexit 0\n`)
      chmodSync(join(evil, name), 0o755)
    }
    writeFileSync(join(evil, '.curlrc'), `url = "http://127.0.0.1:9/"\noutput = "${touched}"\n`)
    writeFileSync(join(evil, '.env'), 'SPANSEAL_HOME=/nowhere\nNODE_OPTIONS=--bad-option\n')
    writeFileSync(join(evil, 'rc'), `alias curl='echo aliased > ${touched}'\n`)
    const env = machine.env({
      PATH: `${evil}:/usr/bin:/bin`,
      HOME: machine.userHome,
      CURL_HOME: evil,
      XDG_CONFIG_HOME: evil,
      NODE_OPTIONS: `--require ${join(evil, 'preload.cjs')}`,
      NODE_PATH: join(evil, 'node_modules'),
      SPANSEAL_HOME: join(evil, 'home'),
      ENV: join(evil, 'rc'),
      BASH_ENV: join(evil, 'rc'),
      http_proxy: 'http://127.0.0.1:9',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      ALL_PROXY: 'http://127.0.0.1:9',
      LD_LIBRARY_PATH: evil,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_RESOURCE_ATTRIBUTES: 'evil=1',
      ANTHROPIC_API_KEY: 'planted-key-of-the-agent',
      IFS: 'a',
    })
    await machine.killCollector()
    expect(await machine.hook('PreToolUse', preToolUse('S1', 'c1'), { env, cwd: evil })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
    expect(
      (await machine.hook('PreToolUse', preToolUse('S1', 'c2', 'git push --force origin main'), { env, cwd: evil }))
        .code,
    ).toBe(2)
    expect(existsSync(touched)).toBe(false)
    expect(await machine.sql('SELECT count(*) FROM calls')).toEqual([[2]])
    const collector = machine.pid()
    if (process.platform === 'linux') {
      const inherited = readFileSync(`/proc/${collector}/environ`, 'utf8')
      for (const word of ['OTEL_', 'NODE_OPTIONS', 'NODE_PATH', 'planted-key', 'PROXY', 'SPANSEAL_HOME', evil])
        expect(inherited, word).not.toContain(word)
    }
    expect(existsSync(join(evil, 'home'))).toBe(false)
    expect(readFileSync(join(machine.root, 'config.yaml'), 'utf8')).not.toContain(':9')
  })
})

describe('payloads that are not as they should be', () => {
  const huge = JSON.stringify(preToolUse('S1', 'huge', 'x'.repeat(5_000_000)))
  it.each([
    ['empty', '', 2],
    ['garbage', '\u0000\u0001 nonsense', 2],
    ['truncated', JSON.stringify(preToolUse('S1', 'c1')).slice(0, -5), 2],
    ['with a duplicate key', '{"session_id":"S1","session_id":"S2"}', 2],
    ['with half a surrogate pair', JSON.stringify(preToolUse('S1', 'c1')).replace('"ls"', '"\\ud800"'), 2],
    ['without a session', JSON.stringify({ ...preToolUse('S1', 'c1'), session_id: undefined }), 2],
    ['without a call id', JSON.stringify({ ...preToolUse('S1', 'c1'), tool_use_id: undefined }), 2],
    ['of another event', JSON.stringify({ ...preToolUse('S1', 'c1'), hook_event_name: 'PostToolUse' }), 2],
    ['with unknown fields', JSON.stringify({ ...preToolUse('S1', 'known'), new_field: { deep: [1] } }), 0],
    [
      'with a 64-bit number',
      JSON.stringify(preToolUse('S1', 'big')).replace('"command":"ls"', '"command":"ls","id":9007199254740993'),
      0,
    ],
  ])('before a tool call, %s', async (_name, payload, code) => {
    const answer = await machine.hook('PreToolUse', payload)
    expect(answer).toMatchObject({ code, stdout: '' })
    if (code === 2) expect(answer.stderr.length).toBeGreaterThan(10)
  })

  it('of 5 MB is decided, never let through unread', async () => {
    const answer = await machine.hook('PreToolUse', huge)
    expect(answer.code).toBe(2)
    const small = JSON.stringify({
      ...preToolUse('S1', 'w1'),
      tool_name: 'Write',
      tool_input: { file_path: '/home/dev/project/big.txt', content: 'x'.repeat(5_000_000) },
    })
    expect((await machine.hook('PreToolUse', small)).code).toBe(0)
  })

  it('with invalid UTF-8 blocks the call', async () => {
    const text = JSON.stringify(preToolUse('S1', 'c1', 'PLACE'))
    const bytes = Buffer.concat([
      Buffer.from(text.split('PLACE')[0] ?? ''),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(text.split('PLACE')[1] ?? ''),
    ])
    expect(await machine.hook('PreToolUse', bytes)).toMatchObject({ code: 2, stdout: '' })
  })

  it.each([
    ['empty', ''],
    ['garbage', 'nonsense'],
    ['without a session', JSON.stringify({ ...postToolUse('S1', 'c1'), session_id: undefined })],
  ])('after one, %s: said, but never as a block', async (_name, payload) => {
    const answer = await machine.hook('PostToolUse', payload)
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    expect(answer.stderr.length).toBeGreaterThan(10)
  })

  it('leaves no record of what was refused', async () => {
    await machine.hook('PreToolUse', '{"session_id":"S1","session_id":"S2"}')
    expect(await machine.sql('SELECT count(*) FROM runs')).toEqual([[0]])
  })
})

it('outlives the terminal it was started from', async () => {
  await machine.cli('down')
  const shell = spawn('/bin/sh', ['-c', `"${process.execPath}" "${CLI}" up; exit 0`], {
    env: machine.env(),
    detached: true,
    stdio: 'ignore',
  })
  await new Promise((done) => shell.once('exit', done))
  // What a closing terminal does to everything that is still its own.
  try {
    process.kill(-(shell.pid ?? 0), 'SIGHUP')
  } catch {
    // Nothing of it is left: that is the point.
  }
  expect((await machine.hook('PreToolUse', preToolUse('S1', 'c1'))).code).toBe(0)
  expect((await machine.cli('status')).status).toBe(0)
})
