// Configuration and policy change while the collector runs: both or neither, behind a signed record, and a bad file changes nothing.
import { createHash } from 'node:crypto'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { attribute } from '../../conventions/otlp.ts'
import type { RecordOf, RecordType } from '../../conventions/record.ts'
import { Backend } from '../support/backend.ts'
import { Collector, postToolUse, preToolUse } from '../support/collector.ts'
import { scrape, total } from '../telemetry/support.ts'

const BASE = 'version: 1\notlp: {port: 0}\n'
const PASS = 'spanseal/1 pass\n'
/** Denies what runs `word`. */
const denying = (word: string) =>
  `version: 1\nextends: builtin:coding\nrules:\n  - {id: NO-${word.toUpperCase()}, when: {run: ${word}}, then: deny, reason: not now}\n`

let collector: Collector
let backend: Backend | undefined
beforeEach(async () => {
  collector = await new Collector({ config: BASE }).start()
})
afterEach(async () => {
  await collector.remove()
  await backend?.stop()
  backend = undefined
})

const write = (name: 'config.yaml' | 'policy.yaml', text: string) => writeFileSync(`${collector.root}/${name}`, text)
const ask = async (id: string, command: string) =>
  (await collector.hook('PreToolUse', preToolUse('S1', id, command))).body
const of = <T extends RecordType>(type: T) =>
  collector.records().filter((record): record is Extract<typeof record, RecordOf<T>> => record.type === type)

interface Result {
  status: number
  outcome: string
  changed: string[]
  errors: string[]
}

async function reload(): Promise<Result> {
  const { status, body } = await collector.admin('POST', '/reload')
  return { status, ...JSON.parse(body) }
}

it('a new policy decides the next call, behind a signed record with the hash of the old and the new one', async () => {
  expect(await ask('c1', 'make all')).toBe(PASS)
  expect(await reload()).toMatchObject({ status: 200, outcome: 'unchanged' })
  write('policy.yaml', denying('make'))
  expect(await reload()).toEqual({ status: 200, outcome: 'changed', changed: ['policy'], errors: [] })
  expect(await ask('c2', 'make all')).toContain('NO-MAKE')
  const [first, second] = of('policy.loaded')
  expect(of('policy.loaded')).toHaveLength(2)
  expect(second?.body).toMatchObject({ origin: 'file', previous: first?.body.policy_hash })
  expect(of('tool.decided').map(({ body }) => body.policy_hash)).toEqual([
    first?.body.policy_hash,
    second?.body.policy_hash,
  ])
  rmSync(`${collector.root}/policy.yaml`)
  expect(await reload()).toMatchObject({ changed: ['policy'] })
  expect(await ask('c3', 'make all')).toBe(PASS)
  await collector.stop()
  expect(await collector.verify()).toMatchObject({ status: 'intact', exit: 0 })
})

it('a new policy is what is said of calls that others report from then on', async () => {
  const report = async (id: string) => {
    const attributes = [
      attribute('gen_ai.operation.name', 'execute_tool'),
      attribute('gen_ai.tool.name', 'Bash'),
      attribute('gen_ai.tool.call.id', id),
      attribute('gen_ai.tool.call.arguments', '{"command":"make all"}'),
      attribute('session.id', 'theirs'),
    ]
    const span = { traceId: 'a'.repeat(32), spanId: id.padStart(16, '0'), name: 'execute_tool Bash', attributes }
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })
    const headers = { 'content-type': 'application/json' }
    await fetch(`${collector.endpoint().otlp}/v1/traces`, { method: 'POST', headers, body })
    return (await collector.sql(`SELECT would FROM tool_calls WHERE call_id = '${id}'`)).rows
  }
  expect(await report('1')).toEqual([['would_allow']])
  write('policy.yaml', denying('make'))
  expect(await reload()).toMatchObject({ changed: ['policy'] })
  expect(await report('2')).toEqual([['would_deny']])
})

it('a file with errors changes nothing: every error of both files, with file and field, and no record', async () => {
  write('policy.yaml', denying('make'))
  await reload()
  const before = collector.records().length
  write('policy.yaml', `${denying('make')}  - {id: X, when: {nothing: 1}, then: perhaps}\n`)
  write('config.yaml', `${BASE}forward: [{name: "A B", url: ftp://x}]\nextra: 1\n`)
  const refused = await reload()
  expect(refused).toMatchObject({ status: 422, outcome: 'refused', changed: [] })
  for (const part of [
    'config.yaml: forward.0.name',
    'config.yaml: forward.0.url',
    'extra',
    'policy.yaml: rules[1].then',
  ])
    expect(refused.errors.join('\n')).toContain(part)
  expect(await ask('c1', 'make all')).toContain('NO-MAKE')
  expect(
    collector
      .records()
      .slice(before)
      .map(({ type }) => type),
  ).not.toContain('policy.loaded')
  expect(total(await scrape(collector), 'spanseal_config_reloads_total', { spanseal_outcome: 'refused' })).toBe(1)
})

it('one bad file keeps the other, good one out as well', async () => {
  write('policy.yaml', denying('make'))
  write('config.yaml', 'version: 1\notlp: {port: 0}\nforward: 7\n')
  expect((await reload()).outcome).toBe('refused')
  expect(await ask('c1', 'make all')).toBe(PASS)
  write('config.yaml', BASE)
  chmodSync(`${collector.root}/config.yaml`, 0o600)
  expect(await reload()).toMatchObject({ outcome: 'changed', changed: ['policy'] })
  expect(await ask('c2', 'make all')).toContain('NO-MAKE')
})

it('says what only a start can change, and what can not be reached or is ourselves', async () => {
  const { otlp } = collector.endpoint()
  write('config.yaml', 'version: 1\notlp: {port: 1}\nfast: {port: 2}\nuser_home: /home/other\n')
  const { errors } = await reload()
  for (const field of ['otlp', 'fast', 'user_home'])
    expect(errors.join('\n')).toMatch(new RegExp(`${field}: can't change while`))
  write(
    'config.yaml',
    `${BASE}forward: [{name: a, url: "${otlp}"}, {name: a, url: "http://127.0.0.1:9"}]\nmetrics: {url: "${otlp}/v1/metrics"}\n`,
  )
  const again = (await reload()).errors.join('\n')
  for (const part of ['forward.a.url: is this', 'forward.a.name: is there twice', 'metrics.url: is this'])
    expect(again).toContain(part)
  write('config.yaml', `${BASE}forward: [{name: a, url: "http://127.0.0.1:9", headers: {"x y": SECRET-TOKEN}}]\n`)
  const header = (await reload()).errors.join('\n')
  expect(header).toContain('header')
  expect(header).not.toContain('SECRET-TOKEN')
})

it('never repeats what stands in a file: a broken line with a header in it is named by its place', async () => {
  write(
    'config.yaml',
    `${BASE}forward: [{name: a, url: "http://127.0.0.1:9", headers: {authorization: SECRET-TOKEN: x}}\n`,
  )
  const { errors } = await reload()
  expect(errors.join()).toMatch(/config\.yaml: line 3, column \d+/)
  expect(errors.join()).not.toContain('SECRET-TOKEN')
  expect(collector.stderr).not.toContain('SECRET-TOKEN')
})

it('SIGHUP does the same, and says in its log what came of it', async () => {
  write('policy.yaml', denying('make'))
  collector.child?.kill('SIGHUP')
  for (let i = 0; of('policy.loaded').length < 2; i++) {
    if (i > 200) throw new Error('nothing happened')
    await sleep(25)
  }
  expect(await ask('c1', 'make all')).toContain('NO-MAKE')
  write('policy.yaml', 'rules: 1')
  collector.child?.kill('SIGHUP')
  for (let i = 0; !collector.stderr.includes('reload refused'); i++) {
    if (i > 200) throw new Error('nothing was said')
    await sleep(25)
  }
  expect(collector.stderr).toContain('a new policy is in force')
  expect(await ask('c2', 'make all')).toContain('NO-MAKE')
})

it('a destination that is added gets everything, one that is taken out nothing more; headers stay out of the records', async () => {
  backend = await new Backend().start()
  const sent = async (more: number) => {
    const before = backend?.spans().length ?? 0
    for (let i = 0; (backend?.spans().length ?? 0) < before + more; i++) {
      if (i > 200) throw new Error('no span came')
      await sleep(25)
    }
  }
  await ask('c1', 'ls')
  await collector.hook('PostToolUse', postToolUse('S1', 'c1'))
  const to = `forward: [{name: test, url: "${backend.url}", headers: {authorization: SECRET-TOKEN}}]\n`
  write('config.yaml', `${BASE}${to}`)
  expect(await reload()).toMatchObject({ outcome: 'changed', changed: ['config'] })
  await sent(1)
  // The same destination with other headers goes on where it was.
  write('config.yaml', `${BASE}${to.replace('SECRET-TOKEN', 'OTHER-TOKEN')}`)
  expect(await reload()).toMatchObject({ changed: ['config'] })
  await ask('c2', 'ls')
  await collector.hook('PostToolUse', postToolUse('S1', 'c2'))
  await sent(1)
  const ids = backend.spans().map(({ spanId }) => spanId)
  write('config.yaml', BASE)
  expect(await reload()).toMatchObject({ changed: ['config'] })
  await ask('c3', 'ls')
  await collector.hook('PostToolUse', postToolUse('S1', 'c3'))
  await sleep(500)
  expect(new Set(backend.spans().map(({ spanId }) => spanId)).size).toBe(new Set(ids).size)
  expect(await collector.status()).toMatchObject({ forward: [] })

  const loaded = of('config.loaded').map(({ body }) => body)
  expect(loaded.map(({ previous }) => previous)).toEqual([
    undefined,
    ...loaded.slice(0, -1).map((each) => each.config_hash),
  ])
  expect(loaded.at(-1)?.config_hash).toBe(loaded[0]?.config_hash)
  expect(new Set(loaded.map((each) => each.config_hash)).size).toBe(3)
  const all = JSON.stringify(collector.records()) + collector.stderr
  for (const token of ['SECRET-TOKEN', 'OTHER-TOKEN', backend.url]) expect(all).not.toContain(token)
})

it('programs with a token come and go', async () => {
  const { otlp } = collector.endpoint()
  const question = { agent: 'a', session: 's', call: 'c', tool: 'Bash', arguments: { command: 'ls' } }
  const status = async () => {
    const headers = { authorization: 'Bearer T', 'content-type': 'application/json' }
    return (await fetch(`${otlp}/v1/gate`, { method: 'POST', headers, body: JSON.stringify(question) })).status
  }
  expect(await status()).toBe(401)
  const hash = createHash('sha256').update('T').digest('hex')
  write('config.yaml', `${BASE}apps: [{name: app, kind: sdk, token_sha256: "${hash}"}]\n`)
  await reload()
  expect(await status()).toBe(200)
  write('config.yaml', BASE)
  await reload()
  expect(await status()).toBe(401)
})

it('a call that is held stays held over a reload and can be answered', async () => {
  const id = /^spanseal\/1 hold (\S+)\n/.exec(await ask('c1', 'git push origin main'))?.[1]
  const waiting = collector.get(`/hook/wait/${id}`)
  write('policy.yaml', denying('make'))
  expect((await reload()).outcome).toBe('changed')
  expect((await collector.admin('POST', `/approvals/${id}/approve`)).status).toBe(200)
  expect((await waiting).body).toBe(PASS)
})

it('while calls come in, each is decided by the policy whose record stands before it', async () => {
  let running = true
  const calls = Promise.all(
    Array.from({ length: 4 }, async (_, worker) => {
      for (let i = 0; running; i++) await ask(`w${worker}-${i}`, 'make all')
    }),
  )
  for (let i = 0; i < 12; i++) {
    if (i % 2 === 0) write('policy.yaml', denying('make'))
    else rmSync(`${collector.root}/policy.yaml`)
    expect((await reload()).changed).toEqual(['policy'])
  }
  running = false
  await calls
  let inForce = ''
  for (const { type, body } of collector.records()) {
    if (type === 'policy.loaded') inForce = body.policy_hash
    if (type === 'tool.decided') expect(body.policy_hash).toBe(inForce)
  }
  expect(of('policy.loaded')).toHaveLength(13)
  expect(of('tool.decided').length).toBeGreaterThan(12)
})

it('a start says which configuration and policy it found changed, and only then', async () => {
  await collector.stop()
  await collector.start()
  expect([of('policy.loaded').length, of('config.loaded').length]).toEqual([1, 1])
  await collector.stop()
  write('config.yaml', `${BASE}resource_attributes: {team: a}\n`)
  await collector.start()
  expect([of('policy.loaded').length, of('config.loaded').length]).toEqual([1, 2])
})
