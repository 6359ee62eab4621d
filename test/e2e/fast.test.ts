// The door of the http hooks, installed with `init --fast`, at the built collector: what it answers, to whom, and what brings it back.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryOf } from '../../collector/store/log-files.ts'
import { readFrames } from '../../collector/store/segments.ts'
import { LOG_START } from '../../conventions/log.ts'
import type { RecordOf, RecordType } from '../../conventions/record.ts'
import { event, postToolUse, preToolUse } from '../support/collector.ts'
import { FastUser, freePort, otherProgram } from '../support/fast-user.ts'

const PASS = expect.objectContaining({ status: 200, body: '{}' })
const PUSH = 'git push origin main'

let user: FastUser
beforeAll(async () => {
  user = await new FastUser().ready()
  const { status, stderr } = await user.run(user.initFast)
  if (status !== 0) throw new Error(stderr)
})
afterAll(() => user.remove())

function records<T extends RecordType>(type: T, session?: string): RecordOf<T>[] {
  const all = readFrames(`${user.home}/log`, LOG_START, Number.POSITIVE_INFINITY).map((frame) => entryOf(frame).record)
  const runs = all.flatMap((one) => (one.type === 'run.opened' && one.body.session === session ? [one.run?.id] : []))
  return all.filter(
    (one) => one.type === type && (session === undefined || runs.includes(one.run?.id)),
  ) as RecordOf<T>[]
}

const heartbeatGaps = (session: string) =>
  records('gap', session).flatMap(({ body }) => (body.kind === 'heartbeat_missing' ? [body] : []))
const fastUrl = async () => ((await user.json(['status'])) as { fast: string | null }).fast
const saying = (body: string) => JSON.parse(body).hookSpecificOutput

describe('answers', () => {
  it('allow: an empty object; deny: in the agent’s own words; both are on disk by then', async () => {
    expect(await user.post('PreToolUse', preToolUse('answers', 'c1'))).toEqual(PASS)
    expect(records('tool.decided', 'answers').map(({ call, body }) => [call?.id, body.decision])).toEqual([
      ['c1', 'allow'],
    ])
    const denied = await user.post('PreToolUse', preToolUse('answers', 'c2', 'rm -rf ~'))
    expect(denied.status).toBe(200)
    expect(saying(denied.body)).toEqual({
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('CO-'),
    })
    expect(await user.post('PostToolUse', postToolUse('answers', 'c1'))).toEqual(PASS)
    const failed = { ...postToolUse('answers', 'c3'), hook_event_name: 'PostToolUseFailure', error: 'Exit code 3' }
    expect(await user.post('PostToolUseFailure', failed)).toEqual(PASS)
    expect(records('tool.completed', 'answers').map(({ call, body }) => [call?.id, body.status])).toEqual([
      ['c1', 'ok'],
      ['c3', 'error'],
    ])
    const [decided] = records('tool.decided', 'answers')
    expect([decided?.tier, decided?.source]).toEqual([
      'T1',
      expect.objectContaining({ kind: 'hook', way: 'http', event: 'PreToolUse' }),
    ])
  })

  it('a held call waits in its one request, for a yes and for a no', async () => {
    for (const [call, answer] of [
      ['h1', 'approve'],
      ['h2', 'reject'],
    ] as const) {
      const waiting = user.post('PreToolUse', preToolUse('held', call, PUSH))
      const approval = await approvalOf(call)
      expect(await Promise.race([waiting, sleep(200)])).toBe(undefined)
      expect((await user.run(['approvals', answer, approval])).status).toBe(0)
      const got = await waiting
      if (answer === 'approve') expect(got).toEqual(PASS)
      else expect(saying(got.body)).toMatchObject({ permissionDecision: 'deny' })
    }
    expect(records('approval.consumed', 'held').map(({ call }) => call?.id)).toEqual(['h1'])
  })

  it('a call whose agent has gone is held for nobody: its approval lets nothing through', async () => {
    const gone = new AbortController()
    const waiting = user.post('PreToolUse', preToolUse('gone', 'g1', PUSH), { signal: gone.signal })
    const approval = await approvalOf('g1')
    gone.abort()
    await expect(waiting).rejects.toThrow()
    for (let i = 0; i < 100 && records('approval.expired', 'gone').length === 0; i++) await sleep(100)
    expect(records('approval.expired', 'gone').map(({ body }) => body.reason)).toEqual(['abandoned'])
    expect((await user.run(['approvals', 'approve', approval])).status).not.toBe(0)
  })

  it('what can’t be read stops the call, and of a result says that it failed', async () => {
    for (const payload of ['', 'x', '{"a":1,"a":2}', JSON.stringify(preToolUse('', 'c1'))]) {
      const { status, body } = await user.post('PreToolUse', payload)
      expect([status, saying(body).permissionDecision]).toEqual([200, 'deny'])
      expect(await user.post('PostToolUse', payload)).toMatchObject({ status: 503, body: '' })
    }
    const large = await user.post('PreToolUse', JSON.stringify(preToolUse('large', 'c1', 'x'.repeat(17 * 1024 * 1024))))
    expect(saying(large.body).permissionDecisionReason).toContain('larger than')
  })
})

it('a connection is used once: an agent never sends into one that is just closing', async () => {
  const { headers } = await user.post('PreToolUse', preToolUse('once', 'c1'))
  expect(headers.connection).toBe('close')
})

describe('the door takes hook events from whoever holds the token, and nothing else', () => {
  const call = preToolUse('intruder', 'c1')
  it.each<[string, number, Parameters<FastUser['post']>[2]]>([
    ['no token', 401, { headers: { Authorization: '' } }],
    ['another token', 401, { headers: { Authorization: `Bearer ${'A'.repeat(43)}` } }],
    ['the token as something else', 401, { headers: { Authorization: 'Basic YTpi' } }],
    ['another Host', 403, { headers: { host: 'rebound.example:24318' } }],
    ['a Host without a port', 403, { headers: { host: 'evil.example' } }],
    ['a web page', 403, { headers: { origin: 'http://127.0.0.1:24318' } }],
    ['a page of no origin', 403, { headers: { origin: 'null' } }],
    ['another home', 403, { path: '/hook/claude-code/PreToolUse?mode=enforce&fail=closed&home=0123456789abcdef' }],
    ['no home', 403, { path: '/hook/claude-code/PreToolUse?mode=observe' }],
    ['GET', 404, { method: 'GET' }],
    ['OPTIONS', 404, { method: 'OPTIONS' }],
  ])('%s: %i', async (_name, status, change) => {
    const got = await user.post('PreToolUse', call, change)
    expect([got.status, got.body.includes('error')]).toEqual([status, true])
    expect(records('run.opened', 'intruder')).toEqual([])
  })

  it.each([
    '/hook/claude-code/SessionStart',
    '/hook/claude-code/UserPromptSubmit',
    '/hook/claude-code/ConfigChange',
    '/hook/claude-code/Stop',
    '/hook/another-agent/PreToolUse',
    '/hook/wait/apr-1',
    '/v1/gate',
    '/v1/gate/wait/apr-1',
    '/v1/traces',
    '/status',
    '/stop',
    '/approvals',
    '/approvals/apr-1/approve',
    '/sql',
    '/',
  ])('%s is not behind it, also with the token', async (path) => {
    const { search } = new URL(user.entry('PreToolUse').url)
    for (const method of ['POST', 'GET']) {
      const got = await user.post('PreToolUse', call, { method, path: `${path}${search}` })
      expect([path, method, got.status]).toEqual([path, method, 404])
    }
  })

  it('its token opens no other door', async () => {
    const { otlp } = (await user.json(['status'])) as { otlp: string }
    const gate = await user.post(
      'PreToolUse',
      { agent: 'a', session: 'intruder', call: 'c', tool: 'Bash' },
      { path: `${otlp}/v1/gate` },
    )
    expect(gate.status).toBe(401)
    expect(records('run.opened', 'intruder')).toEqual([])
  })
})

describe('the heartbeat', () => {
  it('a run whose calls come by http while no command hook is heard says so, once', async () => {
    for (const call of ['c1', 'c2']) await user.post('PreToolUse', preToolUse('silent', call))
    expect(heartbeatGaps('silent')).toEqual([{ kind: 'heartbeat_missing', count: 1 }])
    const [run] = ((await user.json(['runs'])) as { session: string; ways: string[] }[]).filter(
      ({ session }) => session === 'silent',
    )
    expect(run).toMatchObject({ ways: ['http'] })
    const shown = await user.run(['show', 'silent'])
    expect(shown.stdout).toContain('gap: heartbeat missing')
  })

  it('one whose command hooks are heard does not, before and after a restart', async () => {
    await user.hook('SessionStart', event('heard', 'SessionStart', { source: 'startup' }))
    await user.hook('UserPromptSubmit', event('heard', 'UserPromptSubmit', { prompt: 'Go on.' }))
    await user.post('PreToolUse', preToolUse('heard', 'c1'))
    await user.run(['down'])
    await user.run(['up'])
    await user.post('PreToolUse', preToolUse('heard', 'c2'))
    expect(heartbeatGaps('heard')).toEqual([])
    const ways = (await user.json(['runs'])) as { session: string; ways: string[] }[]
    expect(ways.find(({ session }) => session === 'heard')?.ways).toEqual(['http', 'sh'])
  })

  it.each(['SessionStart', 'UserPromptSubmit', 'Stop', 'ConfigChange', 'PostToolBatch'])(
    'nobody listens: the call fails; %s brings the collector back, and its door',
    async (name) => {
      await user.run(['down'])
      await expect(user.post('PreToolUse', preToolUse('healed', 'c1'))).rejects.toThrow('ECONNREFUSED')
      await user.hook(name, event('healed', name, { source: 'startup', prompt: 'x', tool_calls: [] }))
      expect(await user.post('PreToolUse', preToolUse('healed', `after-${name}`))).toEqual(PASS)
    },
  )

  it('another program had the port: the door opens with the next command hook after it has gone', async () => {
    await user.run(['down'])
    const other = await otherProgram(user.port)
    await user.run(['up'])
    expect(await fastUrl()).toBe(null)
    await user.hook('UserPromptSubmit', event('port', 'UserPromptSubmit', { prompt: 'x' }))
    expect(await fastUrl()).toBe(null)
    await other.close()
    await user.hook('UserPromptSubmit', event('port', 'UserPromptSubmit', { prompt: 'y' }))
    expect(await fastUrl()).toBe(`http://127.0.0.1:${user.port}`)
    expect(await user.post('PreToolUse', preToolUse('port', 'c1'))).toEqual(PASS)
  })

  it('a token that others could read opens no door', async () => {
    await user.run(['down'])
    chmodSync(`${user.home}/keys/http.token`, 0o640)
    await user.run(['up'])
    expect(await fastUrl()).toBe(null)
    chmodSync(`${user.home}/keys/http.token`, 0o600)
    await user.hook('UserPromptSubmit', event('loose', 'UserPromptSubmit', { prompt: 'x' }))
    expect(await fastUrl()).toBe(`http://127.0.0.1:${user.port}`)
  })
})

describe('a change of settings that sends our hooks to a proxy', () => {
  const change = async (env: object) => {
    const file = `${user.project}/other.json`
    writeFileSync(file, JSON.stringify({ env }))
    const { status, stderr } = await user.hook(
      'ConfigChange',
      event('proxied', 'ConfigChange', { file_path: file, source: 'project_settings' }),
    )
    return `${status} ${stderr.includes('hooks_proxied')}`
  }
  it.each([
    { HTTP_PROXY: 'http://proxy.example' },
    { https_proxy: 'http://proxy.example', NO_PROXY: 'localhost,example.com' },
    { https_proxy: 'http://proxy.example', NO_PROXY: '127.0.0.1', no_proxy: '' },
    { NO_PROXY: '' },
  ])('%j is refused', async (env) => {
    expect(await change(env)).toBe('2 true')
  })
  it.each([{ A: 'b' }, { HTTP_PROXY: 'http://proxy.example', no_proxy: 'localhost, 127.0.0.1' }, { NO_PROXY: '*' }])(
    '%j is not',
    async (env) => {
      expect(await change(env)).toBe('0 false')
    },
  )
})

describe('the doctor', () => {
  const found = async () => {
    const { stdout } = await user.run(['doctor', '--json'])
    const { checks } = JSON.parse(stdout) as { checks: { id: string; status: string; detail: string }[] }
    return checks
      .filter(({ id, status }) => id.startsWith('fast.') && status !== 'ok')
      .map(({ id, status }) => `${id} ${status}`)
  }

  it('is content with what init made, check by check', async () => {
    const { status, stdout } = await user.run(['doctor', '--json'])
    expect(status).toBe(0)
    const ids = (JSON.parse(stdout) as { checks: { id: string }[] }).checks.map(({ id }) => id)
    expect(ids.slice(-6)).toEqual([
      'hooks.canary',
      'fast.port',
      'fast.token',
      'fast.settings',
      'fast.proxy',
      'fast.agent',
    ])
    expect(stdout).not.toContain(readFileSync(`${user.home}/keys/http.token`, 'utf8').trim())
  })

  it('says when the port is another program’s', async () => {
    await user.run(['down'])
    const other = await otherProgram(user.port)
    expect(await found()).toEqual(['fast.port fail'])
    await other.close()
    await user.run(['down'])
    const config = readFileSync(`${user.home}/config.yaml`, 'utf8')
    writeFileSync(`${user.home}/config.yaml`, config.replace(String(user.port), String(await freePort())))
    expect(await found()).toEqual(['fast.port fail'])
    await user.run(['down'])
    writeFileSync(`${user.home}/config.yaml`, config)
    expect(await found()).toEqual([])
  })

  it('says when the token is another, loose or gone', async () => {
    const file = `${user.home}/keys/http.token`
    const kept = readFileSync(file, 'utf8')
    writeFileSync(file, `${'B'.repeat(43)}\n`)
    expect(await found()).toEqual(['fast.token fail'])
    writeFileSync(file, kept)
    chmodSync(file, 0o604)
    expect(await found()).toEqual(['fast.token fail'])
    rmSync(file)
    expect(await found()).toEqual(['fast.token fail'])
    writeFileSync(file, kept, { mode: 0o600 })
    expect(await found()).toEqual([])
  })

  it('says when others can read the settings, when a proxy is in the way, when an agent is too old', async () => {
    chmodSync(user.settings, 0o644)
    expect(await found()).toEqual(['fast.settings fail'])
    chmodSync(user.settings, 0o600)
    const { stdout } = await user.run(['doctor', '--json'], { env: { HTTP_PROXY: 'http://proxy.example:3128' } })
    expect(stdout).toContain('"fast.proxy"')
    expect(stdout).toContain('HTTP_PROXY is set')
    user.agent(`${user.userHome}/.local/bin`, 'echo "2.1.200 (Claude Code)"')
    expect(await found()).toEqual(['fast.agent fail'])
    user.agent(`${user.userHome}/.local/bin`, 'echo "2.1.332 (Claude Code)"')
  })
})

async function approvalOf(call: string): Promise<string> {
  for (let i = 0; i < 200; i++) {
    const found = records('approval.requested').find((record) => record.call?.id === call)
    if (found !== undefined) return found.body.approval
    await sleep(50)
  }
  throw new Error(`no approval was asked for ${call}`)
}
