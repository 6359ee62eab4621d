// docs/gate.md does what it says: its commands and its agent run as they stand there.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Collector } from '../support/collector.ts'

const run = promisify(execFile)
const page = readFileSync('docs/gate.md', 'utf8')
const steps = [...page.matchAll(/```sh\n([^`]+)```\n```json\n([^`]+)```/g)].map(([, command = '', answer = '']) => ({
  command,
  answer: JSON.parse(answer) as object,
}))

const home = mkdtempSync(`${tmpdir()}/spanseal-page-`)
const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: home }
let collector: Collector
beforeAll(async () => {
  collector = await new Collector({ root: `${home}/.spanseal` }).start()
})
afterAll(async () => {
  await collector.remove()
  rmSync(home, { recursive: true })
})
const told = () =>
  collector.records().flatMap((record) => {
    if (record.type === 'tool.decided') return [`${record.call?.id} ${record.body.decision}`]
    if (record.type === 'tool.completed') return [`${record.call?.id} ${record.body.status}`]
    return record.type === 'gap' || record.type === 'violation' ? [record.body.kind] : []
  })

it('each command gets the answer that stands under it', async () => {
  expect(steps).toHaveLength([...page.matchAll(/```sh/g)].length)
  expect(steps).toHaveLength(3)
  for (const { command, answer } of steps) {
    const { stdout } = await run('bash', ['-c', command], { env })
    expect(JSON.parse(stdout)).toMatchObject(answer)
  }
  expect(told()).toEqual(['c-1 deny', 'c-2 allow', 'c-2 ok'])
})

it('the agent runs what is allowed, and not what is denied', async () => {
  const code = /```js\n([^`]+(?:`[^`\n]+`[^`]+)*)```/.exec(page)?.[1] ?? ''
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(20)
  mkdirSync(`${home}/agent/node_modules`, { recursive: true })
  symlinkSync(resolve('.'), `${home}/agent/node_modules/spanseal`)
  writeFileSync(`${home}/agent/agent.mjs`, code)
  const before = told().length
  const { stdout } = await run(process.execPath, ['agent.mjs'], { env, cwd: `${home}/agent` })
  expect(stdout.split('\n')).toEqual(['hello', expect.stringMatching(/^refused: ./), ''])
  expect(told().slice(before)).toEqual(['c-1 allow', 'c-1 ok', 'c-2 deny'])
})
