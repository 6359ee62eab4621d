// Every fault, by every way in, against the real Claude Code with the installed hooks in enforce mode: the call did not run, or
// docs/limits.md says that it does. Only the model is a stand-in, and what stands on the collector's socket and port in some rows.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WAYS_IN, type WayIn } from '../../../conventions/decision.ts'
import { ENVELOPE } from '../../../conventions/record.ts'
import { leftOut, sessionsOf } from './faults/rows.ts'
import { INSTALL, World } from './faults/world.ts'
import { bash, Model, type Step } from './support/model.ts'
import { SESSION_MS } from './support/user.ts'

interface Played {
  world: World
  model: Model
  /** Sessions that did not end well, and why. The rows show what became of the calls that were made. */
  failures: string[]
}

const played = new Map<WayIn, Played>()
const LIMITS = readFileSync('docs/limits.md', 'utf8')
/** Sessions without any hook: what was said in them is not recorded. */
const UNGATED = ['bare', 'disabled']

beforeAll(async () => {
  await Promise.all(WAYS_IN.map(play))
}, SESSION_MS)

afterAll(async () => {
  for (const { world, model } of played.values()) {
    await world.remove()
    await model.stop()
  }
})

/** All sessions of one way in, one after the other on the same machine. */
async function play(way: WayIn): Promise<void> {
  const world = await new World(way).install()
  const sessions = sessionsOf(way)
  const model = await new Model(
    Object.fromEntries(sessions.map((session): [string, Step[]] => [session.name, stepsOf(session, world)])),
  ).start()
  world.model = model.url
  const failures: string[] = []
  played.set(way, { world, model, failures })
  for (const { name, args = [], around } of sessions) {
    try {
      const undo = await around?.(world)
      await world.user.claude(model, `Go on. [[${name}]]`, ...args)
      await undo?.()
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : error}`)
    }
  }
}

/** One call a row. A row's fault is made just before the model asks for the call, and undone when the agent says how it went. */
function stepsOf({ rows }: ReturnType<typeof sessionsOf>[number], world: World): Step[] {
  let undo: () => unknown = () => {}
  const steps = rows.map((row): Step => {
    const prepare = async () => {
      await undo()
      undo = await row.make(world, row)
    }
    return { before: prepare, calls: [bash(row.id, row.command)] }
  })
  return [...steps, { before: () => undo(), text: 'Done.' }]
}

function of(way: WayIn): Played {
  const found = played.get(way)
  if (found === undefined) throw new Error(`${way} was not played`)
  return found
}

const rowsOf = (way: WayIn) => sessionsOf(way).flatMap(({ rows }) => rows)

it('has a part for every way in that a record can name', () => {
  const recordable = ENVELOPE.shape.source.shape.way.unwrap().options
  expect(Object.keys(INSTALL).sort()).toEqual([...recordable].sort())
})

describe.each(WAYS_IN)('by the way in %s', (way) => {
  it('each session came to its end, with every call of the table made', () => {
    expect(of(way).failures).toEqual([])
    expect(of(way).model.left()).toEqual([])
  })

  it.each(rowsOf(way))('$event, $fault', ({ id, ran, limit }) => {
    const { world, model } = of(way)
    const result = model.results.get(id)
    expect(world.user.marks(id)).toBe(ran ? 1 : 0)
    if (limit === undefined) expect(result?.error, result?.text).toBe(!ran)
    else expect(LIMITS).toContain(`| ${limit} |`)
    // What ran was decided by us, or is in the list of limits.
    const allowed = world.user
      .records('tool.decided')
      .filter((one) => one.call?.id === id && one.body.decision !== 'deny')
    if (ran) expect(allowed.length > 0).toBe(limit === undefined)
  })

  it('a row that it leaves out has another one that stands for it', () => {
    const ids = rowsOf(way).map(({ id }) => id)
    expect(leftOut(way).filter(({ as }) => !ids.includes(as))).toEqual([])
  })

  it('its calls came by it, and by no other', () => {
    const ways = of(way)
      .world.user.records('tool.decided')
      .map(({ source }) => source.way)
    expect([...new Set(ways)]).toEqual([way])
  })

  it('the watcher says of each session without hooks that it is one, and of no other', () => {
    expect(of(way).world.ungated()).toHaveLength(UNGATED.length)
  })

  it('the hooks ask no proxy, but an agent’s own request may', () => {
    expect(of(way).world.proxied > 0).toBe(way === 'http')
  })

  it('the log shows what ran all the same', async () => {
    const { world } = of(way)
    const report = await world.user.verdict()
    expect(world.user.marks('rewritten-into')).toBe(1)
    expect(report.status).toBe('intact')
    expect(report.decisions).toMatchObject({ ran_against_deny: 0, ran_without_approval: 0, other_arguments: 1 })
    for (const { id } of rowsOf(way).filter(({ id, ran, limit }) => ran && limit && !UNGATED.includes(id))) {
      const asked = world.user.records('model.message').filter((record) => record.call?.id === id)
      expect([id, asked.map(({ body }) => body.kind)]).toEqual([id, ['tool_use']])
      const gaps = world.user.records('gap').filter((record) => record.call?.id === id)
      expect([id, gaps.map(({ body }) => body.kind)]).toEqual([id, ['hook_missing']])
    }
  })

  it('a session in which no command hook was heard before a call is told from the others', () => {
    const { user } = of(way).world
    const silent = user.records('gap').filter(({ body }) => body.kind === 'heartbeat_missing')
    const calls = (run: string | undefined) =>
      user.records('tool.decided').flatMap((one) => (one.run?.id === run ? [one.call?.id] : []))
    const told = silent.map(({ run }) => calls(run?.id))
    expect(told.filter((ids) => ids[0] === 'silent')).toEqual(way === 'http' ? [['silent']] : [])
    // Another program was on the socket in all of this session but its last call; whether a command hook came before that, is chance.
    expect(told.filter((ids) => !['silent', 'after-all'].includes(ids[0] ?? ''))).toEqual([])
  })
})
