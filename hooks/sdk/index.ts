// `spanseal/sdk`: a run of an agent that asks before it acts. Needs Node alone. A refusal is a value, never an exception: a framework that
// swallows exceptions would go on and run the call. Whatever is not a whole answer of the collector is a refusal.
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { type Exchange, exchange } from './request.ts'

export interface RunOptions {
  /** Name of the agent, and the id of its session: together they are the run. */
  agent: string
  session: string
  /** Where the collector listens. Without one: the socket in `$SPANSEAL_HOME` or `~/.spanseal`. */
  target?: { socket: string } | { url: string; token: string }
  /** Absolute folder that relative paths in arguments start from; else that of this process. */
  cwd?: string
  /** Seconds for an answer (5) and for a person's answer (560). */
  deadlines?: { answer?: number; wait?: number }
}

export interface ToolCall {
  /** Id of the call, unique in the session. */
  call: string
  tool: string
  arguments: unknown
  /** Id of the turn: one prompt and its answer. */
  turn?: string
}

/** A record that was written for an answer: its exact bytes as text, and what proves them. */
export interface Receipt {
  record: string
  kid: string
  signature: string
  leaf: string
}

/** Run it, then report it with `complete`. */
export interface Allowed {
  decision: 'allow'
  call: ToolCall
  receipts: Receipt[]
}
/** A person is asked: `consume` waits for the answer. */
export interface Held {
  decision: 'hold'
  call: ToolCall
  approval: string
  reason: string
  receipts: Receipt[]
}
/** Do not run it; tell the model the reason. `by`: a decision, or no answer that counts. */
export interface Refused {
  decision: 'deny'
  by: 'collector' | 'failure'
  reason: string
}

/** What was said afterwards is on disk, or why it is not known to be. */
export type Recorded = { ok: true; receipts: Receipt[] } | { ok: false; reason: string }

export type Observation =
  | { event: 'session.start' | 'session.end' }
  | { event: 'prompt'; turn: string; prompt: string }
  | { event: 'turn.end'; turn: string }

export interface Run {
  /** Asks about one call. `approval`: of an earlier, held attempt at exactly this call. */
  decide(call: ToolCall, approval?: string): Promise<Allowed | Held | Refused>
  /** Waits until a person has answered a held call, and uses the approval up. May be called again after a failure. */
  consume(held: Held): Promise<Allowed | Refused>
  /** Reports the result of an allowed call. `ran`: the arguments it ran with, where they are not the decided ones. */
  complete(allowed: Allowed, outcome: { result: unknown; failed?: boolean; ran?: unknown }): Promise<Recorded>
  /** Reports what is no call. */
  observe(observation: Observation): Promise<Recorded>
}

/** A run's handle. Nothing is sent yet. */
export function openRun({ agent, session, target, cwd, deadlines = {} }: RunOptions): Run {
  const { answer = 5, wait = 560 } = deadlines
  const to = target ?? homeSocket()
  // What a call was asked with, as it was sent: the object may change before it is reported.
  const sent = new WeakMap<Allowed | Held, Asked>()

  /** Sends the members that `make` writes, and those of every request. */
  async function post(make: () => string): Promise<Exchange> {
    let body: string
    try {
      const folder = cwd ?? process.cwd()
      body = `{"agent":${json(agent)},"session":${json(session)},"cwd":${json(folder)},${make()}}`
    } catch (error) {
      return {
        ok: false,
        reason: `it could not be written as JSON: ${error instanceof Error ? error.message : 'unknown'}`,
      }
    }
    return exchange(to, '/v1/gate', body, answer)
  }

  return {
    async decide(call, approval) {
      const asked: Asked = { fields: '', args: '' }
      const reply = await post(() => {
        asked.fields = fieldsOf(call)
        asked.args = json(call.arguments)
        return `${asked.fields},"arguments":${asked.args}${approval === undefined ? '' : `,"approval":${json(approval)}`}`
      })
      const said = readDecision(reply, call)
      if (said.decision !== 'deny') sent.set(said, asked)
      return said
    },
    async consume(held) {
      const asked = sent.get(held)
      if (asked === undefined) return failure('only a call that this run holds can be waited for')
      // One answer lets one call run: the collector says it again to who lost it, so that it is not asked for twice here.
      sent.delete(held)
      const said = readDecision(await exchange(to, `/v1/gate/wait/${held.approval}`, undefined, wait), held.call)
      if (said.decision === 'hold') return failure(NOT_OURS)
      if (said.decision === 'allow') sent.set(said, asked)
      else if (said.by === 'failure') sent.set(held, asked)
      return said
    },
    async complete(allowed, outcome) {
      const asked = allowed?.decision === 'allow' ? sent.get(allowed) : undefined
      if (asked === undefined) return { ok: false, reason: 'only a call that this run was allowed can be completed' }
      const reply = await post(() => {
        const args = outcome.ran === undefined ? asked.args : json(outcome.ran)
        const event = outcome.failed === true ? 'tool.failed' : 'tool.after'
        return `"event":"${event}",${asked.fields},"arguments":${args},"result":${json(outcome.result ?? null)}`
      })
      return readRecorded(reply)
    },
    async observe(observation) {
      return readRecorded(await post(() => json(observation).slice(1, -1)))
    },
  }
}

interface Asked {
  fields: string
  args: string
}

const NOT_OURS = 'the answer was not one of the collector'

const failure = (reason: string): Refused => ({ decision: 'deny', by: 'failure', reason })

function homeSocket(): { socket: string } {
  return { socket: `${process.env.SPANSEAL_HOME || `${homedir()}/.spanseal`}/run/hook.sock` }
}

function json(value: unknown): string {
  const text = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`a ${typeof value} has no form in JSON`)
  return text
}

function fieldsOf({ call, tool, turn }: ToolCall): string {
  return `"call":${json(call)},"tool":${json(tool)}${turn === undefined ? '' : `,"turn":${json(turn)}`}`
}

/** What the answer says of this call. All that is not clearly allow or hold is a refusal. */
function readDecision(reply: Exchange, call: ToolCall): Allowed | Held | Refused {
  const body = wholeAnswer(reply)
  if (typeof body === 'string') return failure(body)
  const { decision, reason, approval } = body
  if (decision === 'deny' && typeof reason === 'string') return { decision, by: 'collector', reason }
  const receipts = readReceipts(body.receipts, call.call)
  if (receipts === null) return failure(NOT_OURS)
  if (decision === 'allow') return { decision, call, receipts }
  if (decision === 'hold' && typeof reason === 'string' && typeof approval === 'string' && APPROVAL.test(approval))
    return { decision, call, approval, reason, receipts }
  return failure(NOT_OURS)
}

const APPROVAL = /^[A-Za-z0-9-]{1,64}$/

function readRecorded(reply: Exchange): Recorded {
  const body = wholeAnswer(reply)
  if (typeof body === 'string') return { ok: false, reason: body }
  const receipts = readReceipts(body.receipts)
  if (body.decision !== 'allow' || receipts === null) return { ok: false, reason: NOT_OURS }
  return { ok: true, receipts }
}

/** The body of an answer with status 200, else the reason why there is none. */
function wholeAnswer(reply: Exchange): Record<string, unknown> | string {
  if (!reply.ok) return reply.reason
  if (reply.status === 200) return reply.body
  const { error } = reply.body
  return typeof error === 'string' ? error : `the collector answered with status ${reply.status}`
}

/** Receipts whose leaf is that of their record and whose decision, if there is one, is about this call; else null. */
function readReceipts(value: unknown, call?: string): Receipt[] | null {
  if (!Array.isArray(value)) return null
  const receipts = value.map((each) => readReceipt(each, call))
  return receipts.every((each) => each !== null) ? receipts : null
}

function readReceipt(value: Partial<Record<string, unknown>> | null, call: string | undefined): Receipt | null {
  const { record, kid, signature, leaf } = value ?? {}
  if (typeof record !== 'string' || typeof kid !== 'string') return null
  if (typeof signature !== 'string' || typeof leaf !== 'string') return null
  // RFC 6962: a leaf's hash is over the byte 0 and the record.
  if (createHash('sha256').update('\0').update(record).digest('base64') !== leaf) return null
  try {
    const { type, call: of } = JSON.parse(record) as { type?: unknown; call?: { id?: unknown } }
    if (type === 'tool.decided' && call !== undefined && of?.id !== call) return null
  } catch {
    return null
  }
  return { record, kid, signature, leaf }
}
