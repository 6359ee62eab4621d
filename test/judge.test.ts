// What the policy says of reported tool calls afterwards: never more than `would_...`, and nothing where the report says too little.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { judgeOf } from '../collector/judge.ts'
import type { View } from '../conventions/dialects/view.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'spanseal-judge-'))
  mkdirSync(home, { recursive: true })
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const call = (tool: string | undefined, args: string | undefined, more: Partial<View> = {}): View => ({
  dialect: 'genai',
  operation: 'execute_tool',
  outcome: 'none',
  requested: [],
  ...(tool !== undefined && { tool }),
  content: args === undefined ? {} : { arguments: args },
  cut: [],
  unread: { count: 0, names: [] },
  ...more,
})

it.each([
  ['a force push', 'Bash', '{"command":"git push --force origin main"}', 'deny'],
  ['a list of files', 'Bash', '{"command":"ls"}', 'allow'],
  ['a tool nobody knows', 'get_weather', '{"city":"Paris"}', 'flag'],
])('%s', (_name, tool, args, decision) => {
  expect(judgeOf(home, '/home/dev')(call(tool, args))?.decision).toBe(decision)
})

it.each([
  ['no tool', call(undefined, '{}')],
  ['no arguments', call('Bash', undefined)],
  ['arguments that are one text', call('Bash', 'Paris')],
  ['arguments that are a list', call('Bash', '[]')],
  ['arguments that were cut', call('Bash', '{"command":"ls"}', { cut: ['arguments'] })],
  ['another operation', call('Bash', '{"command":"ls"}', { operation: 'decision' })],
])('nothing of %s', (_name, view) => {
  expect(judgeOf(home, '/home/dev')(view)).toBeUndefined()
})

it('nothing under a policy that can not be used, and no fault of it', () => {
  writeFileSync(`${home}/policy.yaml`, 'rules: 7\n')
  expect(judgeOf(home, '/home/dev')(call('Bash', '{"command":"ls"}'))).toBeUndefined()
})
