// What a person's prompt forbids holds for the rest of the run: against the built collector, over a restart, into the run's next part.
import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MAX_CONSTRAINTS } from '../../conventions/constraint.ts'
import { CLI } from '../support/cli.ts'
import { Collector, event, preToolUse } from '../support/collector.ts'

let collector: Collector
beforeEach(async () => {
  collector = await new Collector().start()
})
afterEach(() => collector.remove())

const prompt = (text: string, session = 'S1') =>
  collector.hook('UserPromptSubmit', event(session, 'UserPromptSubmit', { prompt: text }))
let calls = 0
const edit = (file: string, session = 'S1') => {
  const input = { file_path: `/home/dev/project/${file}`, old_string: 'a', new_string: 'b' }
  const payload = preToolUse(session, `c${calls++}`, '', { tool_name: 'Edit', tool_input: input })
  return collector.hook('PreToolUse', payload)
}
const bash = (command: string, session = 'S1') =>
  collector.hook('PreToolUse', preToolUse(session, `c${calls++}`, command))
const PASS = 'spanseal/1 pass'
const stated = () => collector.records().filter((record) => record.type === 'constraints.stated')
const decided = () => collector.records().filter((record) => record.type === 'tool.decided')

it('holds what breaks it, says why, and lets everything else run', async () => {
  await prompt("Fix the rounding bug in invoice.py. Don't touch billing.py, and don't push.")
  expect((await edit('invoice.py')).body).toContain(PASS)
  const held = await edit('billing.py')
  expect(held.body).toMatch(/^spanseal\/1 hold/)
  expect(held.body).toContain("The person's request in this run said not to modify billing.py")
  expect(held.body).toMatch(/SP-CONSTRAINT.*approval apr-/s)
  expect((await bash('sed -i s/a/b/ billing.py')).body).toMatch(/^spanseal\/1 hold/)
  expect((await bash('git push')).body).toContain('said not to push')
  expect((await bash('git status')).body).toContain(PASS)
  expect(decided().map(({ body }) => body.rules)).toEqual([
    [],
    ['SP-CONSTRAINT'],
    ['SP-CONSTRAINT'],
    ['SP-CONSTRAINT'],
    [],
  ])
  // Another run is not bound by it.
  await prompt('Go on.', 'S2')
  expect((await edit('billing.py', 'S2')).body).toContain(PASS)
  // Kinds are in the record, names are not.
  expect(stated().map(({ body }) => body)).toMatchObject([
    { kinds: ['no-modify', 'no-push'], in_force: 2, refused: 0, lifts: 0 },
  ])
  expect(collector.records().some((record) => JSON.stringify(record).includes('billing.py'))).toBe(false)
})

it('outlives a kill, and the end of the session when it is resumed', async () => {
  await prompt("Don't touch billing.py.")
  await collector.kill()
  await collector.start()
  expect((await edit('billing.py')).body).toMatch(/^spanseal\/1 hold/)
  await collector.hook('SessionEnd', event('S1', 'SessionEnd'))
  await collector.hook('SessionStart', event('S1', 'SessionStart', { source: 'resume' }))
  expect((await edit('billing.py')).body).toMatch(/^spanseal\/1 hold/)
  await collector.stop()
  await collector.start()
  expect((await edit('billing.py')).body).toMatch(/^spanseal\/1 hold/)
})

it('is not lifted by a prompt: that is proposed, and a person answers each call', async () => {
  await prompt("Commit it, but don't push.")
  await prompt('Looks good, you can push now.')
  expect(stated().map(({ body }) => [body.kinds, body.lifts])).toEqual([
    [['no-push'], 0],
    [[], 1],
  ])
  expect((await bash('git push')).body).toMatch(/^spanseal\/1 hold/)
})

it('is not stated by a program, nor twice by the same words', async () => {
  await prompt("<task-notification>\nDon't touch billing.py.\n</task-notification>")
  expect(stated()).toEqual([])
  await prompt("Don't push.")
  await prompt("Again: don't push.")
  expect(stated()).toHaveLength(1)
})

it('beyond the most a run keeps, every change of a file waits', async () => {
  const names = Array.from({ length: MAX_CONSTRAINTS + 1 }, (_, i) => `f${i}.ts`)
  await prompt(
    names
      .slice(0, -1)
      .map((name) => `Don't touch ${name}.`)
      .join(' '),
  )
  expect((await edit('other.ts')).body).toContain(PASS)
  await prompt(`Don't touch ${names.at(-1)}.`)
  expect(stated().at(-1)?.body).toMatchObject({ kinds: [], in_force: MAX_CONSTRAINTS, refused: 1 })
  expect((await edit('other.ts')).body).toMatch(/^spanseal\/1 hold.*every change of a file waits/s)
  expect((await bash('git status')).body).toContain(PASS)
  await collector.kill()
  await collector.start()
  expect((await edit('other.ts')).body).toMatch(/^spanseal\/1 hold/)
  await collector.hook('SessionEnd', event('S1', 'SessionEnd'))
  await collector.hook('SessionStart', event('S1', 'SessionStart', { source: 'resume' }))
  expect((await edit('other.ts')).body).toMatch(/^spanseal\/1 hold/)
})

it('marks what goes beyond a scope, and never holds it', async () => {
  await prompt('Update invoice.py only.')
  expect((await edit('invoice.py')).body).toContain(PASS)
  expect((await edit('tax.py')).body).toContain(PASS)
  expect(decided().map(({ body }) => [body.decision, body.rules])).toEqual([
    ['allow', []],
    ['flag', ['SP-SCOPE']],
  ])
})

it('stands at the top of the run that people look at', async () => {
  await prompt("Don't touch billing.py, and don't push.")
  const stdout = execFileSync(process.execPath, [CLI, 'last', '--open', '--home', collector.root], { encoding: 'utf8' })
  expect(stdout.split('\n').slice(0, 4).join('\n')).toContain(
    'constraints of the person: no-modify billing.py, no-push',
  )
})
