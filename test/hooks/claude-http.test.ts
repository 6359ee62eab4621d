// What Claude Code's http hooks are told, by every answer, event and way of installing. What the agent makes of it: test/e2e/claude/faults.
import { describe, expect, it } from 'vitest'
import { claudeCode } from '../../hooks/claude-code/adapter.ts'
import { httpHooks } from '../../hooks/claude-code/http.ts'
import { isAtLeast } from '../../hooks/claude-code/installed.ts'

const NOTHING = { status: 200, body: '{}' }
const BLOCK = { kind: 'block', text: 'because «no»\nsecond line' } as const
const FAIL = { kind: 'fail', text: 'the disk is full' } as const
const CLOSED = { mode: 'enforce', failMode: 'closed' } as const
const OPEN = { mode: 'enforce', failMode: 'open' } as const

const told = ({ status, body }: { status: number; body: string }) => ({ status, ...JSON.parse(body) })
const denied = (reason: unknown) => ({
  status: 200,
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
})

it('only events come so that the adapter knows, and none that could start a collector', () => {
  expect(httpHooks.events.every((event) => claudeCode.events[event] !== undefined)).toBe(true)
  expect(httpHooks.events.filter((event) => !/^(?:Pre|Post)ToolUse(?:Failure)?$/.test(event))).toEqual([])
})

describe('before a call', () => {
  it('pass is an empty object; block is a denial, whatever the fail mode, with exactly the words', () => {
    for (const how of [CLOSED, OPEN]) {
      expect(httpHooks.answer('PreToolUse', { kind: 'pass' }, how)).toEqual(NOTHING)
      expect(told(httpHooks.answer('PreToolUse', BLOCK, how))).toEqual(denied(BLOCK.text))
    }
  })

  it('what could not be checked is stopped, or let through with words, as it was installed', () => {
    expect(told(httpHooks.answer('PreToolUse', FAIL, CLOSED))).toEqual(
      denied(expect.stringMatching(/blocked, because it could not be checked: the disk is full\n.*spanseal doctor/)),
    )
    expect(told(httpHooks.answer('PreToolUse', FAIL, OPEN))).toEqual({
      status: 200,
      systemMessage: expect.stringContaining('let through (fail mode open): the disk is full'),
    })
  })
})

it('after a call: what was not recorded is a failure to the agent, never an answer', () => {
  for (const event of ['PostToolUse', 'PostToolUseFailure']) {
    expect(httpHooks.answer(event, { kind: 'pass' }, CLOSED)).toEqual(NOTHING)
    for (const answer of [BLOCK, FAIL])
      expect(httpHooks.answer(event, answer, CLOSED)).toEqual({ status: 503, body: '' })
  }
})

it('observe: not a word', () => {
  for (const event of httpHooks.events)
    for (const answer of [BLOCK, FAIL, { kind: 'pass' } as const])
      expect(httpHooks.answer(event, answer, { mode: 'observe', failMode: 'closed' })).toEqual(NOTHING)
})

it.each([
  ['2.1.295', true],
  ['2.1.1000', true],
  ['2.2.0', true],
  ['10.0.0', true],
  ['2.1.294', false],
  ['2.1.99', false],
  ['2.0.999', false],
  ['1.9.999', false],
])('%s is new enough: %s', (version, enough) => {
  expect(isAtLeast(version, '2.1.295')).toBe(enough)
})
