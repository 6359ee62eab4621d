// A session that grows without hooks is said to be ungated, once, with its calls counted; any other session never is.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PIECE_BYTES } from '../../collector/watch/tail.ts'
import { GRACE_MS, MAX_HOT, REPORT_MS } from '../../collector/watch/watcher.ts'
import { HOOK, requestOf } from '../support/pipeline.ts'
import { SESSION, toolUse, WatchedHome } from './support.ts'

const OTHER = '11111111-2222-4333-8444-555555555555'

let home: WatchedHome

beforeEach(async () => {
  home = await new WatchedHome().start()
})

afterEach(() => home.close())

/** Every record that is not of the collector's own start. */
const story = () => home.test.types()

describe('a session that grows without hooks', () => {
  it('opens an ungated run with a signed gap and its calls counted, and nothing of what it says', async () => {
    home.call(3)
    await home.settle()
    expect(story()).toEqual(['run.opened', 'gap', 'transcript.mark', 'gap'])
    expect(home.records('run.opened')[0]?.body).toMatchObject({
      agent: 'claude-code',
      session: SESSION,
      mode: 'ungated',
      reason: 'ungated',
    })
    expect(home.gaps()).toEqual([
      ['ungated_session', 1],
      ['hook_missing', 3],
    ])
    expect(home.test.story().every(({ tier, commit }) => tier === undefined && commit === undefined)).toBe(true)
    // Forwarded: each gap has a span of its own.
    expect(home.records('gap').every(({ trace }) => trace !== undefined)).toBe(true)
    expect(home.watcher.counts).toMatchObject({ transcripts: 1, ungated: 1, errors: 0 })
  })

  it('is said to be ungated once; further calls are counted at most once a minute', async () => {
    for (let i = 0; i < 60; i++) {
      home.call()
      await home.pass(2_000)
    }
    await home.pass(REPORT_MS)
    expect(home.gaps().filter(([kind]) => kind === 'ungated_session')).toHaveLength(1)
    expect(home.gaps().filter(([kind]) => kind === 'hook_missing')).toHaveLength(3)
    expect(home.counted()).toBe(60)
  })

  it('is not said to be ungated again after a restart, and no call is counted twice or lost', async () => {
    home.call(2)
    await home.settle()
    home.call(3)
    await home.pass(2_000)
    await home.restart()
    home.call(4)
    await home.pass(2 * REPORT_MS)
    expect(home.gaps().filter(([kind]) => kind !== 'collector_down')).toEqual([
      ['ungated_session', 1],
      ['hook_missing', 2],
      ['hook_missing', expect.any(Number)],
      ...(home.gaps().length > 4 ? [['hook_missing', expect.any(Number)]] : []),
    ])
    expect(home.counted()).toBe(9)
    expect(home.records('run.opened')).toHaveLength(1)
  })

  it('is the same session, in a gated part, once its hooks begin', async () => {
    home.call(2)
    await home.settle()
    await home.test.claim({ event: 'prompt', session: SESSION, turn: 'p1', transcript: home.transcript() })
    const transcript = home.transcript()
    await home.test.claim({
      ...{ event: 'tool.before', session: SESSION, turn: 'p1', transcript },
      ...{ callId: 'c1', tool: 'Bash', args: '{}' },
    })
    home.call(5)
    await home.settle()
    expect(home.records('run.opened').map(({ run, body }) => [run?.part, body.mode, body.reason])).toEqual([
      [0, 'ungated', 'ungated'],
      [1, 'enforce', 'reopened'],
    ])
    expect(home.records('run.closed').map(({ body }) => body.reason)).toEqual(['hooks_began'])
    // What was said without hooks is not recorded afterwards as if a hook had seen it.
    expect(home.records('model.message')).toEqual([])
    expect(home.counted()).toBe(2)
  })

  it('is found where it began and ended before the first search, but after the collector began', async () => {
    const fresh = new WatchedHome()
    try {
      fresh.call(2)
      await fresh.start()
      await fresh.settle()
      expect(fresh.gaps()).toEqual([
        ['ungated_session', 1],
        ['hook_missing', 2],
      ])
    } finally {
      await fresh.close()
    }
  })

  it('is found where it existed before the collector, from when it grows', async () => {
    home.call(7, { file: home.transcript(OTHER) })
    await home.restart()
    await home.settle()
    expect(story()).toEqual(['gap'])
    home.call(2, { file: home.transcript(OTHER) })
    await home.settle()
    expect(home.counted()).toBe(2)
  })

  it('is found when it goes on after hooks had spoken for it and the session had ended', async () => {
    await home.test.claim({ event: 'session.start', session: SESSION })
    home.call()
    await home.test.claim({ event: 'session.end', session: SESSION })
    await home.settle()
    expect(home.gaps()).toEqual([])
    home.call(2)
    await home.settle()
    expect(home.gaps()).toEqual([
      ['ungated_session', 1],
      ['hook_missing', 2],
    ])
    expect(home.records('run.opened').map(({ run, body }) => [run?.part, body.mode])).toEqual([
      [0, 'enforce'],
      [1, 'ungated'],
    ])
  })

  it('is found though it is an old one among many, within a minute', async () => {
    const id = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`
    for (let n = 0; n < MAX_HOT + 10; n++) {
      home.call(1, { file: home.transcript(id(n)), time: home.test.now - 1 })
      utimesSync(home.transcript(id(n)), n, n)
    }
    await home.pass(60_000)
    home.call(1, { file: home.transcript(id(3)) })
    await home.pass(60_000 + GRACE_MS)
    expect(home.records('run.opened').map(({ body }) => body.session)).toEqual([id(3)])
  })

  it('is found when its transcript was cut and goes on', async () => {
    home.call(5, { time: home.test.now - 1 })
    await home.settle()
    truncateSync(home.transcript(), 0)
    await home.settle()
    home.call(2)
    await home.settle()
    expect(home.counted()).toBe(2)
  })

  it('is found in every settings folder that hooks are installed in, and in none once they are taken out', async () => {
    const other = join(home.userHome, 'other')
    mkdirSync(join(other, 'projects/p'), { recursive: true })
    home.install(join(other, 'settings.json'))
    await home.pass(GRACE_MS)
    home.call()
    home.call(4, { file: join(other, 'projects/p', `${OTHER}.jsonl`) })
    await home.settle()
    expect(home.records('run.opened').map(({ body }) => body.session)).toEqual([OTHER])
    home.install()
    await home.settle()
    home.call(1, { file: join(other, 'projects/p', `${OTHER}.jsonl`) })
    await home.pass(2 * REPORT_MS)
    expect(home.counted()).toBe(4)
  })

  it('counts only in the project that the hooks are installed for', async () => {
    home.install('/home/dev/project/.claude/settings.local.json')
    mkdirSync(join(home.projects, '-home-dev-other'))
    await home.pass(GRACE_MS)
    home.call(1)
    home.call(1, { file: join(home.projects, '-home-dev-other', `${OTHER}.jsonl`) })
    await home.settle()
    expect(home.records('run.opened').map(({ body }) => body.session)).toEqual([SESSION])
  })
})

describe('never said to be ungated is a session', () => {
  it('that hooks speak for, however long they are silent in between', async () => {
    await home.test.claim({ event: 'session.start', session: SESSION })
    for (let i = 0; i < 20; i++) {
      home.call()
      await home.pass(REPORT_MS)
    }
    expect(home.gaps()).toEqual([])
    expect(home.records('run.opened')).toHaveLength(1)
  })

  it('that hooks speak for: it is not even read', async () => {
    await home.test.claim({ event: 'session.start', session: SESSION })
    home.call(1, { more: 'x'.repeat(2 * PIECE_BYTES) })
    await home.settle()
    expect(home.watcher.counts).toMatchObject({ transcripts: 1, long_lines: 0 })
  })

  it('whose hooks speak within their time, new or resumed', async () => {
    home.call(1, { file: home.transcript(OTHER), time: home.test.now - 1_000 })
    await home.restart()
    home.call()
    home.call(1, { file: home.transcript(OTHER) })
    await home.pass(GRACE_MS - 2_000)
    await home.test.claim({ event: 'prompt', session: SESSION })
    await home.test.claim({ event: 'session.start', session: OTHER, reason: 'resume' })
    await home.settle()
    expect(home.gaps()).toEqual([['collector_down', 1]])
  })

  it('whose hooks speak, and that is over, before the next look', async () => {
    home.call()
    await home.pass(GRACE_MS)
    await home.test.claim({ event: 'session.start', session: SESSION })
    await home.test.claim({ event: 'session.end', session: SESSION })
    await home.settle()
    expect(home.gaps()).toEqual([])
  })

  it('whose hook speaks at the very moment of the report', async () => {
    await home.test.claim({ event: 'prompt', session: SESSION })
    const late = { agent: 'claude-code', session: SESSION, calls: 1, offset: 1 }
    expect(await home.test.pipeline.ungated(late)).toBe(false)
    expect(home.gaps()).toEqual([])
  })

  it('that calls no tool', async () => {
    const said = { type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: '"tool_use"' }] } }
    appendFileSync(home.transcript(), `${JSON.stringify({ ...said, uuid: 'u' })}\n{"type":"user"}\n`)
    await home.settle()
    expect(story()).toEqual([])
  })

  it('whose transcript was copied, restored or cut, with calls from before', async () => {
    home.call(5, { time: home.test.now - 1 })
    await home.settle()
    truncateSync(home.transcript(), 10)
    await home.settle()
    writeFileSync(`${home.folder}/copy`, toolUse(home.test.now - 3_600_000).repeat(50))
    renameSync(`${home.folder}/copy`, home.transcript(OTHER))
    await home.settle()
    expect(story()).toEqual([])
  })

  it('that is a sub-agent’s own transcript, or no transcript at all', async () => {
    mkdirSync(join(home.folder, SESSION, 'subagents'), { recursive: true })
    home.call(1, { file: join(home.folder, SESSION, 'subagents', `${OTHER}.jsonl`) })
    home.call(1, { file: join(home.folder, 'agent-a1b2c3.jsonl') })
    home.call(1, { file: join(home.folder, `${OTHER}.jsonl.bak`) })
    home.call(1, { file: join(home.projects, `${OTHER}.jsonl`) })
    await home.settle()
    expect(story()).toEqual([])
  })
})

it('a report leaves no receipt in the answer to another session’s hook that is under way', async () => {
  const claim = { event: 'prompt', agent: 'claude-code', session: OTHER } as const
  const asked = home.test.pipeline.claims(requestOf(claim), HOOK)
  const told = home.test.pipeline.ungated({ agent: 'claude-code', session: SESSION, calls: 1, offset: 1 })
  const [{ receipts }] = await Promise.all([asked, told])
  expect(receipts.map(({ record }) => record.type)).toEqual(['run.opened', 'prompt.submitted'])
})

describe('the agent’s folder may hold anything', () => {
  it('links, to files and to folders, are not followed', async () => {
    const outside = join(home.userHome, 'outside')
    mkdirSync(outside)
    home.call(1, { file: join(outside, `${OTHER}.jsonl`) })
    symlinkSync(join(outside, `${OTHER}.jsonl`), home.transcript(SESSION))
    symlinkSync(outside, join(home.projects, 'linked'))
    await home.settle()
    expect(story()).toEqual([])
    expect(home.watcher.counts.transcripts).toBe(0)
  })

  it('a transcript that becomes a link or a pipe is not read through', async () => {
    home.call()
    await home.pass(GRACE_MS)
    rmSync(home.transcript())
    const outside = join(home.userHome, 'outside.jsonl')
    home.call(3, { file: outside })
    symlinkSync(outside, home.transcript())
    execFileSync('mkfifo', [home.transcript(OTHER)])
    await home.settle()
    expect(home.watcher.counts).toMatchObject({ transcripts: 0, errors: 0 })
    expect(home.counted()).toBe(0)
  })

  it('a line that is longer than one piece is skipped and counted; those around it are read', async () => {
    home.call()
    home.call(1, { more: 'x'.repeat(3 * PIECE_BYTES) })
    home.call(2)
    appendFileSync(home.transcript(), 'y'.repeat(5 * PIECE_BYTES))
    await home.settle()
    appendFileSync(home.transcript(), `${'y'.repeat(PIECE_BYTES)}\n`)
    home.call(4)
    await home.pass(2 * REPORT_MS)
    expect(home.counted()).toBe(7)
    expect(home.watcher.counts.long_lines).toBe(2)
  })

  it('much at once is read piece by piece to its end', async () => {
    home.call(3_000, { more: 'z'.repeat(1_000) })
    await home.pass(2 * REPORT_MS)
    expect(home.counted()).toBe(3_000)
  })

  it('a half-written line counts when it is whole, once', async () => {
    const line = toolUse(home.test.now + 1)
    appendFileSync(home.transcript(), line.slice(0, 100))
    await home.settle()
    expect(story()).toEqual([])
    appendFileSync(home.transcript(), line.slice(100))
    await home.settle()
    expect(home.counted()).toBe(1)
  })

  it('an installs.json that can’t be read is counted, and watching goes on as before', async () => {
    writeFileSync(home.test.home.installs, '{')
    home.call()
    for (let i = 0; i < 20; i++) {
      home.test.now += 2_000
      await home.watcher.poll().catch(() => {})
    }
    expect(home.counted()).toBe(0)
    home.install(`${home.userHome}/.claude/settings.json`)
    await home.settle()
    expect(home.counted()).toBe(1)
  })
})
