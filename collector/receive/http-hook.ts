// The door of an agent's own http hooks: a loopback port that takes the events of tool calls from whoever holds the token, and nothing
// else. An agent makes no second request as a hook of ours does: a call that is held waits for its answer in this one.
import { createHash, timingSafeEqual } from 'node:crypto'
import { Hono } from 'hono'
import { MAX_HOOK_BYTES } from '../../conventions/limits.ts'
import type { HookAnswer } from '../../conventions/wire.ts'
import { readLimited } from './body.ts'
import type { HookDoor, HookQuery } from './hook.ts'

type Settled = Exclude<HookAnswer, { kind: 'hold' }>

export interface HttpHookDoor extends HookDoor {
  /** What the agent is told; null when events of this name do not come by http from this agent. */
  answers(
    agent: string,
    event: string,
  ): ((answer: Settled, query: HookQuery) => { status: number; body: string }) | null
}

export interface HttpHookSettings {
  /** What every request must carry, as a bearer token. */
  token: string
  /** What every address must name: the mark of this home. */
  home: string
}

/** Names of this machine as loopback, with any port: a page that reached us under a name of its own can't change this header. */
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/

export function httpHookApp(door: HttpHookDoor, { token, home }: HttpHookSettings): Hono {
  const wanted = sha256(`Bearer ${token}`)
  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    // A connection that is used again may just be closing: that call would be stopped for nothing.
    c.header('connection', 'close')
  })
  app.use(async (c, next) => {
    if (!LOOPBACK.test(c.req.header('host') ?? '')) return c.json({ error: 'Host must be this machine' }, 403)
    if (c.req.header('origin') !== undefined) return c.json({ error: 'requests of web pages are not taken' }, 403)
    if (!timingSafeEqual(sha256(c.req.header('authorization') ?? ''), wanted))
      return c.json({ error: 'the token of the http hooks is needed' }, 401)
    if (c.req.query('home') !== home) return c.json({ error: 'this hook is of another home' }, 403)
    return next()
  })
  app.post('/hook/:agent/:event', async (c) => {
    const query: HookQuery = {
      agent: c.req.param('agent'),
      event: c.req.param('event'),
      way: 'http',
      mode: c.req.query('mode') === 'observe' ? 'observe' : 'enforce',
      failMode: c.req.query('fail') === 'open' ? 'open' : 'closed',
    }
    const answer = door.answers(query.agent, query.event)
    if (answer === null) return c.json({ error: 'no http hook has this event' }, 404)
    const { status, body } = answer(await decide(door, query, c.req.raw), query)
    return new Response(body, { status, headers: { 'content-type': 'application/json' } })
  })
  app.notFound((c) => c.json({ error: 'this door takes the events of http hooks, and nothing else' }, 404))
  return app
}

async function decide(door: HookDoor, query: HookQuery, request: Request): Promise<Settled> {
  const payload = await readLimited(request, MAX_HOOK_BYTES)
  if (payload === null)
    return { kind: 'block', text: `Spanseal refused: the payload is larger than ${MAX_HOOK_BYTES} bytes` }
  const answer = await door.native(query, payload)
  if (answer.kind !== 'hold') return answer
  const later = await door.wait(answer.approval, request.signal)
  if (later === null || later.kind === 'hold')
    return { kind: 'block', text: 'Nothing is held by that id any more, so the call may not run. Try it again.' }
  return later
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
