// One session of the real Claude Code with Spanseal's installed hooks, resumed and compacted. Each scenario is checked in the world
// (did the command run, once) and in the evidence (the log as it lies on disk). Only the model is a stand-in.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent, bash, FORCE_PUSH, Model, PUSH } from './support/model.ts'
import { ClaudeUser, SESSION_MS } from './support/user.ts'

const PROMPT = 'Héllo wörld 🌍\n"quoted" & <tag>\n日本語 [[work]]'

let user: ClaudeUser
let model: Model

/** What was seen while calls waited for a person: how often they had run. */
const ranWhileAsked: Record<string, number> = {}

beforeAll(async () => {
  user = await new ClaudeUser().install()
  const file = `${user.project}/marks/edited`
  const mark = (id: string) => ({ file: `${user.project}/marks/${id}` })
  let answered: Promise<void> = Promise.resolve()
  const person = (id: string, answer: 'approve' | 'reject') => () => {
    answered = user.answer(answer, () => {
      ranWhileAsked[id] = user.marks(id)
    })
  }
  // The sub-agent in the background works until the main agent's turn, in its second part, is over.
  let over: Promise<void> = Promise.resolve()
  const letGo = () => {
    over = user.until('turn.closed', 2).then(() => writeFileSync(`${user.project}/turn-over`, ''))
  }
  const edit = { file_path: file, old_string: 'once', new_string: 'twice' }
  model = await new Model({
    work: [
      { thinking: 'First I look around.', text: 'I begin.', calls: [bash('allowed')] },
      { calls: [bash('failing', 'exit 3')] },
      { calls: [bash('denied', FORCE_PUSH)] },
      { before: person('approved', 'approve'), calls: [bash('approved', PUSH)] },
      { before: person('rejected', 'reject'), calls: [bash('rejected', PUSH)] },
      {
        calls: [
          bash('par-ok'),
          bash('par-denied', FORCE_PUSH),
          bash('par-fails', 'exit 4'),
          bash('par-slow', 'sleep 1'),
        ],
      },
      { calls: [{ id: 'mcp-ok', name: 'mcp__test__note', input: mark('mcp-ok') }] },
      { calls: [{ id: 'mcp-fails', name: 'mcp__test__fail', input: mark('mcp-fails') }] },
      { calls: [{ id: 'written', name: 'Write', input: { file_path: file, content: 'once\n' } }] },
      { calls: [{ id: 'unpermitted', name: 'Edit', input: edit }] },
      { calls: [{ id: 'unknown', name: 'NoSuchTool', input: { a: 1 } }] },
      { calls: [{ id: 'misused', name: 'Write', input: { path: file } }] },
      { error: { status: 529, type: 'overloaded_error' } },
      { before: () => user.killCollector(), calls: [bash('revived')] },
      { calls: [agent('agent-front', 'front', false)] },
      { calls: [agent('agent-left', 'left', false), agent('agent-right', 'right', false)] },
      { calls: [agent('agent-back', 'back', true)] },
      { calls: [bash('meanwhile')] },
      { before: letGo, text: 'Done, but for one.' },
    ],
    front: [
      { thinking: 'Inside I think too.', calls: [bash('front-ok')] },
      { calls: [bash('front-denied', FORCE_PUSH)] },
      { calls: [agent('agent-deep', 'deep', false)] },
      { text: 'Front is done.' },
    ],
    deep: [{ calls: [bash('deep-ok')] }, { text: 'Deep is done.' }],
    left: [{ calls: [bash('left-ok')] }, { text: 'Left is done.' }],
    right: [{ calls: [bash('right-ok')] }, { text: 'Right is done.' }],
    back: [{ calls: [bash('back-ok', 'until [ -e turn-over ]; do sleep 0.1; done')] }, { text: 'Back is done.' }],
    again: [{ calls: [bash('resumed')] }, { text: 'Again.' }],
  }).start()
  const { stdout } = await user.claude(model, PROMPT, '--output-format', 'json')
  const { session_id: session } = JSON.parse(stdout)
  await answered
  await over
  await user.claude(model, 'Once more. [[again]]', '--resume', session)
  await user.claude(model, '/compact', '--resume', session)
}, SESSION_MS)

afterAll(async () => {
  await user.remove()
  await model.stop()
})

/** How a call was decided and how it ended; fails when the log does not hold exactly one of each. */
function story(call: string): [string, string, string[]] {
  const { decision, rules } = user.one('tool.decided', call).body
  return [decision, user.one('tool.completed', call).body.status, rules]
}

it('played the whole script; the agent asked its API for nothing else', () => {
  expect(model.left()).toEqual([])
  expect(model.strange).toEqual([])
})

describe('a tool call', () => {
  it('that is allowed runs once', () => {
    expect(user.marks('allowed')).toBe(1)
    expect(story('allowed')).toEqual(['allow', 'ok', []])
  })

  it('that fails is recorded as failed, with its exit code', () => {
    expect(user.marks('failing')).toBe(1)
    expect(story('failing')).toEqual(['allow', 'error', []])
    expect(user.one('tool.completed', 'failing').body.exit_code).toBe(3)
  })

  it('that is denied does not run, and the model is told why', () => {
    expect(user.marks('denied')).toBe(0)
    expect(story('denied')).toEqual(['deny', 'denied', expect.arrayContaining(['CO-FORCE-PUSH'])])
    const told = model.results.get('denied')
    expect(told?.error).toBe(true)
    expect(told?.text).toContain('CO-FORCE-PUSH')
    expect(told?.text).toContain('Push normally')
  })

  it('that waits for a person runs once after a yes', () => {
    expect(ranWhileAsked.approved).toBe(0)
    expect(user.marks('approved')).toBe(1)
    expect(story('approved')).toEqual(['ask', 'ok', ['CO-PUSH-PROTECTED']])
    for (const type of ['approval.requested', 'approval.answered', 'approval.consumed'] as const)
      user.one(type, 'approved')
    const main = execFileSync('git', ['rev-parse', 'main'], { cwd: user.project, encoding: 'utf8' })
    expect(readFileSync(`${user.userHome}/remote.git/refs/heads/main`, 'utf8')).toBe(main)
  })

  it('that waits for a person does not run after a no, and the model is told', () => {
    expect(ranWhileAsked.rejected).toBe(0)
    expect(user.marks('rejected')).toBe(0)
    expect(story('rejected')).toEqual(['ask', 'denied', ['CO-PUSH-PROTECTED']])
    expect(user.one('approval.answered', 'rejected').body.answer).toBe('reject')
    expect(model.results.get('rejected')).toMatchObject({
      error: true,
      text: expect.stringContaining('A person rejected'),
    })
  })

  it('is decided and ended by itself among parallel ones', () => {
    expect(
      ['par-ok', 'par-denied', 'par-fails', 'par-slow'].map((id) => [user.marks(id), story(id).slice(0, 2)]),
    ).toEqual([
      [1, ['allow', 'ok']],
      [0, ['deny', 'denied']],
      [1, ['allow', 'error']],
      [1, ['allow', 'ok']],
    ])
  })

  it('of an MCP server is gated and recorded, failed or not', () => {
    expect([user.marks('mcp-ok'), user.marks('mcp-fails')]).toEqual([1, 1])
    expect(story('mcp-ok').slice(0, 2)).toEqual(['flag', 'ok'])
    expect(story('mcp-fails').slice(0, 2)).toEqual(['flag', 'error'])
  })

  it('that the agent itself does not permit is not said to have run', () => {
    expect(readFileSync(`${user.project}/marks/edited`, 'utf8')).toBe('once\n')
    expect(story('written')).toEqual(['allow', 'ok', []])
    expect(story('unpermitted')).toEqual(['allow', 'unreported', []])
    expect(user.records('permission.requested').map(({ body }) => body.tool)).toEqual(['Edit'])
  })

  it.each(['unknown', 'misused'])(
    'without a tool or with input it does not take has no hook before it: a gap (%s)',
    (call) => {
      expect(user.records('tool.decided').filter((record) => record.call?.id === call)).toEqual([])
      expect(user.one('gap', call).body.kind).toBe('hook_missing')
      expect(user.one('tool.completed', call).body).toMatchObject({ decision: null, status: 'unreported' })
    },
  )

  it('starts the collector again when that was killed; its turn goes on in a second part', () => {
    expect(user.marks('revived')).toBe(1)
    expect(story('revived')).toEqual(['allow', 'ok', []])
    expect(user.records('collector.started').map(({ body }) => body.after)).toEqual(['new', 'crash'])
    const [before, after] = user.records('turn.closed')
    expect(before?.body).toMatchObject({ part: 0, reason: 'crash', finished: false })
    expect(after?.body).toMatchObject({ part: 1, reason: 'stop', finished: true, turn: before?.body.turn })
  })
})

describe('a sub-agent', () => {
  const sub = (call: string) => {
    const id = user.one('tool.completed', call).body.launched
    const started = user.records('subagent.started').find(({ body }) => body.sub === id)
    if (started === undefined) throw new Error(`no sub-agent of ${call} started`)
    return started
  }

  it('in the foreground nests in the call that launched it, its own calls nest in it', () => {
    const front = sub('agent-front')
    expect(front.call?.id).toBe('agent-front')
    expect(front.trace?.parent).toBe(user.one('tool.decided', 'agent-front').trace?.parent)
    for (const call of ['front-ok', 'front-denied', 'agent-deep'])
      expect(user.one('tool.decided', call).body).toMatchObject({
        sub: front.body.sub,
        span_parent: front.trace?.span_id,
      })
    const deep = sub('agent-deep')
    expect(deep.trace?.parent).toBe(user.one('tool.decided', 'agent-deep').trace?.parent)
    expect(user.one('tool.decided', 'deep-ok').body.span_parent).toBe(deep.trace?.span_id)
  })

  it('is gated like the agent itself', () => {
    expect([user.marks('front-ok'), user.marks('front-denied'), user.marks('deep-ok')]).toEqual([1, 0, 1])
    expect(story('front-denied').slice(0, 2)).toEqual(['deny', 'denied'])
    expect(model.results.get('front-denied')?.text).toContain('CO-FORCE-PUSH')
  })

  it('of several at once is never said to belong to the wrong call', () => {
    for (const [call, inner] of [
      ['agent-left', 'left-ok'],
      ['agent-right', 'right-ok'],
    ] as const) {
      const { body, call: launcher } = sub(call)
      expect([undefined, call]).toContain(launcher?.id)
      expect(user.one('tool.decided', inner).body.sub).toBe(body.sub)
      expect(user.marks(inner)).toBe(1)
    }
  })

  it('in the background is a trace of its own and outlives the turn', () => {
    const back = sub('agent-back')
    expect(back.call?.id).toBe('agent-back')
    expect(back.body.background).toBe(true)
    expect(back.trace?.parent).toBeUndefined()
    expect(user.one('tool.completed', 'agent-back').body.status).toBe('launched')
    expect(user.one('tool.decided', 'back-ok').trace?.trace_id).toBe(back.trace?.trace_id)
    expect(story('back-ok')).toEqual(['allow', 'ok', []])
    expect(user.marks('back-ok')).toBe(1)
    const turnEnd = user.records('turn.closed').find(({ body }) => body.reason === 'stop')
    expect(user.one('tool.completed', 'back-ok').log.seq).toBeGreaterThan(turnEnd?.log.seq ?? Number.POSITIVE_INFINITY)
  })

  it('has an end for every start', () => {
    const ids = (type: 'subagent.started' | 'subagent.ended') =>
      user
        .records(type)
        .map(({ body }) => body.sub)
        .sort()
    expect(ids('subagent.started')).toHaveLength(5)
    expect(ids('subagent.ended')).toEqual(ids('subagent.started'))
    expect(user.records('subagent.ended').every(({ body }) => body.finished)).toBe(true)
  })
})

describe('the conversation', () => {
  it('keeps every prompt to the letter, and tells a program’s from a person’s', () => {
    const prompts = user.records('prompt.submitted').map((record) => ({
      machine: record.body.machine,
      text: user.content(record, 'prompt'),
    }))
    expect(prompts).toEqual([
      { machine: false, text: PROMPT },
      { machine: true, text: expect.stringMatching(/^<task-notification>\n/) },
      { machine: false, text: 'Once more. [[again]]' },
    ])
  })

  it('holds what the model thought and said, the sub-agents’ words too', () => {
    const said = (kind: 'reasoning' | 'text') =>
      user
        .records('model.message')
        .filter(({ body }) => body.kind === kind)
        .map((record) => user.content(record, 'text'))
    expect(said('reasoning')).toEqual(['First I look around.', 'Inside I think too.'])
    for (const text of ['I begin.', 'Done, but for one.', 'Deep is done.', 'Left is done.', 'Back is done.', 'Again.'])
      expect(said('text')).toContain(text)
  })

  it('has as many calls in the evidence as in the agent’s own transcripts, each decided before it ended', () => {
    const calls = [...new Set(user.records('tool.completed').map((record) => record.call?.id ?? ''))].sort()
    expect(calls).toEqual(user.transcriptCalls())
    const asked = user.records('model.message').filter(({ body }) => body.kind === 'tool_use')
    expect(asked.map((record) => record.call?.id ?? '').sort()).toEqual(calls)
    for (const call of calls.filter((id) => id !== 'unknown' && id !== 'misused'))
      expect(user.one('tool.decided', call).log.seq).toBeLessThan(user.one('tool.completed', call).log.seq)
  })

  it('goes on in the same run when it is resumed', () => {
    expect(user.marks('resumed')).toBe(1)
    const opened = user.records('run.opened')
    expect(opened.map(({ run, body }) => [run?.part, body.reason])).toEqual([
      [0, 'startup'],
      [1, 'resume'],
      [2, 'resume'],
    ])
    expect(new Set(opened.map(({ run }) => run?.id)).size).toBe(1)
    expect(user.records('run.closed').map(({ body }) => body.reason)).toEqual(Array(3).fill('session_end'))
  })

  it('shows when it was compacted', () => {
    expect(user.records('compaction').map(({ body }) => [body.phase, body.trigger])).toEqual([
      ['before', 'manual'],
      ['after', 'manual'],
    ])
  })
})

it('leaves a log that verifies, with no gap but those that were made', async () => {
  const report = await user.verdict()
  expect(report.status).toBe('intact')
  expect(report.decisions).toMatchObject({
    ran_against_deny: 0,
    ran_without_approval: 0,
    other_arguments: 0,
    ungated: 0,
  })
  expect(report.findings.map(({ code }) => code)).toEqual(['approval.unauthenticated'])
  expect(
    user
      .records('gap')
      .map(({ body }) => body.kind)
      .sort(),
  ).toEqual(['collector_down', 'hook_missing', 'hook_missing'])
})

it('keeps the person’s own settings', () => {
  expect(JSON.parse(readFileSync(user.settings, 'utf8')).permissions).toEqual(user.permissions)
})
