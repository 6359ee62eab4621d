// The real agent's own hook times: read out of its telemetry, and said to be not run where there is no agent.
import { expect, it, vi } from 'vitest'
import { hookTimes } from '../../bench/agent.ts'
import { agentHooks } from '../../bench/suites/agent-hook.ts'

vi.mock('../e2e/claude/support/install.ts', () => ({
  claudeBinary: () => Promise.reject(new Error('npm could not fetch it\nand so on')),
}))

const event = (fields: Record<string, string | number>) => ({
  attributes: Object.entries(fields).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: value },
  })),
})

it('takes the times of hooks before tool calls, as text or number, and no others', () => {
  const logRecords = [
    event({ 'event.name': 'hook_execution_complete', hook_event: 'PreToolUse', total_duration_ms: '5' }),
    event({ 'event.name': 'hook_execution_complete', hook_event: 'PreToolUse', total_duration_ms: 7 }),
    event({ 'event.name': 'hook_execution_complete', hook_event: 'PostToolUse', total_duration_ms: 9 }),
    event({ 'event.name': 'hook_execution_start', hook_event: 'PreToolUse' }),
    {},
  ]
  expect(hookTimes(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }, {}] }))).toEqual([5, 7])
  expect(hookTimes('{}')).toEqual([])
})

it('says not run, and why, when the agent can’t be fetched', async () => {
  const found = await agentHooks({ size: 'tiny', root: '.', dist: 'dist', children: '.cache' })
  const notRun = 'no real Claude Code: npm could not fetch it'
  expect(found).toEqual([
    { id: 'hook.http', notRun },
    { id: 'hook.http.floor', notRun },
    { id: 'hook.agent.sh', notRun },
  ])
})
