// Tokens count once per message: however many lines tell of it, in however many files, before and after a restart.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Usage, UsedTokens } from '../../collector/record/usage.ts'
import { TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
let dir: string
beforeEach(async () => {
  t = await new TestPipeline().start()
  dir = mkdtempSync(join(tmpdir(), 'spanseal-usage-'))
})
afterEach(async () => {
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

interface Line {
  id: string
  usage: object
  more?: object
}
let uuids = 0
const line = ({ id, usage, more = {} }: Line) =>
  `${JSON.stringify({ type: 'assistant', uuid: `u${uuids++}`, isSidechain: false, ...more, message: { id, model: 'claude-opus-5-5', content: [{ type: 'text', text: 'x' }], usage } })}\n`
const said = (session: string, ...lines: Line[]) => {
  const path = join(dir, `${session}.jsonl`)
  appendFileSync(path, lines.map(line).join(''))
  return path
}
let calls = 0
const hook = (session: string, path: string, more = {}) =>
  t.claim({
    event: 'tool.before',
    session,
    turn: 'p1',
    callId: `c${calls++}`,
    tool: 'Bash',
    args: '{}',
    transcript: path,
    ...more,
  })
const counted = () => {
  const sum: Record<string, number> = {}
  for (const { body } of t.of('model.message'))
    for (const [kind, tokens = 0] of Object.entries(body.usage ?? {})) sum[kind] = (sum[kind] ?? 0) + tokens
  return sum
}

it('of lines that repeat the usage of one message, one (ccusage #389)', async () => {
  const usage = {
    input_tokens: 4,
    cache_creation_input_tokens: 15178,
    cache_read_input_tokens: 0,
    output_tokens: 1,
  }
  await hook('S1', said('S1', { id: 'm1', usage }, { id: 'm1', usage }))
  expect(counted()).toEqual({ input: 4 + 15178, output: 1, cache_read: 0, cache_write: 15178 })
})

it('of a streamed message what its last line says, also when a hook and a restart come between (ccusage #901)', async () => {
  const usage = { input_tokens: 5, output_tokens: 9 }
  await hook('S1', said('S1', { id: 'm1', usage }))
  await t.reopen()
  await hook('S1', said('S1', { id: 'm1', usage }, { id: 'm1', usage: { ...usage, output_tokens: 159 } }))
  expect(counted()).toEqual({ input: 5, output: 159 })
  expect(t.of('model.message').map(({ body }) => body.usage)).toEqual([
    { input: 5, output: 9 },
    undefined,
    { input: 0, output: 150 },
  ])
})

it('also of a message whose last line is written after its turn', async () => {
  const usage = { input_tokens: 5, output_tokens: 9 }
  const path = said('S1', { id: 'm1', usage })
  await hook('S1', path)
  await t.claim({ event: 'turn.end', session: 'S1', turn: 'p1', transcript: path })
  said('S1', { id: 'm1', usage })
  await t.claim({ event: 'prompt', session: 'S1', turn: 'p2', prompt: 'go on', transcript: path })
  expect(counted()).toEqual({ input: 5, output: 9 })
})

it('of what a fork copied nothing: named as copies, under the old session’s name, or with rewritten names', async () => {
  const usage = { input_tokens: 50, output_tokens: 9 }
  await hook('S1', said('S1', { id: 'm1', usage, more: { sessionId: 'S1' } }))
  const fork = said(
    'S2',
    { id: 'm1', usage, more: { sessionId: 'S2' } },
    { id: 'm0', usage, more: { sessionId: 'S2', forkedFrom: { sessionId: 'S1', messageUuid: 'u' } } },
    { id: 'm00', usage, more: { sessionId: 'S1' } },
    { id: 'm2', usage: { input_tokens: 60, output_tokens: 1 }, more: { sessionId: 'S2' } },
  )
  await hook('S2', fork)
  expect(counted()).toEqual({ input: 110, output: 10 })
})

it('of two messages under one invented id both, where they are of two sessions', async () => {
  await hook('S1', said('S1', { id: 'msg_1', usage: { input_tokens: 50, output_tokens: 9 } }))
  await hook('S2', said('S2', { id: 'msg_1', usage: { input_tokens: 70, output_tokens: 3 } }))
  expect(counted()).toEqual({ input: 120, output: 12 })
})

it('of a sub-agent’s own file once, beside the session’s', async () => {
  const path = said('S1', { id: 'm1', usage: { input_tokens: 10, output_tokens: 2 } })
  await hook('S1', path, { tool: 'Agent', background: true })
  await t.claim({ event: 'subagent.start', session: 'S1', turn: 'p1', sub: 'a1', transcript: path })
  mkdirSync(join(dir, 'S1/subagents'), { recursive: true })
  const inside = { id: 's1', usage: { input_tokens: 100, output_tokens: 20 } }
  writeFileSync(join(dir, 'S1/subagents/agent-a1.jsonl'), line(inside))
  await hook('S1', path, { sub: 'a1' })
  await hook('S1', path)
  await t.claim({ event: 'subagent.end', session: 'S1', turn: 'p1', sub: 'a1', transcript: path })
  expect(counted()).toEqual({ input: 110, output: 22 })
  expect(t.of('model.message').find(({ body }) => body.sub === 'a1')?.body.usage).toEqual({ input: 100, output: 20 })
})

it('comes to the most that any line said, in whatever pieces the lines are read', () => {
  const usage = fc.record({ input: fc.nat(1000), output: fc.nat(1000), cache_read: fc.nat(500) })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('m1', 'm2'), usage), { maxLength: 20 }), (lines) => {
      const used = new UsedTokens()
      const most: Record<string, Usage> = {}
      for (const [message, told] of lines) {
        const fresh = used.fresh('r', message, told)
        if (fresh !== undefined) used.add('r', message, fresh)
        const before = most[message] ?? { input: 0, output: 0, cache_read: 0 }
        most[message] = {
          input: Math.max(before.input, told.input),
          output: Math.max(before.output, told.output),
          cache_read: Math.max(before.cache_read ?? 0, told.cache_read),
        }
      }
      for (const [message, { input, output, cache_read }] of Object.entries(most)) {
        const all = used.of(message)
        expect([all?.input ?? 0, all?.output ?? 0, all?.cache_read ?? 0]).toEqual([input, output, cache_read])
      }
    }),
  )
})

it('is remembered of a bounded number of messages', () => {
  const used = new UsedTokens()
  for (let n = 0; n < 10_001; n++) used.add('r', `m${n}`, { input: 1, output: 1 })
  expect(used.of('m0')).toBeUndefined()
  expect(used.of('m10000')).toEqual({ input: 1, output: 1 })
})
