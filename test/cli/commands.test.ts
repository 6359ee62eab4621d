// Every command is in the table of what can be relied on, says how it is used, and refuses what it does not know.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandsDoc, FEATURES, featuresOf } from '../../conventions/stability.ts'
import { adapters } from '../../hooks/index.ts'
import { TempUser } from '../support/cli.ts'

let user: TempUser
beforeAll(() => {
  user = new TempUser()
})
afterAll(() => user.remove())

/** Commands as `--help` lists them, groups opened. */
async function listed(...group: string[]): Promise<string[]> {
  const { stdout } = await user.run([...group, '--help'])
  const lines = stdout.slice(stdout.indexOf('Commands:')).split('\n')
  return lines.flatMap((line) => /^ {2}([a-z]+)/.exec(line)?.[1] ?? []).filter((name) => name !== 'help')
}

test('the table names exactly the commands there are', async () => {
  const top = await listed()
  const groups = ['approvals', 'approvers', 'keys', 'policy', 'check']
  const all = top.filter((name) => !groups.includes(name))
  for (const group of groups) all.push(...(await listed(group)).map((name) => `${group} ${name}`))
  expect(all.sort()).toEqual(
    featuresOf('command')
      .map(({ name }) => name)
      .sort(),
  )
})

test('each command explains itself with examples, without a home and without touching one', async () => {
  for (const { name, summary, examples = [], stability } of featuresOf('command')) {
    const { status, stdout } = await user.run([...name.split(' '), '--help'])
    expect(status).toBe(0)
    const flat = stdout.replace(/\s+/g, ' ')
    expect(flat).toContain(summary)
    expect(flat.includes('(experimental)')).toBe(stability === 'experimental')
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) expect(stdout).toContain(example)
  }
})

test('the table also names exactly the adapters there are, each feature once', () => {
  expect(featuresOf('adapter').map(({ name }) => name)).toEqual([...adapters.keys()])
  const names = FEATURES.map(({ kind, name }) => `${kind} ${name}`)
  expect(new Set(names).size).toBe(names.length)
})

test('docs/commands.md is what the table says', () => {
  expect(readFileSync('docs/commands.md', 'utf8')).toBe(commandsDoc())
})

test('wrong usage exits 2 and says why on stderr', async () => {
  for (const args of [
    ['nothing'],
    ['show'],
    ['up', '--what'],
    ['runs', '--limit', '0'],
    ['runs', '--limit', '1e3'],
    ['hook', 'nobody', 'X'],
  ]) {
    const { status, stdout, stderr } = await user.run(args)
    expect([args, status, stdout]).toEqual([args, 2, ''])
    expect(stderr).not.toBe('')
  }
})

test('without a home, reading says what to do and makes none', async () => {
  for (const args of [['runs'], ['last'], ['sql', 'SELECT 1'], ['show', 'x']]) {
    const { status, stderr } = await user.run(args)
    expect([args, status]).toEqual([args, 2])
    expect(stderr).toContain('spanseal init')
  }
  expect((await user.run(['status'])).status).toBe(1)
  expect((await user.run(['approvals', 'list'])).stderr).toContain('spanseal up')
  expect((await user.run(['verify'])).status).toBe(2)
  expect((await user.run(['down'])).status).toBe(0)
  expect(await user.run(['doctor', '--json'])).toMatchObject({ status: 1 })
  expect(() => readFileSync(user.home)).toThrow('ENOENT')
})

test('a command that does not ask the index does not load the database', async () => {
  const loaded = async (...args: string[]) => {
    const { stderr } = await user.run(args, { env: { NODE_DEBUG: 'module' } })
    expect(stderr).toContain('MODULE')
    return stderr.includes('@duckdb')
  }
  expect(await loaded('status')).toBe(false)
  expect(await loaded('up', '--help')).toBe(false)
})

test('the version is the package’s', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect((await user.run(['--version'])).stdout.trim()).toBe(version)
})

test('hook --print-otlp shows what the adapter makes of a payload and sends nothing', async () => {
  const payload = readFileSync('test/fixtures/claude/hooks/04-PreToolUse.json')
  const { status, stdout } = await user.run(['hook', 'claude-code', 'PreToolUse', '--print-otlp'], { input: payload })
  expect(status).toBe(0)
  const result = adapters.get('claude-code')?.toRequest('PreToolUse', payload, '1')
  const names = (request: unknown) => JSON.stringify(request).match(/"key":"[^"]+"/g)
  expect(result?.ok === true && 'request' in result && names(result.request)).toEqual(names(JSON.parse(stdout)))
  expect(await user.run(['hook', 'claude-code', 'PreToolUse', '--print-otlp'], { input: '{' })).toMatchObject({
    status: 1,
    stdout: '',
  })
  expect(await user.run(['hook', 'claude-code', 'PreToolUse'], { input: payload })).toMatchObject({
    status: 2,
    stdout: '',
  })
})
