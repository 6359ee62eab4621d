// The table: what is broken, when, and what then became of the call. Every row is played for every way in.
import { writeFileSync } from 'node:fs'
import type { WayIn } from '../../../../conventions/decision.ts'
import type { Behaviour } from '../../../hooks/support/stand-in.ts'
import { FORCE_PUSH, PUSH } from '../support/model.ts'
import { always, until, type World } from './world.ts'

type Undo = () => unknown

export interface Row {
  id: string
  fault: string
  /** The event whose hook meets the fault. */
  event: 'PreToolUse' | 'PostToolUse' | 'ConfigChange'
  /** What the call does besides leaving its mark. Default: nothing that any policy minds. */
  command?: string
  make(world: World, row: Row): Undo | Promise<Undo>
  ran: boolean
  /** First words of the line in docs/limits.md that says so, where a call ran that nobody let through. */
  limit?: string
  /** Where a way in differs. */
  by?: Partial<Record<WayIn, Outcome | StandsFor>>
}

export interface Outcome {
  ran: boolean
  limit?: string
}

/** A way in that has no such part: the row in which the same becomes of its call. */
interface StandsFor {
  as: string
  why: string
}

/** One session of the agent; `around` makes what all its rows have in common. */
export interface Session {
  name: string
  /** More of the agent's command line. */
  args?: string[]
  around?: (world: World) => Undo | Promise<Undo>
  rows: Row[]
}

const HANG: Behaviour = () => {}
const nothing = () => {}

const before = (id: string, fault: string, make: Row['make'], more: Partial<Row> = {}): Row => ({
  ...{ id, fault, event: 'PreToolUse', make, ran: false },
  ...more,
})

/** The fault comes while the tool runs: the call was let through, only what is reported afterwards meets it. */
const after = (
  id: string,
  fault: string,
  make: (world: World) => Undo | Promise<Undo>,
  more: Partial<Row> = {},
): Row => ({
  ...{ id, fault, event: 'PostToolUse', ran: true },
  command: `until [ -e marks/${id}-go ]; do sleep 0.05; done`,
  make(world) {
    const made = (async () => {
      await until(() => world.exists(`marks/${id}`))
      const undo = await make(world)
      writeFileSync(`${world.user.project}/marks/${id}-go`, '')
      return undo
    })()
    return async () => (await made)()
  },
  ...more,
})

/** The fault comes while the call is held for a person. */
const held = (id: string, fault: string, make: (world: World, approval: string) => Promise<Undo>): Row => ({
  ...{ id, fault, event: 'PreToolUse', ran: false, command: PUSH },
  make(world) {
    const count = world.user.records('approval.requested').length + 1
    const made = world.user.until('approval.requested', count).then(({ body }) => make(world, body.approval))
    return async () => (await made)()
  },
})

/** Another program answers on the collector's socket, and on its port for http hooks. `behave` is told how that way in is let pass. */
const answer = (id: string, fault: string, behave: (pass: string) => Behaviour, more: Partial<Row> = {}): Row =>
  before(
    id,
    fault,
    async (world) => {
      await world.impersonate(behave(world.pass))
      return nothing
    },
    more,
  )

/** Only http hooks have a port, a token, and a program of the agent's own that sends them. */
const httpOnly = (as: string, why: string, row: Row): Row => ({
  ...row,
  by: { ...row.by, sh: { as, why }, node: { as, why } },
})

const NO_FILE = 'an http hook has no file'
const IMPOSTOR =
  'With `--fast`: another program on the port of the http hooks that answers with nothing or with any JSON object'

/** The settings lose our hooks while another program answers on the socket; the call then shows whether the agent still has them. */
const stripped = (id: string, fault: string, behave: (world: World) => Behaviour): Row => ({
  ...{ id, fault, event: 'ConfigChange', ran: false },
  async make(world) {
    await world.impersonate(behave(world))
    return world.stripSettings()
  },
})

const killing =
  (world: World, event: string): Behaviour =>
  (socket, { path }) => {
    if (path.includes(`/${event}?`)) world.killHooks(event)
    else socket.destroy()
  }

export const SESSIONS: Session[] = [
  {
    name: 'control',
    rows: [
      before('control', 'nothing', () => nothing, { ran: true }),
      before('proxy', 'HTTP_PROXY and ALL_PROXY lead to a program that lets everything pass', () => nothing, {
        command: FORCE_PUSH,
      }),
      before('rewritten', 'a second hook rewrites the input', () => nothing, {
        limit: 'A second hook beside ours that rewrites the input (`updatedInput`)',
      }),
    ],
  },
  {
    name: 'bare',
    args: ['--dangerously-skip-permissions', '--bare'],
    rows: [
      before('bare', 'hooks switched off by --bare', () => nothing, {
        ran: true,
        limit: '`claude --bare`, or `CLAUDE_CODE_SIMPLE=1`',
      }),
    ],
  },
  {
    name: 'disabled',
    around: (world) => world.projectSettings({ disableAllHooks: true }),
    rows: [
      before('disabled', 'hooks switched off by the project', () => nothing, {
        ran: true,
        limit: '`disableAllHooks` in a project’s settings before the session starts',
      }),
    ],
  },
  {
    name: 'urls',
    around: (world) => world.projectSettings({ allowedHttpHookUrls: [] }),
    rows: [
      httpOnly(
        'control',
        'no address is asked',
        before('urls', 'the project allows no http hook', () => nothing),
      ),
    ],
  },
  {
    name: 'proxied',
    around: (world) => world.proxyEverything(),
    rows: [
      before(
        'proxied',
        'the project sets HTTP_PROXY and HTTPS_PROXY without NO_PROXY, for a program that lets everything pass',
        () => nothing,
        {
          command: FORCE_PUSH,
          by: {
            http: {
              ran: true,
              limit:
                'With `--fast`: a proxy in the agent’s environment, or in `env` of any of its settings, a project’s too, that `NO_PROXY` does not keep from 127.0.0.1',
            },
          },
        },
      ),
    ],
  },
  {
    name: 'silent',
    around: (world) => world.keepHttpOnly(),
    rows: [
      httpOnly(
        'disabled',
        'without command hooks there are none',
        before('silent', 'command hooks taken out before the session', () => nothing, { command: FORCE_PUSH }),
      ),
    ],
  },
  {
    name: 'hook',
    // The collector is killed in the next sessions: before that its watcher gets the time to speak of the last two.
    around: (world) => () => until(() => world.ungated().length >= 2),
    rows: [
      before('missing', 'hook file missing', (world) => world.replaceHook(), {
        by: { http: { as: 'down', why: NO_FILE } },
      }),
      before(
        'cut-file',
        'hook file cut in the middle',
        (world) => world.replaceHook((text) => text.slice(0, text.length / 2)),
        { by: { http: { as: 'cut', why: NO_FILE } } },
      ),
      before('slow', 'hook slower than the agent waits', (world) => world.slowHook(), {
        by: { http: { as: 'hung', why: NO_FILE } },
      }),
      before('linked', 'home replaced by a link to itself', (world) => world.linkHome('itself'), {
        command: FORCE_PUSH,
      }),
      before('emptied', 'home replaced by a link to an empty folder', (world) => world.linkHome('nothing'), {
        // The collector that runs answers, and records what it decides where its files have gone.
        by: { http: { ran: true } },
      }),
      after('missing-after', 'hook file missing', (world) => world.replaceHook(), {
        by: { http: { as: 'down-after', why: NO_FILE } },
      }),
      before('emptied-file', 'hook file emptied', (world) => world.replaceHook(() => ''), {
        ran: true,
        limit: 'An installed hook file that was emptied or replaced',
        by: { http: { as: 'empty', why: NO_FILE } },
      }),
    ],
  },
  {
    name: 'collector',
    rows: [
      before('killed-alone', 'collector killed', (world) => world.kill(), {
        // The hook starts another. An http hook can't; the command hook behind the call does.
        ran: true,
        by: { http: { ran: false } },
      }),
      before('healed', 'collector killed at the call before', () => nothing, { ran: true }),
      before('down', 'collector killed, and it can not start', (world) => world.cannotStart()),
      before('hung', 'collector hung', (world) => world.hang()),
      held('killed-held', 'collector killed while the call is held', (world) => world.kill()),
      held(
        'restarted-held',
        'collector restarted while the call is held; then a person says yes',
        async (world, id) => {
          await world.user.killCollector()
          await world.up()
          await world.user.run(['approvals', 'approve', id])
          return nothing
        },
      ),
      held('hung-held', 'collector hung while the call is held', async (world) => world.hang()),
      after('down-after', 'collector killed, and it can not start', (world) => world.cannotStart()),
      after('hung-after', 'collector hung', (world) => world.hang()),
    ],
  },
  {
    name: 'door',
    rows: [
      httpOnly(
        'error',
        'there is no token',
        before('token', 'the collector has another token', (world) => world.otherToken()),
      ),
      httpOnly(
        'liar',
        'there is no port',
        before('port-taken', 'another program has the port', (world) => world.takePort('{"status":"ok"}'), {
          ran: true,
          limit: IMPOSTOR,
        }),
      ),
    ],
  },
  {
    name: 'answers',
    around: (world) => world.impersonate(HANG),
    rows: [
      answer('no-answer', 'no answer', () => HANG),
      answer('wrong', 'an answer that is none', () => always('spanseal/1 maybe\n')),
      answer('foreign', 'another program, which allows in JSON', () => always('{"decision":"allow"}')),
      answer('object', 'another program, which says something else in JSON', () => always('{"status":"ok"}'), {
        by: { http: { ran: true, limit: IMPOSTOR } },
      }),
      answer(
        'cut',
        'an answer cut short',
        (pass) => (socket) =>
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${pass.length}\r\n\r\n${pass.slice(0, -1)}`),
      ),
      answer('empty', 'an empty 200', () => always(''), { by: { http: { ran: true, limit: IMPOSTOR } } }),
      answer(
        'redirect',
        'a 302',
        (pass) => (socket) =>
          socket.end(`HTTP/1.1 302 Found\r\nLocation: /pass\r\nContent-Length: ${pass.length}\r\n\r\n${pass}`),
      ),
      answer('page', 'a page of HTML', (pass) => always(`<html>\n${pass}</html>\n`, '200 OK', 'text/html')),
      answer('error', 'a 500', (pass) => always(pass, '500 Internal Server Error')),
      answer('reset', 'a connection that is cut', () => (socket) => socket.destroy()),
      before(
        'killed',
        'hook killed while it runs',
        async (world) => {
          await world.impersonate(killing(world, 'PreToolUse'))
          return nothing
        },
        { by: { http: { as: 'reset', why: 'an http hook is no process' } } },
      ),
      stripped('stripped-hung', 'settings without our hooks, no answer', () => HANG),
      stripped('stripped-wrong', 'settings without our hooks, an answer that is none', () => always('hello')),
      stripped('stripped-killed', 'settings without our hooks, hook killed while it runs', (world) =>
        killing(world, 'ConfigChange'),
      ),
      before('liar', 'another program, which knows our words', (world) => world.impersonate(always(world.pass)), {
        ran: true,
        limit: 'Another program of this user on the hook socket that answers in the collector’s own words',
        by: { http: { ran: true, limit: IMPOSTOR } },
      }),
      before('after-all', 'none any more', () => nothing, { ran: true }),
    ],
  },
  {
    name: 'all-down',
    around: (world) => world.cannotStart(),
    rows: [before('all-down', 'collector down before the session, and it can not start', () => nothing)],
  },
]

/** A row as one way in plays it. */
export type Played = Row & Outcome

/** The sessions of one way in, with the rows it plays. */
export function sessionsOf(way: WayIn): (Session & { rows: Played[] })[] {
  return SESSIONS.map((session) => ({ ...session, rows: session.rows.flatMap((row) => playedBy(way, row)) })).filter(
    ({ rows }) => rows.length > 0,
  )
}

/** Rows that a way in leaves to others: what does not apply, which row stands for it, and why. */
export function leftOut(way: WayIn): { id: string; as: string; why: string }[] {
  return SESSIONS.flatMap(({ rows }) => rows).flatMap(({ id, by }) => {
    const own = by?.[way]
    return own !== undefined && 'as' in own ? [{ id, ...own }] : []
  })
}

function playedBy(way: WayIn, row: Row): Played[] {
  const own = row.by?.[way]
  if (own === undefined) return [row]
  if ('as' in own) return []
  const { limit, ...rest } = row
  return [{ ...rest, ...own }]
}
