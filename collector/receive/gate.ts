// POST /v1/gate: whoever can make one call before acting can be gated. Takes claim spans as OTLP/JSON, or a small JSON of the same
// meaning. Over the hook socket the sender is this user's SDK (T1); over TCP a token says what it is: sdk (T1) or gateway (T2).
import { createHash, timingSafeEqual } from 'node:crypto'
import { Hono } from 'hono'
import * as z from 'zod'
import { type Claim, claimAttributes } from '../../conventions/claim.ts'
import { canonical } from '../../conventions/jcs.ts'
import { MAX_HOOK_BYTES } from '../../conventions/limits.ts'
import type { ExportTraceServiceRequest } from '../../conventions/otlp.ts'
import type { Written } from '../../conventions/record.ts'
import { type Json, parseStrict } from '../../conventions/strict-json.ts'
import type { HookAnswer } from '../../conventions/wire.ts'
import { readLimited } from './body.ts'
import { decodeTraces } from './otlp/decode.ts'

/** An application that may call the gate over TCP. `tokenHash`: lower-case hex SHA-256 of its bearer token. */
export interface GateApp {
  name: string
  kind: 'sdk' | 'gateway'
  tokenHash: string
}

export interface GateDoor {
  claims(
    request: ExportTraceServiceRequest,
    sender: { kind: 'sdk' | 'gateway'; name: string },
  ): Promise<{ answer: HookAnswer; receipts: Written[] }>
  /** For who asked about the held call, and nobody else. */
  wait(
    approval: string,
    sender: { kind: 'sdk' | 'gateway'; name: string },
    gone: AbortSignal,
  ): Promise<HookAnswer | null>
}

/** `apps`: undefined on the hook socket, whose credential is the socket itself. */
export function gateApp(
  door: GateDoor,
  apps?: readonly GateApp[],
): Hono<{ Variables: { sender: { kind: 'sdk' | 'gateway'; name: string } } }> {
  const app = new Hono<{ Variables: { sender: { kind: 'sdk' | 'gateway'; name: string } } }>()
  app.use(async (c, next) => {
    const sender =
      apps === undefined ? { kind: 'sdk' as const, name: 'gate' } : findApp(apps, c.req.header('authorization'))
    if (sender === undefined)
      return c.json({ error: 'an application token is needed: Authorization: Bearer <token> (see docs/gate.md)' }, 401)
    c.set('sender', { kind: sender.kind, name: sender.name })
    return next()
  })
  app.post('/v1/gate', async (c) => {
    const body = await readLimited(c.req.raw, MAX_HOOK_BYTES)
    if (body === null) return c.json({ error: `the body is larger than ${MAX_HOOK_BYTES} bytes` }, 413)
    const request = requestOf(body)
    if (typeof request === 'string') return c.json({ error: request }, 400)
    const { answer, receipts } = await door.claims(request, c.get('sender'))
    return c.json(decisionOf(answer, receipts), answer.kind === 'fail' ? 503 : 200)
  })
  app.get('/v1/gate/wait/:approval', async (c) => {
    const answer = await door.wait(c.req.param('approval'), c.get('sender'), c.req.raw.signal)
    if (answer === null) return c.json({ error: 'nothing is held by that id' }, 404)
    return c.json(decisionOf(answer, []), answer.kind === 'fail' ? 503 : 200)
  })
  return app
}

function findApp(apps: readonly GateApp[], authorization: string | undefined): GateApp | undefined {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return undefined
  const hash = createHash('sha256').update(token).digest()
  return apps.find(({ tokenHash }) => timingSafeEqual(Buffer.from(tokenHash, 'hex'), hash))
}

const smallSchema = z.strictObject({
  event: z
    .enum(['tool.before', 'tool.after', 'tool.failed', 'session.start', 'session.end', 'prompt', 'turn.end'])
    .default('tool.before'),
  agent: z.string(),
  session: z.string(),
  turn: z.string().optional(),
  call: z.string().optional(),
  tool: z.string().optional(),
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  prompt: z.string().optional(),
  cwd: z.string().optional(),
  approval: z.string().optional(),
})

/** The claim spans of a body, or what is wrong with it. */
function requestOf(body: Uint8Array): ExportTraceServiceRequest | string {
  const parsed = parseStrict(body, { looseNumbers: true })
  if (!parsed.ok) return `the body is not strict JSON: ${parsed.error.message}`
  const { value, raw } = parsed
  if (raw.has('resourceSpans') || raw.has('resource_spans')) {
    const decoded = decodeTraces(body, 'json')
    return decoded.ok ? decoded.request : decoded.message
  }
  const small = smallSchema.safeParse(value)
  if (!small.success)
    return small.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`).join('; ')
  const { call, arguments: args, result, ...rest } = small.data
  const claim: Claim = {
    ...withoutUndefined(rest),
    event: small.data.event,
    agent: small.data.agent,
    session: small.data.session,
  }
  if (call !== undefined) claim.callId = call
  if (args !== undefined) claim.args = raw.get('arguments') ?? canonical(args as Json)
  if (result !== undefined) claim.result = raw.get('result') ?? canonical(result as Json)
  return {
    resourceSpans: [
      {
        scopeSpans: [
          {
            scope: { name: 'spanseal.gate' },
            spans: [
              {
                traceId: '0'.repeat(32),
                spanId: '0'.repeat(16),
                name: claim.event,
                startTimeUnixNano: '0',
                endTimeUnixNano: '0',
                attributes: claimAttributes(claim),
              },
            ],
          },
        ],
      },
    ],
  }
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

/** The answer as JSON: what the caller must do, and the receipts that prove what was recorded. */
function decisionOf(answer: HookAnswer, receipts: Written[]): Json {
  const proof = receipts.map(({ bytes, kid, signature, leaf }) => ({
    record: Buffer.from(bytes).toString('utf8'),
    kid,
    signature,
    leaf,
  }))
  switch (answer.kind) {
    case 'pass':
      return { decision: 'allow', receipts: proof }
    case 'hold':
      return {
        decision: 'hold',
        approval: answer.approval,
        reason: answer.text,
        wait: `/v1/gate/wait/${answer.approval}`,
        receipts: proof,
      }
    case 'block':
      return { decision: 'deny', reason: answer.text, receipts: proof }
    case 'fail':
      return { decision: 'deny', reason: answer.text, error: answer.text, receipts: proof }
  }
}
