// The demo is the promise of the first page: from hook to verification, without touching the real home.
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { TempUser } from '../support/cli.ts'

let user: TempUser
afterEach(() => user.remove())

const demoHomes = () => readdirSync(tmpdir()).filter((name) => name.startsWith('spanseal-demo-'))

test('the demo holds, shows each decision, names the changed record, and leaves nothing behind', async () => {
  user = new TempUser()
  const before = demoHomes()
  const { status, stdout, stderr } = await user.run(['demo'])
  expect([status, stderr]).toEqual([0, ''])
  for (const words of [
    'allow',
    'deny',
    'ask',
    'approved after',
    'failed, exit code 3',
    'mcp__',
    'INTACT',
    'BROKEN',
    'All of it held.',
  ])
    expect(stdout).toContain(words)
  const changed = /^record (\d+) /m.exec(stdout)?.[1]
  expect(stdout).toMatch(new RegExp(`record\\.signature .*record ${changed}\\b`, 'i'))
  expect(existsSync(user.home)).toBe(false)
  expect(existsSync(`${user.userHome}/.claude`)).toBe(false)
  expect(demoHomes()).toEqual(before)
})
