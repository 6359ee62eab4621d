// Runs that others tell of, on the command line: real bodies sent to the running collector's OTLP port, one of the sessions also
// told by hooks.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodiesOf } from '../conventions/dialects/bodies.ts'
import { TempUser } from '../support/cli.ts'
import { event, postToolUse, preToolUse } from '../support/collector.ts'

const CLAUDE = 'bc09c767-e1fc-4314-b5f1-3db211b752fe'
const RECEIPT = 'Receipt only (T3): told by others, received and not observed.'

let user: TempUser

beforeAll(async () => {
  user = new TempUser()
  await user.run(['init', '--yes', '--otlp-port', '0'])
  await user.hook('SessionStart', event(CLAUDE, 'SessionStart', { source: 'startup' }))
  await user.hook('PreToolUse', preToolUse(CLAUDE, 'toolu_1abc123', 'echo hello'))
  await user.hook('PostToolUse', postToolUse(CLAUDE, 'toolu_1abc123', 'echo hello'))
  await user.hook('PreToolUse', preToolUse(CLAUDE, 'toolu_9', 'ls'))
  await user.hook('PostToolUse', postToolUse(CLAUDE, 'toolu_9', 'ls'))
  const { otlp } = JSON.parse(readFileSync(`${user.home}/endpoint.json`, 'utf8')) as { otlp: string }
  for (const source of ['openai-agents-bridge', 'strands', 'vercel-ai-new', 'claude-agent-sdk-json']) {
    for (const { signal, encoding, bytes } of bodiesOf(source)) {
      if (signal !== 'traces') continue
      const headers = { 'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf' }
      const { status } = await fetch(new URL('/v1/traces', otlp), { method: 'POST', headers, body: bytes.slice() })
      expect(status).toBe(200)
    }
  }
})
afterAll(() => user.remove())

test('runs lists them apart, by session or trace, and says that they are receipt only', async () => {
  const { stdout, stderr } = await user.run(['runs'])
  const [own = '', others = ''] = stdout.split(`\n${RECEIPT}\n`)
  expect(own).toContain(CLAUDE.slice(0, 8))
  const lines = others.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^IMPORTED RUN +SERVICE +AGENT +STARTED/)
  expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(1))).toEqual([
    ...[0, 1].map(() => [
      'demo-vercel-ai-new',
      'weather-agent',
      expect.any(String),
      '3',
      '480',
      '54',
      'no price',
      '2',
      '1',
      '0',
    ]),
    ['demo-strands', 'weather-agent', expect.any(String), '3', '480', '54', 'no price', '2', '1', '0'],
  ])
  // What hooks tell of is one run, not two; what nobody understood is counted.
  expect(others).not.toContain(CLAUDE.slice(0, 8))
  expect(stderr).toContain("1 more hold no agent's work (not session data)")
  const json = (await user.json(['runs'])) as { receipt_only?: boolean }[]
  expect(json.map(({ receipt_only }) => receipt_only)).toEqual([undefined, true, true, true])
})

test('show tells each call once, with what was reported of it and what the policy would have said', async () => {
  const { stdout, status } = await user.run(['show', 'sess-1'])
  expect(status).toBe(0)
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'imported run  demo-strands, agent weather-agent, session sess-1',
    'receipt only (T3): told by others, received and not observed',
  ])
  expect(stdout).toMatch(/model gpt-stub {2}120 in \(64 cached\), 18 out {2}toolUse {2}success reported/)
  expect(stdout).toMatch(/read_file {2}error reported, .* {2}policy: would flag \(SP-UNKNOWN-TOOL\)/)
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(
    '3 model calls, 480 tokens in, 54 out, no price, 2 tool calls, 1 with an error reported, 0 would be denied, receipt only',
  )
  expect(stdout).not.toMatch(/Weather in Paris|blocked/)
})

test('last shows the newest that hooks do not tell of better', async () => {
  expect((await user.run(['last'])).stdout).toContain('demo-vercel-ai-new')
  expect(await user.json(['last', '--open'])).toMatchObject({ session: CLAUDE })
})

test('show of a run of ours compares it with what the agent itself says', async () => {
  const { stdout } = await user.run(['show', CLAUDE])
  expect(stdout).toContain("the agent's own telemetry (T3, receipt only): 1 call of 3 told alike")
  expect(stdout).toMatch(/ {2}only telemetry {2}Read toolu_2abc123 {2}telemetry: error reported/)
  expect(stdout).toMatch(/ {2}only hooks {2}Bash toolu_9 {2}hooks: ok/)
  expect(stdout).toContain('2 calls, ')
})

test('several that begin alike are named, none is said so', async () => {
  expect(await user.run(['show', 'no-such-run'])).toMatchObject({ status: 1, stdout: '' })
})
