// The real Claude Code with --dangerously-skip-permissions: our hooks are the only gate, and the agent's own scripts try to remove
// them while the session runs. Only the model is a stand-in.
import { copyFileSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bash, FORCE_PUSH, Model, PUSH, type Step } from './support/model.ts'
import { ClaudeUser, SESSION_MS } from './support/user.ts'

const STRIP_HOOKS = fileURLToPath(new URL('./support/strip-hooks.mjs', import.meta.url))

/** Which settings file the agent's script edits, how, and what the collector says of it. */
const EDITS = [
  { id: 'user-removed', args: 'user removed', scope: 'user_settings', problem: 'hooks_missing' },
  { id: 'user-killed', args: 'user killed', scope: 'user_settings', problem: 'hooks_disabled' },
  { id: 'project-off', args: 'project off', scope: 'project_settings', problem: 'hooks_disabled' },
  { id: 'local-killed', args: 'local killed', scope: 'local_settings', problem: 'hooks_disabled' },
]

let user: ClaudeUser
let model: Model

/** What was seen while calls waited for a person: how often they had run. */
const ranWhileAsked: Record<string, number> = {}

beforeAll(async () => {
  user = await new ClaudeUser().install()
  copyFileSync(STRIP_HOOKS, `${user.project}/cleanup.mjs`)
  let answered: Promise<void> = Promise.resolve()
  const person = (id: string, answer: 'approve' | 'reject') => () => {
    answered = user.answer(answer, () => {
      ranWhileAsked[id] = user.marks(id)
    })
  }
  const edits = EDITS.flatMap(({ id, args }, i): Step[] => [
    { calls: [bash(`edit-${id}`, `'${process.execPath}' cleanup.mjs ${args}`)] },
    { calls: [bash(`at-once-${id}`, FORCE_PUSH)] },
    { before: () => user.until('settings.changed', i + 1), calls: [bash(`after-${id}`, FORCE_PUSH)] },
  ])
  const file = `${user.project}/marks/edited`
  model = await new Model({
    work: [
      { calls: [bash('allowed')] },
      { calls: [bash('denied', FORCE_PUSH)] },
      { before: person('approved', 'approve'), calls: [bash('approved', PUSH)] },
      { before: person('rejected', 'reject'), calls: [bash('rejected', PUSH)] },
      { calls: [{ id: 'written', name: 'Write', input: { file_path: file, content: 'once\n' } }] },
      {
        calls: [{ id: 'unlisted', name: 'Edit', input: { file_path: file, old_string: 'once', new_string: 'twice' } }],
      },
      { before: () => user.shortenHolds(), calls: [bash('expired', PUSH)] },
      ...edits,
      { text: 'Done.' },
    ],
  }).start()
  await user.claude(model, 'Go on. [[work]]', '--dangerously-skip-permissions')
  await answered
}, SESSION_MS)

afterAll(async () => {
  await user.remove()
  await model.stop()
})

it('played the whole script in the mode it is about', () => {
  expect(model.left()).toEqual([])
  expect(new Set(user.records('tool.decided').map(({ body }) => body.permission_mode))).toEqual(
    new Set(['bypassPermissions']),
  )
})

describe('a call', () => {
  it('that is allowed runs once', () => {
    expect(user.marks('allowed')).toBe(1)
    expect(user.one('tool.completed', 'allowed').body.status).toBe('ok')
    // In no allow list of the person.
    expect(readFileSync(`${user.project}/marks/edited`, 'utf8')).toBe('twice\n')
    expect(user.one('tool.completed', 'unlisted').body.status).toBe('ok')
  })

  it('that is denied does not run, and the model is told why', () => {
    expect(user.marks('denied')).toBe(0)
    expect(user.one('tool.completed', 'denied').body.status).toBe('denied')
    expect(model.results.get('denied')).toMatchObject({ error: true, text: expect.stringContaining('CO-FORCE-PUSH') })
  })

  it('that waits for a person runs once after a yes and not at all after a no', () => {
    expect(ranWhileAsked).toEqual({ approved: 0, rejected: 0 })
    expect([user.marks('approved'), user.marks('rejected')]).toEqual([1, 0])
    expect(user.one('tool.completed', 'approved').body.status).toBe('ok')
    expect(user.one('tool.completed', 'rejected').body.status).toBe('denied')
    expect(model.results.get('rejected')).toMatchObject({
      error: true,
      text: expect.stringContaining('A person rejected'),
    })
  })

  it('does not run when nobody answers in time, and the model is told', () => {
    expect(user.marks('expired')).toBe(0)
    expect(user.one('approval.expired', 'expired').body.reason).toBe('timeout')
    expect(user.one('tool.completed', 'expired').body.status).toBe('denied')
    expect(model.results.get('expired')).toMatchObject({
      error: true,
      text: expect.stringContaining('Nobody approved'),
    })
  })
})

describe('settings that the agent’s own script edits in the middle of the session', () => {
  it.each(EDITS)('$id: refused, and the next calls are still gated', ({ id, scope, problem }) => {
    expect(user.marks(`edit-${id}`)).toBe(1)
    const changes = user.records('settings.changed').map(({ body }) => [body.scope, body.problem, body.decision])
    // The agent may tell of one edit twice.
    expect(changes).toContainEqual([scope, problem, 'deny'])
    expect(changes.every(([, , decision]) => decision === 'deny')).toBe(true)
    for (const call of [`at-once-${id}`, `after-${id}`]) {
      expect(user.marks(call)).toBe(0)
      expect(user.one('tool.decided', call).body.decision).toBe('deny')
      expect(model.results.get(call)).toMatchObject({ error: true, text: expect.stringContaining('CO-FORCE-PUSH') })
    }
  })

  it('stay edited on disk: the doctor says that a new session would run without hooks', async () => {
    const { status, stdout } = await user.run(['doctor'])
    expect(status).toBe(1)
    expect(stdout).toMatch(/fail +hooks\.settings .*switched off/)
  })
})

it('leaves a log that verifies, with a gap for each time the collector was killed', async () => {
  const report = await user.verdict()
  expect(report.status).toBe('intact')
  expect(report.decisions).toMatchObject({
    ran_against_deny: 0,
    ran_without_approval: 0,
    other_arguments: 0,
    ungated: 0,
  })
  expect(user.records('gap').map(({ body }) => body.kind)).toEqual(['collector_down', 'collector_down'])
})
