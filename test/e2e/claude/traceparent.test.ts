// Does an http hook's request carry the agent's trace context? A command hook's environment does, where the agent was told to hand it on.
// Looked at with the real Claude Code; only the model is a stand-in, and what answers the hook and the telemetry.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bash, Model } from './support/model.ts'
import { ClaudeUser, SESSION_MS } from './support/user.ts'

const user = new ClaudeUser()
const seen: { headers: IncomingHttpHeaders; body: string }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (chunk: string) => {
    body += chunk
  })
  request.on('end', () => {
    if (request.url === '/hook') seen.push({ headers: request.headers, body })
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
const inherited = () => readFileSync(`${user.project}/traceparent`, 'utf8')

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  mkdirSync(`${user.userHome}/.claude`)
  mkdirSync(`${user.project}/marks`)
  const hooks = [
    { type: 'http', url: `${url}/hook` },
    { type: 'command', command: `printf '%s' "$TRACEPARENT" > '${user.project}/traceparent'` },
  ]
  writeFileSync(
    user.settings,
    JSON.stringify({
      permissions: user.permissions,
      hooks: { PreToolUse: [{ hooks }] },
      env: {
        CLAUDE_CODE_ENABLE_TELEMETRY: '1',
        CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: '1',
        CLAUDE_CODE_PROPAGATE_TRACEPARENT: '1',
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
      },
    }),
  )
  const model = await new Model({ trace: [{ calls: [bash('traced')] }, { text: 'Done.' }] }).start()
  await user.claude(model, 'Go on. [[trace]]')
  await model.stop()
}, SESSION_MS)

afterAll(async () => {
  server.close()
  await user.remove()
})

it('a command hook inherits it', () => {
  expect(inherited()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
})

it('an http hook is not sent it, in no header and nowhere in its payload', () => {
  expect(user.marks('traced')).toBe(1)
  expect(seen).toHaveLength(1)
  const trace = inherited().split('-')[1] ?? 'none'
  for (const { headers, body } of seen) {
    expect(Object.keys(headers).filter((name) => /trace|baggage|b3|span/.test(name))).toEqual([])
    expect(JSON.stringify(headers) + body).not.toContain(trace)
  }
})
