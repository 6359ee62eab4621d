// The hook door: native payloads of installed hooks, over a Unix socket that only this user can open (T1).
// Every answer is HTTP 200 with the text of conventions/wire.ts; a hook takes anything else as a failure.
import { Hono } from 'hono'
import { WAYS_IN, type WayIn } from '../../conventions/decision.ts'
import { MAX_HOOK_BYTES } from '../../conventions/limits.ts'
import { encodeAnswer, type HookAnswer } from '../../conventions/wire.ts'
import { readLimited } from './body.ts'

export interface HookQuery {
  agent: string
  event: string
  /** As the installed hook says; absent where another program posts. */
  way?: WayIn | undefined
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
}

export interface HookDoor {
  /** Decides and records one native payload; durable when it resolves. */
  native(query: HookQuery, payload: Uint8Array): Promise<HookAnswer>
  /** Waits for the answer to a held call; null when nothing is held by that id. */
  wait(approval: string, gone: AbortSignal): Promise<HookAnswer | null>
}

export function hookApp(door: HookDoor): Hono {
  const app = new Hono()
  app.post('/hook/:agent/:event', async (c) => {
    const payload = await readLimited(c.req.raw, MAX_HOOK_BYTES)
    if (payload === null) {
      return reply({ kind: 'block', text: `Spanseal refused: the payload is larger than ${MAX_HOOK_BYTES} bytes` })
    }
    const said = c.req.query('hook')
    const way = WAYS_IN.find((known) => known === said)
    // An http hook has a door of its own, and whoever names a way in that is not known is not one of ours.
    if (said !== undefined && (way === undefined || way === 'http')) {
      return reply({ kind: 'block', text: 'Spanseal refused: this hook is of another version; run: spanseal init' })
    }
    const query: HookQuery = {
      agent: c.req.param('agent'),
      event: c.req.param('event'),
      way,
      mode: c.req.query('mode') === 'observe' ? 'observe' : 'enforce',
      failMode: c.req.query('fail') === 'open' ? 'open' : 'closed',
    }
    return reply(await door.native(query, payload))
  })
  app.get('/hook/wait/:approval', async (c) => {
    const answer = await door.wait(c.req.param('approval'), c.req.raw.signal)
    return reply(
      answer ?? { kind: 'block', text: 'Nothing is held by that id any more, so the call may not run. Try it again.' },
    )
  })
  return app
}

function reply(answer: HookAnswer): Response {
  const body = Buffer.from(encodeAnswer(answer))
  return new Response(body, {
    headers: { 'content-type': 'text/plain; charset=utf-8', 'content-length': String(body.length) },
  })
}
