// The real Claude Code in its ways of running without hooks, beside a session with them: the watcher tells them apart. Only the model is
// a stand-in.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bash, FORCE_PUSH, Model } from '../e2e/claude/support/model.ts'
import { ClaudeUser, SESSION_MS } from '../e2e/claude/support/user.ts'

const GATED = '00000000-0000-4000-8000-000000000001'
const BARE = '00000000-0000-4000-8000-000000000002'
const DISABLED = '00000000-0000-4000-8000-000000000003'

let user: ClaudeUser
let model: Model

beforeAll(async () => {
  user = await new ClaudeUser().install()
  model = await new Model({
    gated: [{ calls: [bash('gated')] }, { calls: [bash('gated-denied', FORCE_PUSH)] }, { text: 'Done.' }],
    // Both at once, so that they are counted together however long the rest takes.
    bare: [{ calls: [bash('bare-one'), bash('bare-two')] }, { text: 'Done.' }],
    disabled: [{ calls: [bash('disabled')] }, { text: 'Done.' }],
  }).start()
  const session = (id: string) => ['--dangerously-skip-permissions', '--session-id', id]
  await user.claude(model, 'Go on. [[gated]]', ...session(GATED))
  await user.claude(model, 'Go on. [[bare]]', ...session(BARE), '--bare')
  const settings = `${user.project}/.claude/settings.json`
  mkdirSync(`${user.project}/.claude`)
  writeFileSync(settings, JSON.stringify({ disableAllHooks: true }))
  await user.claude(model, 'Go on. [[disabled]]', ...session(DISABLED))
  rmSync(settings)
  await user.until('gap', 4)
}, SESSION_MS)

afterAll(async () => {
  await user.remove()
  await model.stop()
})

it('played the whole script: every command ran but the one that a hook stopped', () => {
  expect(model.left()).toEqual([])
  const marks = ['gated', 'gated-denied', 'bare-one', 'bare-two', 'disabled'].map((id) => user.marks(id))
  expect(marks).toEqual([1, 0, 1, 1, 1])
})

it('says of the sessions without hooks that they were ungated, with all their calls counted, and of no other', () => {
  const modes = user.records('run.opened').map(({ body }) => [body.session, body.mode])
  expect(modes.sort()).toEqual([
    [GATED, 'enforce'],
    [BARE, 'ungated'],
    [DISABLED, 'ungated'],
  ])
  const runs = new Map(user.records('run.opened').map(({ run, body }) => [run?.id, body.session]))
  const gaps = user.records('gap').map(({ run, body }) => [runs.get(run?.id), body.kind, body.count])
  expect(gaps.sort()).toEqual([
    [BARE, 'hook_missing', 2],
    [BARE, 'ungated_session', 1],
    [DISABLED, 'hook_missing', 1],
    [DISABLED, 'ungated_session', 1],
  ])
  expect(user.records('tool.decided').map(({ call }) => call?.id)).toEqual(['gated', 'gated-denied'])
})

it('shows it: in the list of runs, in the run, and to whoever verifies the log', async () => {
  const { stdout: list } = await user.run(['runs'])
  expect(list).toMatch(/open, ungated/)
  const runs = (await user.json(['runs'])) as { run_id: string; session: string; mode: string }[]
  expect(runs.map(({ session, mode }) => [session, mode])).toContainEqual([BARE, 'ungated'])
  const { stdout } = await user.run(['show', runs.find(({ session }) => session === BARE)?.run_id ?? ''])
  expect(stdout).toContain('UNGATED: no hook spoke for it')
  expect(stdout).toContain('gap: ungated session')
  expect(stdout).toContain('gap: hook missing ×2')
  const report = await user.verdict()
  expect(report.status).toBe('intact')
  expect(report.evidence?.gaps.map(({ kind, count }) => [kind, count])).toEqual([
    ['ungated_session', 2],
    ['hook_missing', 3],
  ])
})
