// `spanseal policy`: check a file, judge it by cases, ask it about a call.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TempUser } from '../support/cli.ts'

let user: TempUser
beforeAll(() => {
  user = new TempUser()
})
afterAll(() => user.remove())

const file = (name: string, text: string) => {
  const path = `${user.userHome}/${name}`
  writeFileSync(path, text)
  return path
}
const CORPUS = 'test/fixtures/policy/corpus.jsonl'
const run = (...args: string[]) => user.run(['policy', ...args], { cwd: process.cwd() })

describe('lint', () => {
  test('says that a good file is in order, with the hash its decisions carry', async () => {
    const path = file(
      'good.yaml',
      'version: 1\nrules: [{id: T-1, then: deny, when: {run: rm}, reason: No., tests: {hit: [rm a]}}]\n',
    )
    const { status, stdout } = await run('lint', path, '--json')
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      file: path,
      ok: true,
      rules: 1,
      policy_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect((await run('lint')).stdout).toMatch(/^the built-in policy is in order: \d+ rules, hash/)
  })

  test('names every error with its place, and exits 1', async () => {
    const path = file(
      'bad.yaml',
      'version: 1\nrulez: []\nrules: [{id: T-1, then: allow, when: {run: rm}, reason: x}, {id: T-2, then: deny, when: {run: rm}, reason: x, tests: {hit: [ls]}}]\n',
    )
    const { status, stdout } = await run('lint', path)
    expect(status).toBe(1)
    expect(stdout).toContain('rulez: is not a field here')
    expect(stdout).toContain('rules[0].then')
    const tests = file(
      'tests.yaml',
      'version: 1\nrules: [{id: T-2, then: deny, when: {run: rm}, reason: x, tests: {hit: [ls]}}]\n',
    )
    expect((await run('lint', tests)).stdout).toContain('rules[0].tests.hit[0]: T-2 does not match this call')
    expect((await run('lint', '/nowhere.yaml')).status).toBe(2)
  })
})

describe('test', () => {
  test('counts attacks that were missed and ordinary work that was stopped, in the last line', async () => {
    const { stdout } = await run('test', '--corpus', CORPUS)
    expect(stdout.trim().split('\n').at(-1)).toMatch(/^attacks missed \d\/403, benign stopped \d\/190$/)
    const nothing = file('nothing.yaml', 'version: 1\nrules: []\n')
    const { status, stdout: json } = await run('test', nothing, '--corpus', CORPUS, '--json')
    expect(status).toBe(1)
    const result = JSON.parse(json)
    expect(result).toMatchObject({ attacks: 403, benign: 190 })
    expect(result.missed.length).toBeGreaterThan(200)
    const all = file('all.yaml', 'version: 1\nrules: [{id: T, then: deny, when: {not: {tool: x}}, reason: x}]\n')
    const stopped = JSON.parse((await run('test', all, '--corpus', CORPUS, '--json')).stdout).stopped
    expect(stopped).toHaveLength(190)
  })

  test('counts prompts that were read otherwise and calls that were judged otherwise', async () => {
    const { stdout } = await run('test', '--constraints', 'test/fixtures/policy/constraints.jsonl')
    expect(stdout.trim().split('\n').at(-1)).toMatch(/^constraints wrong \d\/71, calls wrong \d\/184$/)
    const cases = file(
      'prompts.jsonl',
      `${JSON.stringify({ id: 'a', prompt: "Don't push.", constraints: [], calls: [{ tool: 'Bash', input: { command: 'git push' }, held: false }] })}\n`,
    )
    const wrong = await run('test', '--constraints', cases)
    expect([wrong.status, wrong.stdout]).toEqual([
      1,
      'wrong a\nwrong a call 0\nconstraints wrong 1/1, calls wrong 1/1\n',
    ])
  })

  test('refuses cases it can’t read and says which line', async () => {
    for (const [text, says] of [
      ['{"id": "a"}\n', 'line 1: tool'],
      ['\n{nope\n', 'line 2 is no JSON'],
      ['', 'holds no case'],
    ] as const) {
      const { status, stderr } = await run('test', '--corpus', file('cases.jsonl', text))
      expect([status, stderr]).toEqual([2, expect.stringContaining(says)])
    }
    expect((await run('test')).status).toBe(2)
    expect((await run('test', '--corpus', CORPUS, '--constraints', CORPUS)).status).toBe(2)
  })
})

describe('explain', () => {
  test('says what the gate would answer and why, and touches no home', async () => {
    const { status, stdout } = await run('explain', 'git push --force origin main', '--json')
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'deny', rules: expect.arrayContaining(['CO-FORCE-PUSH']) })
    expect((await run('explain', 'ls -la')).stdout).toBe('allow\nAllowed.\n')
    const other = await run('explain', '--tool', 'Write', '{"file_path": "/etc/hosts", "content": "x"}')
    expect(other.stdout).toMatch(/^(deny|ask)\n/)
    expect(() => writeFileSync(`${user.home}/x`, '')).toThrow('ENOENT')
  })

  test('says what a prompt forbids, alone and for a call', async () => {
    expect((await run('explain', '--prompt', "Don't touch a.ts. Don't push.")).stdout).toBe('no-modify a.ts\nno-push\n')
    expect((await run('explain', '--prompt', 'Fix it.')).stdout).toBe('forbids nothing\n')
    expect((await run('explain', '--prompt', "Don't touch a.ts", 'rm a.ts')).stdout).toMatch(/^ask\n.*SP-CONSTRAINT/s)
  })

  test('refuses what it can’t read', async () => {
    expect((await run('explain')).status).toBe(2)
    expect((await run('explain', '--tool', 'Edit', 'nope')).stderr).toMatch(/Edit are no JSON: \w/)
  })
})
