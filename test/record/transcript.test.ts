// What the model said, read from a transcript that grows, is cut, is missing, or was there before anyone watched.

import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RecordType } from '../../conventions/record.ts'
import { TestPipeline } from '../support/pipeline.ts'

let t: TestPipeline
let dir: string
let path: string
beforeEach(async () => {
  t = await new TestPipeline().start()
  dir = mkdtempSync(join(tmpdir(), 'spanseal-transcript-'))
  path = join(dir, 'S1.jsonl')
})
afterEach(async () => {
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

const of = <T extends RecordType>(type: T) => t.of(type)
const line = (uuid: string, content: object[], message = uuid) =>
  `${JSON.stringify({ type: 'assistant', uuid, isSidechain: false, message: { id: message, model: 'claude-opus-5-5', content, usage: { input_tokens: 10, output_tokens: 2 } } })}\n`
const words = (text: string) => [{ type: 'text', text }]
const call = (callId: string, more = {}) =>
  t.claim({ event: 'tool.before', turn: 'p1', callId, tool: 'Bash', args: '{}', transcript: path, ...more })

it('records each new part once, before the call it led to, and usage once per message', async () => {
  writeFileSync(
    path,
    line('u1', [{ type: 'thinking', thinking: 'hm' }], 'm1') +
      line('u2', words('I list'), 'm1') +
      line('u3', [{ type: 'tool_use', id: 'c1', name: 'Bash', input: {} }], 'm1'),
  )
  await call('c1')
  await call('c2')
  expect(of('model.message').map(({ body }) => body.kind)).toEqual(['reasoning', 'text', 'tool_use'])
  expect(of('model.message').filter(({ body }) => body.usage !== undefined)).toHaveLength(1)
  const types = t.types()
  expect(types.lastIndexOf('model.message')).toBeLessThan(types.indexOf('tool.decided'))
  expect(of('model.message')[2]?.call?.id).toBe('c1')
  const spans = of('model.message').map(({ trace }) => trace?.span_id)
  expect(new Set(spans).size).toBe(3)
})

it('waits for the rest of a half-written line', async () => {
  const whole = line('u1', words('one'))
  writeFileSync(path, whole.slice(0, 30))
  await call('c1')
  expect(of('model.message')).toEqual([])
  appendFileSync(path, whole.slice(30))
  await call('c2')
  expect(of('model.message')).toHaveLength(1)
})

it('goes on where it was after a restart', async () => {
  writeFileSync(path, line('u1', words('one')))
  await call('c1')
  await t.reopen()
  appendFileSync(path, line('u2', words('two')))
  await call('c2')
  expect(of('model.message').map(({ body }) => body.message)).toEqual(['u1', 'u2'])
})

it('skips what a resumed session said before anyone watched, also after a restart', async () => {
  writeFileSync(path, line('old', words('history')))
  await t.claim({ event: 'session.start', reason: 'resume', transcript: path })
  await t.reopen()
  appendFileSync(path, line('new', words('now')))
  await call('c1')
  expect(of('model.message').map(({ body }) => body.message)).toEqual(['new'])
})

it('counts what is new at a prompt to the turn before it', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one', transcript: path })
  writeFileSync(path, line('u1', words('late answer')))
  await t.claim({ event: 'prompt', turn: 'p2', prompt: 'two', transcript: path })
  expect(of('model.message')[0]?.body.turn).toBe('p1')
})

it('says once that a transcript is missing when a tool is about to run', async () => {
  await t.claim({ event: 'prompt', turn: 'p1', prompt: 'one', transcript: path })
  await call('c1')
  await call('c2')
  expect(of('gap').map(({ body }) => body.kind)).toEqual(['no_transcript'])
})

it('says when a transcript was cut, and reads on from its new end', async () => {
  writeFileSync(path, line('u1', words('one')) + line('u2', words('two')))
  await call('c1')
  writeFileSync(path, '')
  await call('c2')
  appendFileSync(path, line('u3', words('three')))
  await call('c3')
  expect(of('transcript.mark').map(({ body }) => body.state)).toEqual(['truncated'])
  expect(of('model.message').map(({ body }) => body.message)).toEqual(['u1', 'u2', 'u3'])
})

it('is not hung or filled by a pipe, a folder, garbage or a line without end', async () => {
  execFileSync('mkfifo', [path])
  await call('c1')
  rmSync(path)
  await call('c2', { transcript: dir })
  writeFileSync(path, `${'x'.repeat(3_000_000)}\n${line('u1', words('after'))}\u0000garbage\n{"type":"assistant"}\n`)
  for (let i = 0; i < 6; i++) await call(`d${i}`)
  expect(of('model.message').map(({ body }) => body.message)).toEqual(['u1'])
})

it('reads a sub-agent’s own transcript beside the session’s', async () => {
  await call('agent', { tool: 'Agent', background: true })
  await t.claim({ event: 'subagent.start', turn: 'p1', sub: 'a1', transcript: path })
  execFileSync('mkdir', ['-p', join(dir, 'S1/subagents')])
  writeFileSync(join(dir, 'S1/subagents/agent-a1.jsonl'), line('s1', words('inside')))
  await call('inner', { sub: 'a1' })
  const [message] = of('model.message')
  expect(message?.body.sub).toBe('a1')
  expect(message?.trace?.trace_id).toBe(of('subagent.started')[0]?.trace?.trace_id)
})

it('names the calls the model asked for and no hook spoke of, when the turn ends as it should', async () => {
  const use = (id: string) => line(`u-${id}`, [{ type: 'tool_use', id, name: 'Bash', input: {} }])
  await t.claim({ event: 'session.start', reason: 'startup', transcript: path })
  writeFileSync(path, use('c1') + use('x1') + use('x2') + use('seen'))
  await call('c1')
  await t.claim({ event: 'tool.reported', turn: 'p1', callId: 'seen', tool: 'Bash', args: '{}', result: '1' })
  await t.claim({ event: 'turn.end', turn: 'p1', transcript: path })
  const missing = t.of('gap').filter(({ body }) => body.kind === 'hook_missing')
  expect(missing.map((record) => record.call?.id)).toEqual(['seen', 'x1', 'x2'])
  expect(t.of('tool.decided')).toHaveLength(1)
})

it('says nothing of calls that were asked for and interrupted', async () => {
  writeFileSync(path, line('u1', [{ type: 'tool_use', id: 'x1', name: 'Bash', input: {} }]))
  await call('c1')
  await t.claim({ event: 'prompt', turn: 'p2', prompt: 'stop that', transcript: path })
  expect(t.of('gap')).toEqual([])
})
