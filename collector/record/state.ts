// Live state: what is open right now (runs, turns, calls, sub-agents, approvals), as a fold over the records of the log.
// Nothing else changes it, so a restart that replays the log has the same state.
import type { Decision } from '../../conventions/decision.ts'
import type { AnyRecord, RecordOf, RecordType, SpanRef, Written } from '../../conventions/record.ts'
import type { Ids } from './ids.ts'

/** One part of a turn: its own trace with its own root. */
export interface Turn {
  id: string
  part: number
  trace: string
  root: string
  /** Collector time of its first record, ISO. */
  opened: string
  open: boolean
  records: number
  calls: number
  denied: number
  /** Commitment to the prompt and its salt: the same hook fired twice is recorded once. */
  prompt?: { commitment: string; salt: Uint8Array }
}

/** open: may run, no result yet; held: waits for a person; refused: may not run; done: a result came. */
export type CallStage = 'open' | 'held' | 'refused' | 'done'

export interface Call {
  id: string
  attempt: number
  tool: string
  decision: Decision
  enforced: boolean
  /** Leaf of the decision. */
  leaf: string
  rules: string[]
  trace: string
  span: string
  parent: string
  turn: string | undefined
  sub: string | undefined
  /** Set on calls that launch a sub-agent: whether it works on in the background. */
  background: boolean | undefined
  /** The sub-agent this call launched. */
  launched: string | undefined
  args: { commitment: string; salt: Uint8Array } | undefined
  stage: CallStage
  /** Its span went out as unfinished; a result goes to a new part of the turn. */
  orphan: boolean
  approval: string | undefined
  /** What is known only while this collector runs. */
  live: {
    /** Same call asked again while open; recorded when the call completes. */
    duplicates: number
    /** What the agent is told when the call may not run. */
    refusal?: string
    cwd?: string | undefined
  }
}

export interface Sub {
  id: string
  type: string | undefined
  background: boolean
  trace: string
  span: string
  parent: string | undefined
  turn: string | undefined
  opened: string
  open: boolean
  offset: number
}

export interface Run {
  id: string
  part: number
  agent: string
  session: string
  mode: 'enforce' | 'observe'
  failMode: 'closed' | 'open'
  /** Records so far in this part; also the next run seq. */
  seq: number
  prev: string | null
  lastTime: number
  open: boolean
  turns: Map<string, Turn>
  /** Newest attempt of each call id that is still of interest. */
  calls: Map<string, Call>
  /** How often each call id was decided in this part. */
  attempts: Map<string, number>
  subs: Map<string, Sub>
  currentTurn: string | undefined
  prompts: number
  /** Bytes of the main transcript already read. */
  offset: number
  transcriptGap: boolean
  /** Model messages of the open turns whose usage is recorded. */
  counted: Set<string>
  /** Project folder: where the session was when the run part opened. Kept in the vault, not in records. */
  project: string | undefined
}

export interface Approval {
  id: string
  run: string
  call: string
  nonce: string
  decision: string
  requested: number
  expires: number
  state: 'pending' | 'approved'
}

export class State {
  readonly runs = new Map<string, Run>()
  readonly approvals = new Map<string, Approval>()
  /** Run parts ever opened. */
  ordinals = 0
  /** Whether the newest collector.started has no collector.stopped after it. */
  running = false
  lastTime = 0
  /** Collector time of the newest gap about spoofed attributes, milliseconds. */
  lastSpoofGap = Number.NEGATIVE_INFINITY
  policyHash: string | undefined
  private readonly ids: Ids

  constructor(ids: Ids) {
    this.ids = ids
  }

  /** Next place in a run part: what the writer puts into the envelope. */
  runHead(run: { id: string; part: number }): { seq: number; prev: string | null } {
    const current = this.runs.get(run.id)
    return current === undefined || current.part !== run.part
      ? { seq: 0, prev: null }
      : { seq: current.seq, prev: current.prev }
  }

  /** The open part of a turn, or what its next part will be; the latter joins the state with its first record. */
  turnOf(run: Run, id: string): Turn {
    const known = run.turns.get(id)
    if (known?.open) return known
    const part = known === undefined ? 0 : known.part + 1
    const trace = this.ids.trace('turn', run.id, run.part, id, part)
    return {
      id,
      part,
      trace,
      root: this.ids.span(trace, 'root'),
      opened: '',
      open: false,
      records: 0,
      calls: 0,
      denied: 0,
    }
  }

  /** Applies a record. `project`: content of the run's `cwd`, where this record opened one. */
  apply({ record, leaf, salts }: Written, project?: string): void {
    this.lastTime = Math.max(this.lastTime, Date.parse(record.time))
    if (record.type === 'run.opened') this.openRun(record, project)
    const run = record.run === undefined ? undefined : this.runs.get(record.run.id)
    if (run === undefined) {
      if (record.type === 'collector.started') this.running = true
      if (record.type === 'collector.stopped') this.running = false
      if (record.type === 'gap' && record.body.kind === 'spoofed_attributes') this.lastSpoofGap = this.lastTime
      if (record.type === 'policy.loaded') this.policyHash = record.body.policy_hash
      return
    }
    run.seq++
    run.prev = leaf
    run.lastTime = Date.parse(record.time)
    this.touchTurn(run, record)
    APPLY[record.type]?.(this, run, record as never, { leaf, salts })
  }

  private openRun(record: RecordOf<'run.opened'>, project: string | undefined): void {
    if (record.run === undefined) return
    this.ordinals++
    const before = this.runs.get(record.run.id)
    this.runs.set(record.run.id, {
      id: record.run.id,
      part: record.run.part,
      agent: record.body.agent,
      session: record.body.session,
      mode: record.body.mode,
      failMode: record.body.fail_mode,
      seq: 0,
      prev: null,
      lastTime: 0,
      open: true,
      turns: new Map(),
      calls: new Map(),
      attempts: new Map(),
      subs: new Map(),
      currentTurn: undefined,
      prompts: before?.prompts ?? 0,
      offset: before?.offset ?? 0,
      transcriptGap: false,
      counted: new Set(),
      project,
    })
  }

  /** A record in a turn's trace opens that part of the turn, or counts in it. */
  private touchTurn(run: Run, record: AnyRecord): void {
    const id = 'turn' in record.body ? record.body.turn : undefined
    if (id === undefined || record.trace === undefined) return
    const turn = this.turnOf(run, id)
    if (record.trace.trace_id !== turn.trace) return
    if (!turn.open) {
      turn.open = true
      turn.opened = record.time
      run.turns.set(id, turn)
    }
    turn.records++
    run.currentTurn = id
  }
}

/** Reasons after which nothing more is heard of a turn's calls; after the others it goes on in its next part. */
const TURN_ENDS: ReadonlySet<string> = new Set(['stop', 'prompt', 'session_end', 'idle'])

type Extra = { leaf: string; salts: Map<string, Uint8Array> }
type Apply = { [T in RecordType]?: (state: State, run: Run, record: RecordOf<T>, extra: Extra) => void }

const APPLY: Apply = {
  'prompt.submitted': (_state, run, record, { salts }) => {
    run.prompts++
    const turn = record.body.turn === undefined ? undefined : run.turns.get(record.body.turn)
    const prompt = committed(record, salts, 'prompt')
    if (turn !== undefined && prompt !== undefined) turn.prompt = prompt
  },
  'turn.closed': (_state, run, record) => {
    const turn = run.turns.get(record.body.turn)
    if (turn !== undefined) turn.open = false
    if (![...run.turns.values()].some(({ open }) => open)) run.counted.clear()
    for (const [id, call] of run.calls) {
      if (call.turn !== record.body.turn) continue
      const settled = call.stage === 'done' || call.stage === 'refused'
      if (settled && TURN_ENDS.has(record.body.reason)) run.calls.delete(id)
      if (!settled && !record.body.finished) call.orphan = true
    }
  },
  'tool.decided': (_state, run, record, { leaf, salts }) => {
    const { call, trace, body } = record
    if (call === undefined || trace === undefined) return
    const stage = !body.enforced
      ? 'open'
      : body.decision === 'deny'
        ? 'refused'
        : body.decision === 'ask'
          ? 'held'
          : 'open'
    const turn = body.turn === undefined ? undefined : run.turns.get(body.turn)
    if (turn !== undefined) {
      turn.calls++
      if (stage === 'refused') turn.denied++
    }
    run.attempts.set(call.id, call.attempt)
    run.calls.set(call.id, {
      id: call.id,
      attempt: call.attempt,
      tool: body.tool,
      decision: body.decision,
      enforced: body.enforced,
      leaf,
      rules: body.rules,
      trace: trace.trace_id,
      span: trace.parent ?? trace.span_id,
      parent: body.span_parent ?? '',
      turn: body.turn,
      sub: body.sub,
      background: body.background,
      launched: undefined,
      args: committed(record, salts, 'args'),
      stage,
      orphan: false,
      approval: undefined,
      live: { duplicates: 0 },
    })
  },
  'tool.completed': (_state, run, record) => {
    if (record.call === undefined) return
    const call = run.calls.get(record.call.id) ?? undecided(record)
    call.stage = 'done'
    call.launched = record.body.launched ?? call.launched
    run.calls.set(call.id, call)
  },
  'approval.requested': (state, run, record) => {
    const call = record.call === undefined ? undefined : run.calls.get(record.call.id)
    if (call === undefined) return
    call.approval = record.body.approval
    state.approvals.set(record.body.approval, {
      id: record.body.approval,
      run: run.id,
      call: call.id,
      nonce: record.body.nonce,
      decision: record.body.decision,
      requested: Date.parse(record.time),
      expires: Date.parse(record.body.expires),
      state: 'pending',
    })
  },
  'approval.answered': (state, run, record) => {
    const approval = state.approvals.get(record.body.approval)
    if (approval === undefined) return
    if (record.body.answer === 'approve') approval.state = 'approved'
    else closeApproval(state, run, approval, 'refused')
  },
  'approval.consumed': (state, run, record) => {
    const approval = state.approvals.get(record.body.approval)
    if (approval !== undefined) closeApproval(state, run, approval, 'open')
  },
  'approval.expired': (state, run, record) => {
    const approval = state.approvals.get(record.body.approval)
    if (approval !== undefined) closeApproval(state, run, approval, 'refused')
  },
  'subagent.started': (_state, run, record) => {
    const { sub, sub_type, background, turn } = record.body
    if (sub === undefined || record.trace === undefined) return
    const launcher = record.call === undefined ? undefined : run.calls.get(record.call.id)
    if (launcher !== undefined) launcher.launched = sub
    run.subs.set(sub, {
      id: sub,
      type: sub_type,
      background,
      trace: record.trace.trace_id,
      span: record.trace.span_id,
      parent: record.trace.parent,
      turn,
      opened: record.time,
      open: true,
      offset: 0,
    })
  },
  'subagent.ended': (_state, run, record) => {
    const sub = record.body.sub === undefined ? undefined : run.subs.get(record.body.sub)
    if (sub === undefined) return
    sub.open = false
    if (record.body.finished) return
    for (const call of run.calls.values()) if (call.sub === sub.id && call.trace === sub.trace) call.orphan = true
  },
  'model.message': (_state, run, record) => {
    const { sub, offset, usage, message } = record.body
    if (usage !== undefined) run.counted.add(message)
    const reader = sub === undefined ? run : run.subs.get(sub)
    if (reader !== undefined) reader.offset = Math.max(reader.offset, offset)
  },
  'transcript.mark': (_state, run, record) => {
    const { state, sub, offset } = record.body
    if (state === 'absent') run.transcriptGap = true
    else if (sub === undefined) run.offset = offset
    else {
      const reader = run.subs.get(sub)
      if (reader !== undefined) reader.offset = offset
    }
  },
  'run.closed': (state, run) => {
    run.open = false
    run.turns.clear()
    run.calls.clear()
    run.attempts.clear()
    run.subs.clear()
    for (const [id, approval] of state.approvals) if (approval.run === run.id) state.approvals.delete(id)
  },
}

/** A call that completed and was never decided: known, so that a second report of it is not a second completion. */
function undecided({ call, trace, body }: RecordOf<'tool.completed'>): Call {
  return {
    id: call?.id ?? '',
    attempt: call?.attempt ?? 1,
    tool: body.tool,
    decision: 'allow',
    enforced: false,
    leaf: '',
    rules: [],
    trace: trace?.trace_id ?? '',
    span: trace?.span_id ?? '',
    parent: trace?.parent ?? '',
    turn: body.turn,
    sub: body.sub,
    background: undefined,
    launched: undefined,
    args: undefined,
    stage: 'done',
    orphan: false,
    approval: undefined,
    live: { duplicates: 0 },
  }
}

/** An approval is for one attempt, known by its decision's leaf; another attempt under the same id is not touched. */
function closeApproval(state: State, run: Run, approval: Approval, stage: CallStage): void {
  state.approvals.delete(approval.id)
  const call = run.calls.get(approval.call)
  if (call?.leaf === approval.decision) call.stage = stage
}

function committed(
  record: AnyRecord,
  salts: Map<string, Uint8Array>,
  name: string,
): { commitment: string; salt: Uint8Array } | undefined {
  const commitment = record.commit?.find(({ n }) => n === name)?.c
  const salt = salts.get(name)
  return commitment === undefined || salt === undefined ? undefined : { commitment, salt }
}

/** Reference to a span for an envelope; a span without parent is a root. */
export function spanRef(trace_id: string, span_id: string, parent?: string): SpanRef {
  return parent === undefined ? { trace_id, span_id } : { trace_id, span_id, parent }
}
