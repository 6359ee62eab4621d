// Every fault, by every way in, against the real Claude Code with the installed hooks in enforce mode: the call did not run, or
// docs/limits.md says that it does. Only the model is a stand-in, and what stands on the collector's socket in some rows.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WAYS_IN, type WayIn } from '../../../conventions/decision.ts'
import { SESSIONS, type Session } from './faults/rows.ts'
import { World } from './faults/world.ts'
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
  const sessions = SESSIONS.map((session): [string, Step[]] => [session.name, stepsOf(session, world)])
  const model = await new Model(Object.fromEntries(sessions)).start()
  const failures: string[] = []
  played.set(way, { world, model, failures })
  for (const { name, args = [], around } of SESSIONS) {
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
function stepsOf({ rows }: Session, world: World): Step[] {
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

describe.each(WAYS_IN)('by the way in %s', (way) => {
  it('each session came to its end, with every call of the table made', () => {
    expect(of(way).failures).toEqual([])
    expect(of(way).model.left()).toEqual([])
  })

  it.each(SESSIONS.flatMap(({ rows }) => rows))('$event, $fault', ({ id, ran, limit }) => {
    const { world, model } = of(way)
    const result = model.results.get(id)
    expect(world.user.marks(id)).toBe(ran ? 1 : 0)
    if (limit === undefined) expect(result?.error, result?.text).toBe(!ran)
    else expect(LIMITS).toContain(`| ${limit} |`)
  })

  it('the watcher says of each session without hooks that it is one, and of no other', () => {
    expect(of(way).world.ungated()).toHaveLength(2)
  })

  it('the hooks ask no proxy', () => {
    expect(of(way).world.proxied).toBe(0)
  })

  it('the log shows what ran all the same', async () => {
    const { world } = of(way)
    const report = await world.user.verdict()
    expect(world.user.marks('rewritten-into')).toBe(1)
    expect(report.status).toBe('intact')
    expect(report.decisions).toMatchObject({ ran_against_deny: 0, ran_without_approval: 0, other_arguments: 1 })
    for (const call of ['emptied-file', 'liar']) {
      const asked = world.user.records('model.message').filter((record) => record.call?.id === call)
      expect(asked.map(({ body }) => body.kind)).toEqual(['tool_use'])
      expect(world.user.records('tool.decided').filter((record) => record.call?.id === call)).toEqual([])
    }
  })
})
