// The other doors: the gate as an open protocol, with and without tokens, and OTLP from real exporters as T3.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AnyRecord } from '../../conventions/record.ts'
import { Backend, text } from '../support/backend.ts'
import { Collector, postToolUse, preToolUse } from '../support/collector.ts'

const TOKENS = { sdk: 'token-of-the-sdk', gateway: 'token-of-the-gateway' }
const sha256 = (value: string) => createHash('sha256').update(value).digest('hex')

let backend: Backend
let collector: Collector
beforeAll(async () => {
  backend = await new Backend().start()
  collector = await new Collector({
    config: `version: 1
otlp: {port: 0}
forward: [{name: test, url: "${backend.url}"}]
apps:
  - {name: app, kind: sdk, token_sha256: "${sha256(TOKENS.sdk)}"}
  - {name: proxy, kind: gateway, token_sha256: "${sha256(TOKENS.gateway)}"}
`,
  }).start()
})
afterAll(async () => {
  await collector.remove()
  await backend.stop()
})

const ask = (more: object = {}) => ({
  agent: 'my-agent',
  session: 'g1',
  turn: 't1',
  call: 'c1',
  tool: 'Bash',
  arguments: { command: 'ls' },
  cwd: '/home/dev/project',
  ...more,
})
const of = (session: string): AnyRecord[] => {
  const opened = collector.records().find((record) => record.type === 'run.opened' && record.body.session === session)
  return collector.records().filter((record) => record.run?.id === opened?.run?.id)
}
const overTcp = (body: object, token?: string) =>
  fetch(`${collector.endpoint().otlp}/v1/gate`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })

it('gives the record of the hook, but for its source, to the adapter’s output posted with curl', () => {
  const payload = (session: string) => JSON.stringify(preToolUse(session, 'same', 'git push --force origin main'))
  const socket = ['-q', '-s', '--unix-socket', `${collector.root}/run/hook.sock`]
  execFileSync('curl', [
    ...socket,
    '-X',
    'POST',
    '-d',
    payload('door-1'),
    'http://localhost/hook/claude-code/PreToolUse?mode=enforce&fail=closed',
  ])
  const otlp = spawnSync(
    process.execPath,
    [resolve('dist/spanseal.mjs'), 'hook', 'claude-code', 'PreToolUse', '--print-otlp'],
    { input: payload('door-2'), encoding: 'utf8' },
  )
  expect(otlp.status, otlp.stderr).toBe(0)
  execFileSync('curl', [...socket, '-X', 'POST', '-d', otlp.stdout, 'http://localhost/v1/gate'])
  const plain = (session: string) =>
    of(session).map(({ log, run, time, trace, source, commit, body, ...rest }) => ({
      ...rest,
      commit: commit?.map(({ n }) => n),
      source: { event: source.event },
      body: { ...body, session: '', ordinal: 0, span_parent: '' },
    }))
  expect(plain('door-2')).toEqual(plain('door-1'))
  expect(of('door-1').some(({ type }) => type === 'tool.decided')).toBe(true)
  expect([of('door-1')[0]?.source.kind, of('door-2')[0]?.source.kind]).toEqual(['hook', 'sdk'])
})

it('answers with receipts whose leaf and bytes are those in the log', async () => {
  const answer = JSON.parse((await collector.gate(ask())).body)
  expect(answer.decision).toBe('allow')
  const decided = of('g1').find(({ type }) => type === 'tool.decided')
  const receipt = answer.receipts.at(-1)
  expect(JSON.parse(receipt.record)).toEqual(JSON.parse(JSON.stringify(decided)))
  expect(
    createHash('sha256')
      .update(Buffer.concat([Buffer.of(0), Buffer.from(receipt.record)]))
      .digest('base64'),
  ).toBe(receipt.leaf)
})

it('denies and holds over the same door', async () => {
  const denied = JSON.parse(
    (await collector.gate(ask({ call: 'c2', arguments: { command: 'git push --force origin main' } }))).body,
  )
  expect(denied).toMatchObject({ decision: 'deny', reason: expect.any(String) })
  const held = JSON.parse(
    (await collector.gate(ask({ call: 'c3', arguments: { command: 'git push origin main' } }))).body,
  )
  expect(held).toMatchObject({ decision: 'hold', approval: expect.stringMatching(/^apr-/) })
  const waiting = collector.get(held.wait)
  await collector.admin('POST', `/approvals/${held.approval}/approve`)
  expect(JSON.parse((await waiting).body).decision).toBe('allow')
})

it('takes nothing over TCP without a token, and gives each token its tier', async () => {
  expect((await overTcp(ask())).status).toBe(401)
  expect((await overTcp(ask(), 'wrong')).status).toBe(401)
  expect((await overTcp(ask({ session: 'tcp-sdk' }), TOKENS.sdk)).status).toBe(200)
  expect((await overTcp(ask({ session: 'tcp-gw' }), TOKENS.gateway)).status).toBe(200)
  expect(of('tcp-sdk').find(({ type }) => type === 'tool.decided')).toMatchObject({
    tier: 'T1',
    source: { kind: 'sdk', adapter: 'app' },
  })
  expect(of('tcp-gw').find(({ type }) => type === 'tool.decided')).toMatchObject({
    tier: 'T2',
    source: { kind: 'gateway', adapter: 'proxy' },
  })
})

it('gives the answer to a held call to who asked, and to nobody else', async () => {
  const push = { session: 'tcp-held', call: 'c1', arguments: { command: 'git push origin main' } }
  const held = JSON.parse(await (await overTcp(ask(push), TOKENS.sdk)).text())
  expect(held).toMatchObject({ decision: 'hold' })
  const wait = (token: string) =>
    fetch(`${collector.endpoint().otlp}${held.wait}`, { headers: { authorization: `Bearer ${token}` } })
  const waiting = wait(TOKENS.sdk)
  expect((await collector.admin('POST', `/approvals/${held.approval}/approve`)).status).toBe(200)
  expect((await wait(TOKENS.gateway)).status).toBe(404)
  expect((await collector.get(held.wait)).status).toBe(404)
  // A hook must not read silence as an answer: it is told to block.
  expect((await collector.get(`/hook/wait/${held.approval}`)).body).toMatch(/^spanseal\/1 (block|fail)/)
  expect(JSON.parse(await (await waiting).text()).decision).toBe('allow')
  expect(of('tcp-held').filter(({ type }) => type === 'approval.consumed')).toHaveLength(1)
})

it('takes a result only with the arguments that ran', async () => {
  const call = { session: 'tcp-done', call: 'c1' }
  expect((await overTcp(ask(call), TOKENS.gateway)).status).toBe(200)
  const { arguments: _, ...done } = ask({ ...call, event: 'tool.after', result: 'ok' }) as { arguments: unknown }
  const refused = JSON.parse(await (await overTcp(done, TOKENS.gateway)).text())
  expect(refused).toMatchObject({ decision: 'deny', reason: expect.stringContaining('arguments') })
  expect(of('tcp-done').some(({ type }) => type === 'tool.completed')).toBe(false)
})

it('offers nothing of the admin door on the others', async () => {
  for (const path of ['/status', '/approvals', '/stop', '/sql', '/query']) {
    expect((await collector.get(path)).status, path).toBe(404)
    expect((await fetch(`${collector.endpoint().otlp}${path}`)).status, path).toBe(404)
  }
})

it.each([
  ['no JSON', '{', 400, 'strict JSON'],
  ['duplicate keys', '{"agent":"a","agent":"b"}', 400, 'twice'],
  ['a missing session', JSON.stringify({ agent: 'a' }), 400, 'session'],
  ['an unknown field', JSON.stringify({ ...ask(), extra: 1 }), 400, 'extra'],
  ['spans that are no spans', '{"resourceSpans":7}', 400, 'resourceSpans'],
])('says what is wrong with %s', async (_name, body, status, word) => {
  const reply = await collector.gate(body)
  expect(reply.status).toBe(status)
  expect(JSON.parse(reply.body).error).toContain(word)
})

it('links to the span of a sender that has a telemetry of its own', async () => {
  const attributes = Object.entries({
    'spanseal.claim.event': 'tool.before',
    'gen_ai.agent.name': 'traced',
    'gen_ai.conversation.id': 'traced-1',
    'gen_ai.tool.name': 'Bash',
    'gen_ai.tool.call.id': 'k1',
    'gen_ai.tool.call.arguments': '{"command":"ls"}',
  }).map(([key, stringValue]) => ({ key, value: { stringValue } }))
  const span = {
    traceId: 'abcdef01'.repeat(4),
    spanId: '12345678'.repeat(2),
    name: 'execute_tool Bash',
    startTimeUnixNano: '1',
    endTimeUnixNano: '0',
    attributes,
  }
  await collector.gate({ resourceSpans: [{ scopeSpans: [{ scope: { name: 'my-agent' }, spans: [span] }] }] })
  await collector.gate(
    ask({ agent: 'traced', session: 'traced-1', event: 'tool.after', call: 'k1', turn: undefined, result: 'ok' }),
  )
  const found = () =>
    backend.spans().find((sent) => sent.name === 'execute_tool Bash' && text(sent, 'gen_ai.tool.call.id') === 'k1')
  for (let i = 0; i < 200 && found() === undefined; i++) await new Promise((done) => setTimeout(done, 25))
  expect(found()?.links).toEqual([{ traceId: span.traceId, spanId: span.spanId }])
  expect(found()?.traceId).not.toBe(span.traceId)
  expect(text(found() ?? {}, 'spanseal.agent.trace_id')).toBe(span.traceId)
})

it('records spans of a real exporter as T3, one record a request, receipt only in every view', async () => {
  const exporter = new OTLPTraceExporter({ url: `${collector.endpoint().otlp}/v1/traces` })
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  for (let i = 0; i < 5; i++)
    tracer
      .startSpan(`chat ${i}`, {
        attributes: {
          'gen_ai.operation.name': 'chat',
          'spanseal.tier': 'T1',
          'gen_ai.input.messages': 'private words',
        },
      })
      .end()
  await provider.shutdown()
  const imported = collector.records().filter((record) => record.type === 'spans.imported')
  expect(imported).toHaveLength(1)
  expect(imported[0]).toMatchObject({
    tier: 'T3',
    source: { kind: 'otlp' },
    body: { count: 5, rejected: 0, encoding: 'protobuf', spoofed: 5 },
  })
  const { columns, rows } = await collector.sql('SELECT name, receipt_only FROM spans ORDER BY name')
  expect(columns).toContain('receipt_only')
  expect(rows).toHaveLength(5)
  expect(rows.every((row) => row[1] === true)).toBe(true)
  expect(collector.records().some((record) => record.type === 'gap' && record.body.kind === 'spoofed_attributes')).toBe(
    true,
  )
  await collector.sql('SELECT 1')
  expect(readFileSync(`${collector.root}/spanseal.duckdb`, 'latin1')).not.toContain('private words')
})

it('never takes a third party’s word for a result of a gated call', async () => {
  await collector.hook('PreToolUse', preToolUse('gap-1', 'open'))
  const attributes = [
    { key: 'gen_ai.tool.call.id', value: { stringValue: 'open' } },
    { key: 'gen_ai.operation.name', value: { stringValue: 'execute_tool' } },
  ]
  await fetch(`${collector.endpoint().otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: 'c'.repeat(32),
                  spanId: 'd'.repeat(16),
                  name: 'execute_tool Bash',
                  startTimeUnixNano: '1',
                  endTimeUnixNano: '2',
                  attributes,
                },
              ],
            },
          ],
        },
      ],
    }),
  })
  expect(of('gap-1').some(({ type }) => type === 'tool.completed')).toBe(false)
  await collector.hook('PostToolUse', postToolUse('gap-1', 'open'))
  expect(of('gap-1').some(({ type }) => type === 'tool.completed')).toBe(true)
})
