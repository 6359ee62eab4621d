// The pipeline, in the order data flows: receive -> gate -> record -> sign -> store -> forward. Read this file first.
// Receivers hand in native payloads, claims or imports; each call returns only when what it recorded is durable.
import type { Claim, ClaimResult } from '../conventions/claim.ts'
import { readClaims } from '../conventions/claim.ts'
import type { ExportTraceServiceRequest } from '../conventions/otlp.ts'
import type { Body, Written } from '../conventions/record.ts'
import type { HookAnswer } from '../conventions/wire.ts'
import type { Adapter } from '../hooks/adapter.ts'
import { claimProblem } from './claim-check.ts'
import type { Gate } from './gate-wiring.ts'
import { Holds } from './holds.ts'
import type { OpenLog } from './open-log.ts'
import { answerApproval, consumeApproval, expireApproval, HOLD_MS, requestApproval } from './record/approvals.ts'
import { completed, decided, findDuplicate, reported } from './record/calls.ts'
import { type Context, type Reporter, runRef, sourceOf, turnIdOf } from './record/context.ts'
import { type Import, importSpans } from './record/imports.ts'
import { closeIdle, ensureRun, promptSubmitted, sessionEnded, suspendRuns, turnEnded } from './record/runs.ts'
import type { Approval, Call, Run } from './record/state.ts'
import { subagentEnded, subagentStarted } from './record/subagents.ts'
import { readTranscript, skipHistory } from './record/transcript.ts'

/** What a caller gets: the answer, and the receipts of all that was recorded for it. */
export interface Reply {
  answer: HookAnswer
  receipts: Written[]
}

export interface PipelineOptions {
  log: OpenLog
  gate: Gate
  adapters: ReadonlyMap<string, Adapter>
  /** Milliseconds since 1970. */
  now: () => number
  /** What is wrong with an agent's settings file after a change, as far as our entries go. */
  settingsProblem: (claim: Claim) => Body<'settings.changed'>['problem']
  /** The log can't be written any more: answers have been refused, the process should end. */
  onFailure: (error: Error) => void
}

export class Pipeline {
  readonly holds = new Holds((id, reason) => void this.lapse(id, reason))
  /** Refused payloads and repeats, for status: counted, never silent. */
  readonly counts = { refused: 0, ignored: 0, duplicates: 0, loops: 0 }
  private readonly options: PipelineOptions
  private readonly context: Context
  private receipts: Written[] = []

  constructor(options: PipelineOptions) {
    this.options = options
    const { context } = options.log
    this.context = {
      ...context,
      append: (draft) => {
        const written = context.append(draft)
        this.receipts.push(written)
        return written
      },
    }
  }

  /** A native payload of an agent's hook. */
  async native(agent: string, event: string, payload: Uint8Array, reporter: Reporter): Promise<Reply> {
    const adapter = this.options.adapters.get(agent)
    const rule = adapter?.events[event]
    if (adapter === undefined) return this.refuse(true, `no adapter for the agent ${JSON.stringify(agent)}`)
    const result = adapter.toRequest(event, payload, `${this.options.now()}000000`)
    if (!result.ok) return this.refuse(rule?.gate ?? false, `the ${event} payload can't be used: ${result.message}`)
    if ('ignored' in result) {
      this.counts.ignored++
      return { answer: { kind: 'pass' }, receipts: [] }
    }
    return this.claims(result.request, { ...reporter, version: adapter.version })
  }

  /** Claim spans: what every adapter makes, and what POST /v1/gate takes. */
  async claims(request: ExportTraceServiceRequest, reporter: Reporter): Promise<Reply> {
    const results = readClaims(request)
    const problem = results.map(problemOf).find((found) => found !== null)
    if (problem !== undefined) return this.refuse(true, problem)
    if (results.length === 0) return this.refuse(true, 'the request holds no span')
    // Everything up to here was pure; everything in `record` runs without a pause, so order of receipt is order of the log.
    return this.durably(() => {
      let answer: HookAnswer = { kind: 'pass' }
      for (const result of results) {
        if (!result.ok) continue
        const next = this.record(result.claim, reporter)
        if (next.kind !== 'pass') answer = next
      }
      return answer
    })
  }

  /** Third-party spans (T3): one record for the whole request. */
  async importSpans(batch: Import): Promise<void> {
    await this.durably(() => {
      importSpans(this.context, batch, this.options.now())
      return { kind: 'pass' }
    }, true)
  }

  /** Waits for the answer to a held call. Null when there is no such hold. */
  async wait(id: string, gone: AbortSignal): Promise<HookAnswer | null> {
    const waiting = this.holds.wait(id, gone)
    if (this.context.state.approvals.get(id)?.state === 'approved') await this.letThrough(id)
    return waiting
  }

  /** A person's answer. Null when nothing by that id waits. */
  async answer(id: string, answer: 'approve' | 'reject'): Promise<Approval | null> {
    let found: Approval | null = null
    await this.durably(() => {
      found = answerApproval(this.context, id, answer, this.options.now())
      return { kind: 'pass' }
    }, true)
    if (found === null) return null
    if (answer === 'approve' && this.holds.isWaited(id)) await this.letThrough(id)
    if (answer === 'reject')
      this.holds.end(id, {
        kind: 'block',
        text: `A person rejected this call (approval ${id}). Do not try it again in another way; ask what to do instead.`,
      })
    return found
  }

  /** Idle runs, long turns. Called every second or so. */
  async tick(): Promise<void> {
    await this.durably(() => {
      closeIdle(this.context, this.options.now())
      return { kind: 'pass' }
    }, true)
  }

  /** Before the collector goes away: open roots go out as unfinished, holds end. */
  async suspend(reason: 'collector_stop' | 'crash'): Promise<void> {
    await this.durably(() => {
      for (const approval of [...this.context.state.approvals.values()])
        expireApproval(this.context, approval.id, 'restart')
      suspendRuns(this.context, reason)
      return { kind: 'pass' }
    }, true)
    for (const id of this.holds.pending()) {
      this.holds.end(id, {
        kind: 'block',
        text: 'The collector stopped while this call waited for a person, so it may not run. Try it again.',
      })
    }
  }

  private record(claim: Claim, reporter: Reporter): HookAnswer {
    const ctx = this.context
    const run = ensureRun(ctx, claim, reporter)
    if (claim.event !== 'subagent.start') this.readTranscripts(run, claim)
    switch (claim.event) {
      case 'session.start':
        return PASS
      case 'session.end':
        sessionEnded(ctx, run)
        return PASS
      case 'prompt':
        promptSubmitted(ctx, run, claim, reporter)
        return PASS
      case 'turn.end':
        turnEnded(ctx, run, claim)
        return PASS
      case 'tool.before':
        return this.gateCall(run, claim, reporter)
      case 'tool.after':
      case 'tool.failed':
        completed(ctx, run, claim, reporter)
        return PASS
      case 'tool.reported':
        reported(ctx, run, claim, reporter)
        return PASS
      case 'subagent.start':
        subagentStarted(ctx, run, claim, reporter)
        return PASS
      case 'subagent.end':
        subagentEnded(ctx, run, claim, reporter)
        return PASS
      case 'settings.change':
        return this.settingsChange(run, claim, reporter)
      case 'compact.before':
      case 'compact.after':
        ctx.append({
          type: 'compaction',
          run: runRef(run),
          source: sourceOf(reporter, claim),
          body: {
            turn: turnIdOf(run, claim),
            phase: claim.event === 'compact.before' ? 'before' : 'after',
            ...(claim.reason === undefined ? {} : { trigger: claim.reason }),
          },
        })
        return PASS
      case 'permission':
        ctx.append({
          type: 'permission.requested',
          run: runRef(run),
          source: sourceOf(reporter, claim),
          body: { turn: turnIdOf(run, claim), tool: claim.tool ?? 'unnamed' },
        })
        return PASS
    }
  }

  private gateCall(run: Run, claim: Claim, reporter: Reporter): HookAnswer {
    const twin = findDuplicate(this.context, run, claim)
    if (twin !== undefined) {
      this.counts.duplicates++
      return this.answerOf(twin, reporter)
    }
    const verdict = this.options.gate.decide(run, claim)
    const call = decided(this.context, run, claim, reporter, verdict)
    call.refusal = verdict.explanation
    if (call.stage === 'held') {
      const approval = requestApproval(this.context, run, call, verdict.policyHash, this.options.now())
      this.holds.open(approval.id, HOLD_MS)
    }
    return this.answerOf(call, reporter)
  }

  /** Whether an answer stops the call is said by the hook that asks: whoever opened the run has no say in it. */
  private answerOf(call: Call, reporter: Reporter): HookAnswer {
    if (reporter.mode === 'observe' || call.stage === 'open') return PASS
    const why = call.refusal ?? `Spanseal's policy (${call.rules.join(', ')}) does not allow this call of ${call.tool}.`
    if (call.stage === 'held' && call.approval !== undefined)
      return { kind: 'hold', approval: call.approval, text: `${why} (approval ${call.approval})` }
    return { kind: 'block', text: why }
  }

  private settingsChange(run: Run, claim: Claim, reporter: Reporter): HookAnswer {
    const problem = this.options.settingsProblem(claim)
    const refused = problem !== 'none' && reporter.mode === 'enforce'
    this.context.append({
      type: 'settings.changed',
      run: runRef(run),
      source: sourceOf(reporter, claim),
      body: {
        turn: turnIdOf(run, claim),
        ...(claim.reason === undefined ? {} : { scope: claim.reason }),
        decision: problem === 'none' ? 'allow' : 'deny',
        problem,
      },
    })
    if (!refused) return PASS
    return {
      kind: 'block',
      text: `This settings change would switch Spanseal's hooks off (${problem}). The agent may not do that; a person can, with: spanseal uninstall`,
    }
  }

  private readTranscripts(run: Run, claim: Claim): void {
    const adapter = this.options.adapters.get(claim.agent)
    if (adapter === undefined || claim.transcript === undefined) return
    const readLine = (line: string) => adapter.readTranscriptLine(line)
    // What is new when a prompt arrives was said in the turn before it.
    if (claim.event === 'prompt') {
      if (run.currentTurn === undefined) return
      readTranscript(this.context, run, { ...claim, turn: run.currentTurn }, claim.transcript, readLine)
      return
    }
    if (claim.event === 'session.start' && run.part === 0 && run.seq === 1 && claim.reason === 'resume') {
      skipHistory(this.context, run, claim, claim.transcript)
      return
    }
    if (claim.sub === undefined) readTranscript(this.context, run, claim, claim.transcript, readLine)
    else readTranscript(this.context, run, claim, adapter.subagentTranscript(claim.transcript, claim.sub), readLine)
  }

  /** Uses an approval up and lets the held call go, once that is on disk. */
  private async letThrough(id: string): Promise<void> {
    let consumed = false
    await this.durably(() => {
      consumed = consumeApproval(this.context, id)
      return PASS
    }, true)
    if (consumed) this.holds.end(id, PASS)
  }

  private async lapse(id: string, reason: 'timeout' | 'abandoned'): Promise<void> {
    try {
      await this.durably(() => {
        expireApproval(this.context, id, reason)
        return PASS
      }, true)
    } finally {
      this.holds.end(id, {
        kind: 'block',
        text: `Nobody approved this call in time (approval ${id}, ${reason}), so it did not run. Ask the person, then try again.`,
      })
    }
  }

  private refuse(block: boolean, text: string): Reply {
    this.counts.refused++
    return {
      answer: block ? { kind: 'block', text: `Spanseal refused: ${text}` } : { kind: 'fail', text },
      receipts: [],
    }
  }

  /** Runs `make`, waits until what it recorded is on disk, and only then gives its answer. `rethrow`: the caller has no answer to refuse. */
  private async durably(make: () => HookAnswer, rethrow = false): Promise<Reply> {
    this.receipts = []
    try {
      const answer = make()
      const receipts = this.receipts
      await this.options.log.writer.durable()
      return { answer, receipts }
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      if (rethrow && failure instanceof RangeError) throw failure
      if (failure instanceof RangeError) return this.refuse(true, failure.message)
      this.options.onFailure(failure)
      if (rethrow) throw failure
      const text = `nothing was recorded: the log can't be written (${failure.message}). Free some disk space, or run: spanseal doctor`
      return { answer: { kind: 'fail', text }, receipts: [] }
    }
  }
}

const PASS: HookAnswer = { kind: 'pass' }

function problemOf(result: ClaimResult): string | null {
  return result.ok ? claimProblem(result.claim) : result.message
}
