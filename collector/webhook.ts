// Tells a webhook that a call waits for a person: ids and names, never what the call would do. The gate does not wait for it, and nothing
// it answers changes anything: whoever answers the call does that here.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './config.ts'
import type { OpenLog } from './open-log.ts'
import { readSecret } from './secret-file.ts'

/** Notices that wait to be sent. Of more, the oldest is dropped and counted: its call has waited longest and is listed anyway. */
const MAX_WAITING = 256
/** Milliseconds. A request that takes longer is given up. */
const REQUEST_MS = 10_000
/** Milliseconds between attempts; after the last one the notice is counted as failed. */
const RETRY_MS: readonly number[] = [1_000, 5_000, 20_000]

export type WebhookConfig = NonNullable<NonNullable<Config['approvals']>['webhook']>

export interface Notice {
  event: 'approval.requested'
  log: string
  approval: string
  agent: string
  session: string
  tool: string
  rules: string[]
  /** ISO times. */
  requested: string
  expires: string
}

export interface WebhookOptions {
  onOutcome: (outcome: 'sent' | 'failed' | 'dropped') => void
  /** Takes one line for people, when it begins to fail and when it works again. */
  log: (line: string) => void
  /** As RETRY_MS; tests do not wait that long. */
  retryMs?: readonly number[]
}

export class Webhook {
  private readonly options: WebhookOptions
  private config: WebhookConfig | undefined
  private waiting: Notice[] = []
  private sending = false
  private failing: string | undefined

  constructor(options: WebhookOptions) {
    this.options = options
  }

  /** Where notices go from now on; undefined: nowhere. */
  set(config: WebhookConfig | undefined): void {
    this.config = config
    if (config === undefined) this.waiting = []
  }

  /** Sends the notice as soon as those before it are. Never throws. */
  tell(notice: Notice): void {
    if (this.config === undefined) return
    this.waiting.push(notice)
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.shift()
      this.options.onOutcome('dropped')
    }
    if (!this.sending) void this.send()
  }

  private async send(): Promise<void> {
    this.sending = true
    for (let notice = this.waiting.shift(); notice !== undefined; notice = this.waiting.shift()) {
      this.options.onOutcome((await this.deliver(notice)) ? 'sent' : 'failed')
    }
    this.sending = false
  }

  private async deliver(notice: Notice): Promise<boolean> {
    const delays = this.options.retryMs ?? RETRY_MS
    for (let attempt = 0; this.config !== undefined; attempt++) {
      const problem = await post(this.config, notice)
      this.say(problem?.text)
      if (problem === undefined) return true
      const delay = delays[attempt]
      if (delay === undefined || !problem.again) return false
      await sleep(delay, undefined, { ref: false })
    }
    return false
  }

  private say(problem: string | undefined): void {
    if (problem === this.failing) return
    this.failing = problem
    this.options.log(problem === undefined ? 'the approvals webhook works again' : `the approvals webhook: ${problem}`)
  }
}

/** Tells of an approval that is asked for, unless it has ended meanwhile. */
export function tellOf({ logId, state }: OpenLog, id: string, webhook: Webhook): void {
  const approval = state.approvals.get(id)
  const run = approval === undefined ? undefined : state.runs.get(approval.run)
  const call = approval === undefined ? undefined : run?.calls.get(approval.call)
  if (approval === undefined || run === undefined || call === undefined) return
  webhook.tell({
    event: 'approval.requested',
    log: logId,
    approval: id,
    agent: run.agent,
    session: run.session,
    tool: call.tool,
    rules: call.rules,
    requested: new Date(approval.requested).toISOString(),
    expires: new Date(approval.expires).toISOString(),
  })
}

/** What went wrong, never in words of the other side; `again`: it may pass. */
async function post(
  { url, secret_file }: WebhookConfig,
  notice: Notice,
): Promise<{ text: string; again: boolean } | undefined> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), REQUEST_MS)
  try {
    const body = JSON.stringify(notice)
    const secret =
      secret_file === undefined ? undefined : readSecret('approvals.webhook.secret_file', secret_file).trim()
    const headers = { 'content-type': 'application/json', ...(secret === undefined ? {} : signature(secret, body)) }
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: limit.signal })
    await response.body?.cancel()
    if (response.ok) return undefined
    return { text: `HTTP ${response.status}`, again: response.status === 429 || response.status >= 500 }
  } catch (error) {
    if (limit.signal.aborted) return { text: 'it takes too long', again: true }
    const { cause, message } = error as Error
    // Our own words about the secret's file, or the code of what happened on the way.
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
    return { text: code ?? (message.startsWith('approvals.') ? message : 'network error'), again: true }
  } finally {
    clearTimeout(timer)
  }
}

/** `Spanseal-Signature: t=<seconds>,v1=<hex>`: HMAC-SHA256 over the time, a full stop and the body, so that it can't be sent again later. */
function signature(secret: string, body: string): Record<string, string> {
  const time = Math.floor(Date.now() / 1000)
  return {
    'spanseal-signature': `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`,
  }
}
