// Reading what the model said out of transcripts of the real agent.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readTranscriptLine } from '../../hooks/claude-code/transcript.ts'

const lines = (file: string) => readFileSync(`test/fixtures/claude/${file}`, 'utf8').split('\n').filter(Boolean)
const blocks = (file: string) => lines(file).flatMap(readTranscriptLine)

it('finds each block of a session, in order', () => {
  const said = blocks('transcript.jsonl')
  const assistants = lines('transcript.jsonl').filter((line) => JSON.parse(line).type === 'assistant')
  expect(said.length).toBe(assistants.length)
  expect(said.slice(0, 3)).toEqual([
    {
      kind: 'reasoning',
      text: 'I should list the files first. Ünïcode → 思考 🤔',
      message: 'msg_lab000001',
      model: 'claude-opus-5-5',
      uuid: '93af272b-f108-4816-a9b1-20044179c3a8',
      time: Date.parse('2026-11-30T17:48:31.384Z'),
      session: 'cf170082-d79a-4db4-8b19-3c99b59dc24d',
      usage: { input: 113, output: 42, cache_read: 5, cache_write: 7 },
    },
    expect.objectContaining({ kind: 'text', text: 'Let me look.', message: 'msg_lab000001' }),
    expect.objectContaining({
      kind: 'tool_use',
      callId: 'toolu_lab00010',
      tool: 'Bash',
      text: '{"command":"echo hello && ls","description":"List files"}',
    }),
  ])
  expect(said.at(-1)).toMatchObject({ kind: 'text', text: 'All done ✅.' })
  expect(said.every((block) => block.sub === undefined)).toBe(true)
})

it('marks what a sub-agent said', () => {
  const said = blocks('transcript.subagent.jsonl')
  expect(said.map((block) => block.kind)).toEqual(['reasoning', 'text', 'tool_use', 'text'])
  expect(said.every((block) => block.sub === 'a7b7a154e736ec6c4')).toBe(true)
})

it('gives nothing for half lines, at whatever character they end', () => {
  const line = lines('transcript.jsonl').find((text) => text.includes('"type":"tool_use"')) ?? ''
  expect(readTranscriptLine(line).length).toBe(1)
  for (let end = 0; end < line.length; end++) expect(readTranscriptLine(line.slice(0, end))).toEqual([])
})

const assistant = (message: unknown, more = {}) => JSON.stringify({ type: 'assistant', uuid: 'u1', message, ...more })

it('gives nothing for what is not an assistant message, or has no id', () => {
  for (const line of ['', '[]', 'null', '"assistant"', '{"type":"assistant"}', '{"type":"assistant","message":null}']) {
    expect(readTranscriptLine(line)).toEqual([])
  }
  const content = [{ type: 'text', text: 'hi' }]
  expect(readTranscriptLine(assistant({ id: 'm1', content })).length).toBe(1)
  expect(readTranscriptLine(assistant({ content }))).toEqual([])
  expect(readTranscriptLine(assistant({ id: 'a b', content }))).toEqual([])
  expect(readTranscriptLine(assistant({ id: 'm1', content }, { type: 'user' }))).toEqual([])
})

it('leaves out empty and unknown blocks and keeps the others', () => {
  const content = [
    { type: 'thinking', thinking: '', signature: 's' },
    { type: 'redacted_thinking', data: 'x' },
    { type: 'text', text: 'kept' },
    null,
    7,
  ]
  const said = readTranscriptLine(assistant({ id: 'm1', content }, { promptId: 'p1' }))
  expect(said).toEqual([{ kind: 'text', text: 'kept', message: 'm1', uuid: 'u1', turn: 'p1' }])
})

it('never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (message, uuid, text) => {
      readTranscriptLine(assistant(message, { uuid }))
      expect(readTranscriptLine(`"assistant"${text}`)).toEqual([])
    }),
  )
})

it('reads each kind of tokens, and whose a copied line is', () => {
  const line = (usage: object, more = {}) =>
    JSON.stringify({
      type: 'assistant',
      uuid: 'u1',
      sessionId: 'S2',
      ...more,
      message: { id: 'm1', content: 'hi', usage: { input_tokens: 2, output_tokens: 327, ...usage } },
    })
  const cached = { cache_read_input_tokens: 15030, cache_creation_input_tokens: 8655 }
  expect(readTranscriptLine(line(cached))[0]).toMatchObject({
    session: 'S2',
    usage: { input: 23687, output: 327, cache_read: 15030, cache_write: 8655 },
  })
  const hour = { ...cached, cache_creation: { ephemeral_1h_input_tokens: 8000, ephemeral_5m_input_tokens: 655 } }
  const thought = { ...hour, output_tokens_details: { thinking_tokens: 300 } }
  expect(readTranscriptLine(line(thought))[0]?.usage).toMatchObject({ cache_write_1h: 8000, reasoning: 300 })
  const copy = { forkedFrom: { sessionId: 'S1', messageUuid: 'u0' } }
  expect(readTranscriptLine(line(cached, copy))[0]?.session).toBe('S1')
})
