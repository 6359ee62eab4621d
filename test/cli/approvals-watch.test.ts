// `spanseal approvals watch` and `show`: what an agent wrote can't do anything to the terminal of the person who reads it.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli, TempUser } from '../support/cli.ts'
import { Collector } from '../support/collector.ts'

let collector: Collector
let user: TempUser
beforeAll(async () => {
  collector = await new Collector().start()
  user = new TempUser()
})
afterAll(async () => {
  await collector.remove()
  await user.remove()
})

const ask = async (call: string, command: string): Promise<string> => {
  const body = { agent: 'loop', session: 's', call, tool: 'Bash', arguments: { command } }
  return JSON.parse((await collector.gate(body)).body).approval
}

it('prints each call once, when it begins to wait, and nothing that a terminal obeys', async () => {
  const first = await ask('c1', 'git push origin main')
  const child = user.start(['--home', collector.root, 'approvals', 'watch'])
  let out = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  const until = async (id: string) => {
    for (let i = 0; i < 300 && !out.includes(id); i++) await sleep(50)
    expect(out).toContain(id)
  }
  await until(first)
  const second = await ask('c2', 'git push origin "main\u001b]0;x\u0007"')
  await until(second)
  const third = await ask('c3', 'git push origin main')
  await until(third)
  child.kill()
  const ids = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ')[0])
  expect(ids).toEqual([first, second, third])
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
})

it('shows one call, and says when there is none', async () => {
  const id = await ask('c9', 'git push origin main')
  const { stdout } = await runCli(['--home', collector.root, 'approvals', 'show', id])
  expect(stdout).toContain('rules     CO-PUSH-PROTECTED')
  expect((await runCli(['--home', collector.root, 'approvals', 'show', 'apr-0'])).status).toBe(1)
})
