// The approvals webhook: what it is told, signed how, and what it does when it is not taken. The server is a stand-in.
import { createHmac } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Notice, Webhook } from '../collector/webhook.ts'
import { Collector, event, preToolUse } from './support/collector.ts'

/** Sending crosses processes and, in one test, a collector's start. */
const SENT = { timeout: 20_000 }

interface Got {
  headers: IncomingHttpHeaders
  body: string
}

let got: Got[]
let statuses: number[]
let server: Server
let url: string
let folder: string
let outcomes: string[]
let lines: string[]
beforeEach(async () => {
  got = []
  statuses = []
  outcomes = []
  lines = []
  folder = mkdtempSync(join(tmpdir(), 'spanseal-webhook-'))
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      got.push({ headers: request.headers, body })
      response.writeHead(statuses.shift() ?? 200, { location: 'http://127.0.0.1:1/' })
      response.end('words of the other side')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  rmSync(folder, { recursive: true })
})

const webhook = (retryMs: number[] = [1, 1, 1]) =>
  new Webhook({ onOutcome: (outcome) => outcomes.push(outcome), log: (line) => lines.push(line), retryMs })

const notice = (approval: string): Notice => ({
  event: 'approval.requested',
  log: 'l',
  approval,
  agent: 'claude-code',
  session: 's',
  tool: 'Bash',
  rules: ['R-1'],
  requested: '2026-11-30T12:00:00.000Z',
  expires: '2026-11-30T12:09:00.000Z',
})

it('sends each notice once, in order, and signs it with the secret of the file', async () => {
  const secret_file = join(folder, 'secret')
  writeFileSync(secret_file, 'a secret of the team\n', { mode: 0o600 })
  const hook = webhook()
  hook.tell(notice('before'))
  hook.set({ url, secret_file })
  for (const id of ['a', 'b', 'c']) hook.tell(notice(id))
  await vi.waitFor(() => expect(outcomes).toEqual(['sent', 'sent', 'sent']), SENT)
  expect(got.map(({ body }) => JSON.parse(body).approval)).toEqual(['a', 'b', 'c'])
  for (const { headers, body } of got) {
    const [, time, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['spanseal-signature'])) ?? []
    expect(hex).toBe(createHmac('sha256', 'a secret of the team').update(`${time}.${body}`).digest('hex'))
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60)
  }
})

it('tries again what may pass, gives up what does not, and says so once', async () => {
  const hook = webhook()
  hook.set({ url })
  statuses = [500, 429, 200, 404, 302, 503, 503, 503, 503]
  for (const id of ['a', 'b', 'c', 'd']) hook.tell(notice(id))
  await vi.waitFor(() => expect(outcomes).toEqual(['sent', 'failed', 'failed', 'failed']), SENT)
  expect(got.map(({ body }) => JSON.parse(body).approval)).toEqual(['a', 'a', 'a', 'b', 'c', 'd', 'd', 'd', 'd'])
  expect(lines).toEqual([
    'the approvals webhook: HTTP 500',
    'the approvals webhook: HTTP 429',
    'the approvals webhook works again',
    'the approvals webhook: HTTP 404',
    'the approvals webhook: HTTP 302',
    'the approvals webhook: HTTP 503',
  ])
})

it('holds a bounded number, counts what it drops, and forgets all where it is switched off', async () => {
  const hook = webhook([60_000])
  hook.set({ url: 'http://127.0.0.1:9/' })
  for (let i = 0; i < 300; i++) hook.tell(notice(`n${i}`))
  expect(outcomes).toEqual(Array.from({ length: 43 }, () => 'dropped'))
  hook.set(undefined)
  hook.tell(notice('after'))
  expect(outcomes).toHaveLength(43)
})

it('sends nothing unsigned where the secret can’t be read or others may read it', async () => {
  const secret_file = join(folder, 'secret')
  writeFileSync(secret_file, 'x', { mode: 0o600 })
  chmodSync(secret_file, 0o644)
  const hook = webhook([])
  hook.set({ url, secret_file })
  hook.tell(notice('a'))
  hook.set({ url, secret_file: join(folder, 'none') })
  hook.tell(notice('b'))
  await vi.waitFor(() => expect(outcomes).toEqual(['failed', 'failed']), SENT)
  expect(got).toEqual([])
  expect(lines.join()).toContain('approvals.webhook.secret_file')
})

it('is told by the built collector, without what the call would do; the hook does not wait for it', async () => {
  const config = `version: 1\notlp: {port: 0}\napprovals: {webhook: {url: "${url}"}}\n`
  const collector = await new Collector({ config }).start()
  try {
    await collector.hook('UserPromptSubmit', event('S1', 'UserPromptSubmit', { prompt: 'Do not touch marzipan.py' }))
    const held = await collector.hook('PreToolUse', preToolUse('S1', 'c1', 'rm marzipan.py'))
    const [, approval] = /^spanseal\/1 hold (\S+)\n/.exec(held.body) ?? []
    await vi.waitFor(() => expect(got).toHaveLength(1), SENT)
    expect(JSON.parse(got[0]?.body ?? '')).toMatchObject({
      event: 'approval.requested',
      approval,
      agent: 'claude-code',
      session: 'S1',
      tool: 'Bash',
      rules: expect.arrayContaining(['SP-CONSTRAINT']),
    })
    expect(got[0]?.body).not.toContain('marzipan')
    expect(got[0]?.headers['spanseal-signature']).toBeUndefined()
    // What waited before a start is not told again; a server that is gone keeps no hook.
    await collector.stop()
    server.closeAllConnections()
    await collector.start()
    expect(got).toHaveLength(1)
  } finally {
    await collector.remove()
  }
})
