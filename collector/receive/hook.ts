// The hook door: native payloads of installed hooks, over a Unix socket that only this user can open (T1).
// Every answer is HTTP 200 with the text of conventions/wire.ts; a hook takes anything else as a failure.
// Two paths, so no router, and no Request or Response of the web: to load those takes a new process longer than to open a log, and this
// door is what somebody waits for.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { WAYS_IN, type WayIn } from '../../conventions/decision.ts'
import { MAX_HOOK_BYTES } from '../../conventions/limits.ts'
import { encodeAnswer, type HookAnswer } from '../../conventions/wire.ts'
import { collectLimited } from './body.ts'

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

/** Answers each request of the hook socket. What is no hook's goes to `other`. */
export function hookListener(door: HookDoor, other: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const asked = answerFor(door, incoming, outgoing)
    if (asked === undefined) {
      other(incoming, outgoing)
      return
    }
    asked.then(
      (answer) => send(outgoing, answer),
      // The connection broke, or what should never fail did: no answer, which a hook takes as a failure.
      () => outgoing.destroy(),
    )
  }
}

function answerFor(
  door: HookDoor,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<HookAnswer> | undefined {
  // An address like //x is one of another machine.
  const url = URL.canParse(`http://localhost${incoming.url}`) ? new URL(`http://localhost${incoming.url}`) : undefined
  const [first, hook, one, two, ...rest] = url?.pathname.split('/') ?? []
  if (url === undefined || first !== '' || hook !== 'hook' || !one || !two || rest.length > 0) return undefined
  if (incoming.method === 'POST') return native(door, incoming, one, two, url.searchParams)
  if (incoming.method === 'GET' && one === 'wait') return waited(door, two, outgoing)
  return undefined
}

async function native(
  door: HookDoor,
  incoming: IncomingMessage,
  agent: string,
  event: string,
  query: URLSearchParams,
): Promise<HookAnswer> {
  const payload = await collectLimited(incoming, MAX_HOOK_BYTES)
  if (payload === null)
    return { kind: 'block', text: `Spanseal refused: the payload is larger than ${MAX_HOOK_BYTES} bytes` }
  const said = query.get('hook') ?? undefined
  const way = WAYS_IN.find((known) => known === said)
  // An http hook has a door of its own, and whoever names a way in that is not known is not one of ours.
  if (said !== undefined && (way === undefined || way === 'http'))
    return { kind: 'block', text: 'Spanseal refused: this hook is of another version; run: spanseal init' }
  return door.native(
    {
      agent,
      event,
      way,
      mode: query.get('mode') === 'observe' ? 'observe' : 'enforce',
      failMode: query.get('fail') === 'open' ? 'open' : 'closed',
    },
    payload,
  )
}

async function waited(door: HookDoor, approval: string, outgoing: ServerResponse): Promise<HookAnswer> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const answer = await door.wait(approval, gone.signal)
  return (
    answer ?? { kind: 'block', text: 'Nothing is held by that id any more, so the call may not run. Try it again.' }
  )
}

function send(outgoing: ServerResponse, answer: HookAnswer): void {
  const body = Buffer.from(encodeAnswer(answer))
  outgoing.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length }).end(body)
}
