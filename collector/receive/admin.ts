// The admin door: a Unix socket of its own. Whoever can open it can approve, ask and stop; the hook socket can't.
import { Hono } from 'hono'
import * as z from 'zod'
import {
  type Answer,
  APPROVER_KINDS,
  type Approver,
  type ApproverChange,
  type ApproverSignature,
} from '../../conventions/approval.ts'
import { KEY_REVOCATIONS } from '../../conventions/decision.ts'
import { nameText } from '../../conventions/names.ts'
import type { Json } from '../../conventions/strict-json.ts'

/** What came with an answer or a change. */
interface Given {
  signature?: ApproverSignature | undefined
  break_glass?: string | undefined
}

type Outcome = { ok: true } | { ok: false; status: 403 | 404 | 409; error: string }

export interface AdminDoor {
  status(): Json
  approvals(): Json
  answer(id: string, answer: Answer, given: Given): Promise<Outcome>
  /** Who may answer, and the leaf that the next change must name. */
  approvers(): { approvers: Approver[]; after: string }
  changeApprover(change: ApproverChange, given: Given): Promise<Outcome>
  /** The command line's own question, with parameters. */
  query(sql: string, params: (string | number)[]): Promise<Json>
  /** A person's SQL, read-only and bounded. */
  sql(sql: string, maxRows: number): Promise<Json>
  checkpoint(): void
  /** Takes content out of the vault; says why not otherwise. */
  purge(wanted: unknown): Promise<Purged>
  /** A new key signs records from now on. */
  rotateKey(): Promise<{ kid: string; replaces: string; last_seq: number }>
  /** Somebody else may have had a key; null where the log knows no such key. */
  revokeKey(revoked: Revocation): Promise<{ kid: string } | null>
  /** Reads configuration and policy again. */
  reload(): Promise<{ outcome: string; [key: string]: Json }>
  /** What a verification of this home said; false when that is no such thing. */
  verified(result: unknown): boolean
  stop(): void
}

type Purged =
  | { ok: true; record: number; erased: { values: number; bytes: number; damaged: number[] } }
  | { ok: false; message: string }

const querySchema = z.strictObject({ sql: z.string(), params: z.array(z.union([z.string(), z.number()])).default([]) })
const sqlSchema = z.strictObject({ sql: z.string(), maxRows: z.int().min(1).max(100_000).default(1000) })

const kid = z.string().regex(/^sha256:[0-9a-f]{64}$/)

const givenShape = {
  signature: z
    .strictObject({
      approver: kid,
      signature: z.string().regex(/^[A-Za-z0-9+/]{86}==$/),
      flags: z.int().min(0).max(0xff).optional(),
      counter: z.int().min(0).max(0xffffffff).optional(),
    })
    .optional(),
  /** Characters. A sentence or two; it is kept as content. */
  break_glass: z.string().trim().min(1).max(1_000).optional(),
}
const givenSchema = z.strictObject(givenShape)

const leaf = z.string().regex(/^[A-Za-z0-9+/]{43}=$/)
const changeSchema = z.strictObject({
  change: z.discriminatedUnion('action', [
    z.strictObject({
      action: z.literal('add'),
      after: leaf,
      kid,
      name: nameText,
      kind: z.enum(APPROVER_KINDS),
      spki: z.string().max(80),
      application: nameText.optional(),
    }),
    z.strictObject({ action: z.literal('remove'), after: leaf, kid }),
  ]),
  ...givenShape,
})

const revocationSchema = z.strictObject({
  kid,
  from_seq: z.int().min(0),
  reason: z.enum(KEY_REVOCATIONS),
})
type Revocation = z.infer<typeof revocationSchema>

export function adminApp(door: AdminDoor): Hono {
  const app = new Hono()
  app.get('/status', (c) => c.json(door.status()))
  app.get('/approvals', (c) => c.json(door.approvals()))
  app.post('/approvals/:id/:answer', async (c) => {
    const { id, answer } = c.req.param()
    if (answer !== 'approve' && answer !== 'reject') return c.json({ error: 'answer with approve or reject' }, 400)
    const text = await c.req.text()
    const given = givenSchema.safeParse(text === '' ? {} : JSON.parse(text))
    if (!given.success) return c.json({ error: z.prettifyError(given.error) }, 400)
    const outcome = await door.answer(id, answer, given.data)
    return outcome.ok ? c.json({ id, answer }) : c.json({ error: outcome.error }, outcome.status)
  })
  app.get('/approvers', (c) => c.json(door.approvers()))
  app.post('/approvers', async (c) => {
    const body = changeSchema.safeParse(await c.req.json())
    if (!body.success) return c.json({ error: z.prettifyError(body.error) }, 400)
    const { change, ...given } = body.data
    const outcome = await door.changeApprover(change, given)
    return outcome.ok ? c.json({ kid: change.kid }) : c.json({ error: outcome.error }, outcome.status)
  })
  app.post('/query', async (c) => {
    const body = querySchema.safeParse(await c.req.json())
    if (!body.success) return c.json({ error: body.error.message }, 400)
    return c.json(await door.query(body.data.sql, body.data.params))
  })
  app.post('/sql', async (c) => {
    const body = sqlSchema.safeParse(await c.req.json())
    if (!body.success) return c.json({ error: body.error.message }, 400)
    return c.json(await door.sql(body.data.sql, body.data.maxRows))
  })
  app.post('/checkpoint', (c) => {
    door.checkpoint()
    return c.json({})
  })
  app.post('/purge', async (c) => {
    const result = await door.purge(await c.req.json())
    if (!result.ok) return c.json({ error: result.message }, 400)
    return c.json({ record: result.record, ...result.erased })
  })
  app.post('/keys/rotate', async (c) => c.json(await door.rotateKey()))
  app.post('/keys/revoke', async (c) => {
    const body = revocationSchema.safeParse(await c.req.json())
    if (!body.success) return c.json({ error: body.error.message }, 400)
    const result = await door.revokeKey(body.data)
    return result === null ? c.json({ error: `this log has no key ${body.data.kid}` }, 404) : c.json(result)
  })
  app.post('/reload', async (c) => {
    const result = await door.reload()
    return c.json(result, result.outcome === 'refused' ? 422 : 200)
  })
  app.post('/verified', async (c) => {
    if (door.verified(await c.req.json())) return c.json({})
    return c.json({ error: 'that is no result of a verification' }, 400)
  })
  app.post('/stop', (c) => {
    door.stop()
    return c.json({ stopping: true })
  })
  app.onError((error, c) => c.json({ error: error.message }, 500))
  return app
}
