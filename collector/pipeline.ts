// The pipeline, in the order data flows: receive -> gate -> record -> sign -> store -> forward. Read this file first.
// Receivers hand in native payloads, claims or imports; each call returns only when what it recorded is durable.
import type { Claim, ClaimResult } from '../conventions/claim.ts'
import { readClaims } from '../conventions/claim.ts'
import type { ExportTraceServiceRequest } from '../conventions/otlp.ts'
import type { Body, Written } from '../conventions/record.ts'
import type { HookAnswer } from '../conventions/wire.ts'
import type { Adapter } from '../hooks/adapter.ts'
import { Approvals } from './approvals.ts'
import { claimProblem } from './claim-check.ts'
import type { Gate } from './gate-wiring.ts'
import type { OpenLog } from './open-log.ts'
import { completed, decided, findTwin, reported } from './record/calls.ts'
import { constraintsStated } from './record/constraints.ts'
import { COLLECTOR, type Context, openTurn, type Reporter, runRef, sourceOf } from './record/context.ts'
import { checkHeartbeat } from './record/heartbeat.ts'
import { closeIdleImports, type Import, importItems } from './record/imports.ts'
import { closeIdle, ensureRun, promptSubmitted, sessionEnded, suspendRuns, turnEnded } from './record/runs.ts'
import type { Call, Run } from './record/state.ts'
import { subagentEnded, subagentStarted } from './record/subagents.ts'
import { readTranscript, skipHistory } from './record/transcript.ts'
import { type UngatedCalls, ungatedCalls } from './record/ungated.ts'

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
  /** Something failed that should not have; the request was refused. Told without content. */
  onFault: (error: unknown) => void
  /** The log can't be written any more: answers have been refused, the process should end. */
  onFailure: (error: Error) => void
}

export class Pipeline {
  readonly approvals: Approvals
  /** Refused payloads and repeats, for status: counted, never silent. */
  readonly counts = { refused: 0, ignored: 0, duplicates: 0, imported: 0, not_session_data: 0, loops: 0 }
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
    this.approvals = new Approvals({
      context: this.context,
      write: (make) => this.write(make),
      now: options.now,
      onFault: options.onFault,
    })
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
    const problem = results.map((result) => problemOf(result, reporter)).find((found) => found !== null)
    if (problem !== undefined) return this.refuse(true, problem)
    if (results.length === 0) return this.refuse(true, 'the request holds no span')
    // One question, one answer: of several, a caller could take the wrong one.
    if (results.filter((result) => result.ok && result.claim.event === 'tool.before').length > 1) {
      return this.refuse(true, 'the request asks about more than one call; ask about each on its own')
    }
    // Everything up to here was pure; everything in `record` runs without a pause, so order of receipt is order of the log.
    const reply = await this.answer(() => {
      let answer = PASS
      for (const result of results) {
        const next = result.ok ? this.record(result.claim, reporter) : PASS
        if (next.kind !== 'pass') answer = next
      }
      return answer
    })
    // Those whose holds ended on the way hear it once that is on disk.
    this.approvals.settle()
    return reply
  }

  /** Third-party telemetry (T3): one record for the whole request. Rejects when it can't be made durable. */
  async importItems(batch: Import): Promise<void> {
    await this.write(() => importItems(this.context, batch, this.options.now()))
    this.counts.imported++
    if (batch.sessions.length === 0) this.counts.not_session_data++
  }

  /** The OTLP port could not be opened: what others wanted to send to it is missing from here on. */
  portTaken(): Promise<void> {
    return this.write(() => {
      this.context.append({ type: 'gap', source: COLLECTOR, body: { kind: 'otlp_port_taken', count: 1 } })
    })
  }

  /** Calls of a session that no hook speaks for. Resolves, when they are durable, with false where hooks speak for it by now. */
  ungated(calls: UngatedCalls): Promise<boolean> {
    return this.write(() => ungatedCalls(this.context, calls))
  }

  /** Spans that a destination took and does not have. Resolves when the gap is durable. */
  copiesMissing(destination: string, count: number): Promise<void> {
    const body = { kind: 'copy_missing', count, destination } as const
    return this.write(() => void this.context.append({ type: 'gap', source: COLLECTOR, body }))
  }

  /** Idle runs, long turns. Called every few seconds. */
  async tick(): Promise<void> {
    await this.write(() => {
      closeIdle(this.context, this.options.now())
      closeIdleImports(this.context, this.options.now())
    })
    this.approvals.settle()
  }

  /** Before the collector goes away, or after it went without a word: open roots go out as unfinished, holds end. */
  async suspend(reason: 'collector_stop' | 'crash'): Promise<void> {
    await this.approvals.endAll()
    await this.write(() => suspendRuns(this.context, reason))
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
        // What a program wrote is no instruction of the person.
        if (claim.machine !== true)
          constraintsStated(ctx, run, claim, reporter, this.options.gate.stated(claim.prompt ?? ''))
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
            ...openTurn(run, claim),
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
          body: { ...openTurn(run, claim), tool: claim.tool ?? 'unnamed' },
        })
        return PASS
    }
  }

  private gateCall(run: Run, claim: Claim, reporter: Reporter): HookAnswer {
    const twin = findTwin(this.context, run, claim, reporter, this.options.gate.policyHash)
    if (claim.approval !== undefined && reporter.mode === 'enforce')
      return this.approvals.present(run, claim, claim.approval, twin)
    // An approval is for one run of the call: once its answer was taken, the same question is a new one.
    const used = twin?.stage === 'open' && twin.approval !== undefined && !this.approvals.isOpen(twin.approval)
    if (twin !== undefined && !used) {
      this.counts.duplicates++
      twin.live.duplicates++
      return this.answerOf(twin, reporter)
    }
    checkHeartbeat(this.context, run, claim, reporter)
    const verdict = this.options.gate.decide(run, claim)
    const call = decided(this.context, run, claim, reporter, verdict)
    call.live.refusal = verdict.explanation
    if (call.stage === 'held') this.approvals.hold(run, call, verdict.policyHash, reporter)
    return this.answerOf(call, reporter)
  }

  /** Whether an answer stops the call is said by the hook that asks: whoever opened the run has no say in it. */
  private answerOf(call: Call, reporter: Reporter): HookAnswer {
    if (reporter.mode === 'observe' || call.stage === 'open') return PASS
    const why =
      call.live.refusal ?? `Spanseal's policy (${call.rules.join(', ')}) does not allow this call of ${call.tool}.`
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
        ...openTurn(run, claim),
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

  private refuse(block: boolean, text: string): Reply {
    this.counts.refused++
    return {
      answer: block ? { kind: 'block', text: `Spanseal refused: ${text}` } : { kind: 'fail', text },
      receipts: [],
    }
  }

  /** Answers once everything that `make` recorded is on disk; refuses when it can't be, or when `make` fails. */
  private async answer(make: () => HookAnswer): Promise<Reply> {
    const receipts: Written[] = []
    this.receipts = receipts
    try {
      const answer = make()
      await this.options.log.writer.durable()
      return { answer, receipts }
    } catch (error) {
      if (this.reportFailure(error)) {
        const text = `nothing was recorded: the log can't be written (${messageOf(error)}). Free some disk space, or run: spanseal doctor`
        return { answer: { kind: 'fail', text }, receipts: [] }
      }
      return this.refuse(true, `it could not be recorded (${messageOf(error)})`)
    }
  }

  /** Runs a recording function; resolves with its result once all it recorded is on disk. Rejects when it can't be. */
  private async write<T>(make: () => T): Promise<T> {
    // Nobody's answer: its receipts belong to no request that is under way.
    this.receipts = []
    try {
      const result = make()
      await this.options.log.writer.durable()
      return result
    } catch (error) {
      this.reportFailure(error)
      throw error
    }
  }

  /** True when the log itself has failed: then this process must end. Anything else is one request's trouble. */
  private reportFailure(error: unknown): boolean {
    const { failed } = this.options.log.writer
    if (failed !== undefined) this.options.onFailure(failed)
    else this.options.onFault(error)
    return failed !== undefined
  }
}

const PASS: HookAnswer = { kind: 'pass' }

function problemOf(result: ClaimResult, { kind }: Reporter): string | null {
  return result.ok ? claimProblem(result.claim, kind) : result.message
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
