// Live state: what is open right now (runs, turns, calls, sub-agents, approvals), as a fold over the records of the log.
// Nothing else changes it, so a restart that replays the log has the same state.
import type { Approver } from '../../conventions/approval.ts'
import type { Constraint } from '../../conventions/constraint.ts'
import type { Decision } from '../../conventions/decision.ts'
import type { AnyRecord, Body, RecordOf, SpanRef, Written } from '../../conventions/record.ts'
import { APPLY } from './apply.ts'
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
  /** What it was decided by; the number stands for what the run's prompts had forbidden. */
  under: { policyHash: string; constraints: number; constraintsLost: boolean }
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
  /** `ungated`: opened for a session that no hook speaks for. */
  mode: Body<'run.opened'>['mode']
  /** Records so far in this part; also the next run seq. */
  seq: number
  prev: string | null
  lastTime: number
  open: boolean
  /** Record that opened it. */
  firstSeq: number
  turns: Map<string, Turn>
  /** Newest attempt of each call id that is still of interest. */
  calls: Map<string, Call>
  /** How often each call id was decided in this part. */
  attempts: Map<string, number>
  /** Calls the model's transcript asked for, in the open turns. */
  asked: Map<string, { turn: string | undefined; sub: string | undefined; tool: string | undefined }>
  subs: Map<string, Sub>
  currentTurn: string | undefined
  prompts: number
  /** Bytes of the main transcript already read. */
  offset: number
  transcriptGap: boolean
  /** Whether a command hook was heard in it: those start a collector that is down. `missed`: said to be missing, once. */
  heartbeat: 'none' | 'heard' | 'missed'
  /** Model messages of the open turns whose usage is recorded. */
  counted: Set<string>
  /** What the person's prompts forbid, here and in earlier parts. Their targets are kept in the vault, not in records. */
  constraints: Constraint[]
  /** More was forbidden than a run keeps, or can be read again: every change of a file waits. */
  constraintsLost: boolean
  /** Project folder: where the session was when the run part opened. Kept in the vault, not in records. */
  project: string | undefined
}

/** Content that the state needs. */
export interface Kept {
  /** The run's `cwd`, where the record opened one. */
  project: string | undefined
  /** Null: not there, or not readable. */
  constraints: Constraint[] | null
}

export interface Approval {
  id: string
  run: string
  call: string
  nonce: string
  decision: string
  policyHash: string
  requested: number
  expires: number
  state: 'pending' | 'approved'
  /** Attempts that were refused and recorded. */
  refusals: number
}

/** An approval that is over: enough to say why it is no use any more. */
export interface EndedApproval {
  run: string
  call: string
  end: 'replayed' | 'rejected' | 'expired'
  refusals: number
}

/** Approvals that are over and still known; of older ones is said that they are unknown. */
const MAX_ENDED_APPROVALS = 10_000

/** A key that signs records. */
export interface StandingKey {
  kid: string
  /** First record that it may sign, and, once it was replaced, the last. */
  from: number
  lastSeq?: number
}

/** A session that imports speak of. */
export interface ImportedSession {
  id: string
  part: number
  open: boolean
  /** Requests of this part that named it. */
  requests: number
  /** Collector time of the newest of them, milliseconds. */
  lastTime: number
}

const HOUR_MS = 3_600_000

/** Imported sessions that are remembered. Of more, the longest silent one is forgotten: it then begins anew, and not late. */
const MAX_IMPORTED_SESSIONS = 10_000

export class State {
  readonly runs = new Map<string, Run>()
  /** By id, the longest silent first. */
  readonly imports = new Map<string, ImportedSession>()
  readonly approvals = new Map<string, Approval>()
  /** Oldest first. */
  readonly endedApprovals = new Map<string, EndedApproval>()
  /** Who may answer; none: any process of this user. */
  readonly approvers = new Map<string, Approver>()
  /** Leaf of the last record that says who may answer, or of the log's first. */
  approversLeaf = ''
  /** Run parts ever opened. */
  ordinals = 0
  /** Whether the newest collector.started has no collector.stopped after it. */
  running = false
  lastTime = 0
  /** Collector time of the newest gap about spoofed attributes, milliseconds. */
  lastSpoofGap = Number.NEGATIVE_INFINITY
  /** Keys that may sign or might have signed records; the newest one signs. */
  readonly keys: StandingKey[] = []
  /** Days that content is kept; null for ever; undefined where no record said so. */
  contentDays: number | null | undefined
  /** First record whose content was not taken away with all before it. */
  expiredTo = 0
  /** First record of each hour that had one, oldest first: what is older than some time is found without reading the log. */
  private readonly hours: { time: number; seq: number }[] = []
  private nextSeq = 0
  policyHash: string | undefined
  configHash: string | undefined
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

  /** The first record that may be younger than `time` (milliseconds since 1970), to the hour; all before it are older. */
  firstSince(time: number): number {
    const last = this.hours.findLastIndex((hour) => hour.time + HOUR_MS <= time)
    return last === -1 ? 0 : (this.hours[last + 1]?.seq ?? this.nextSeq)
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

  /** Applies a record. `kept`: what the vault holds of it, when the log is read again; what is new is told by who records it. */
  apply({ record, leaf, salts }: Written, kept?: Kept): void {
    this.lastTime = Math.max(this.lastTime, Date.parse(record.time))
    this.nextSeq = record.log.seq + 1
    const hour = this.hours.at(-1)?.time ?? Number.NEGATIVE_INFINITY
    if (this.lastTime - hour >= HOUR_MS) this.hours.push({ time: this.lastTime, seq: record.log.seq })
    if (record.type === 'run.opened') this.openRun(record, kept?.project)
    const run = record.run === undefined ? undefined : this.runs.get(record.run.id)
    if (run === undefined) {
      this.applyImport(record)
      this.applyKeys(record)
      this.applyApprovers(record, leaf)
      if (record.type === 'collector.started') this.running = true
      if (record.type === 'collector.stopped') this.running = false
      if (record.type === 'gap' && record.body.kind === 'spoofed_attributes') this.lastSpoofGap = this.lastTime
      if (record.type === 'content.expired' && record.body.scope === 'before')
        this.expiredTo = Math.max(this.expiredTo, record.body.before_seq)
      if (record.type === 'retention.set') this.contentDays = record.body.content_days
      if (record.type === 'policy.loaded') this.policyHash = record.body.policy_hash
      if (record.type === 'config.loaded') this.configHash = record.body.config_hash
      return
    }
    run.seq++
    run.prev = leaf
    run.lastTime = Date.parse(record.time)
    if (record.source.kind === 'hook' && record.source.way !== 'http') run.heartbeat = 'heard'
    this.touchTurn(run, record)
    APPLY[record.type]?.(this, run, record as never, { leaf, salts })
    if (record.type === 'constraints.stated' && kept !== undefined) addConstraints(run, record.body, kept.constraints)
  }

  private applyKeys({ type, body, log }: AnyRecord): void {
    if (type === 'log.opened') for (const { kid } of body.keys) this.keys.push({ kid, from: log.seq })
    if (type === 'key.added') this.keys.push({ kid: body.kid, from: log.seq + 1 })
    const key = type === 'key.retired' ? this.keys.find(({ kid }) => kid === body.kid) : undefined
    if (key !== undefined && type === 'key.retired') key.lastSeq = body.last_seq
  }

  private applyApprovers({ type, body }: AnyRecord, leaf: string): void {
    if (type === 'log.opened') this.approversLeaf = leaf
    if (type !== 'approver.added' && type !== 'approver.removed') return
    this.approversLeaf = leaf
    if (type === 'approver.removed') this.approvers.delete(body.kid)
    else {
      const { kid, name, kind, spki, application } = body
      this.approvers.set(kid, { kid, name, kind, spki, application })
    }
  }

  /** An approval is over. */
  endApproval({ id, run, call, refusals }: Approval, end: EndedApproval['end']): void {
    this.approvals.delete(id)
    this.endedApprovals.set(id, { run, call, end, refusals })
    const [oldest] = this.endedApprovals.keys()
    if (this.endedApprovals.size > MAX_ENDED_APPROVALS && oldest !== undefined) this.endedApprovals.delete(oldest)
  }

  private applyImport({ type, body, time }: AnyRecord): void {
    if (type === 'session.imported') {
      const { session: id, part } = body
      this.imports.delete(id)
      this.imports.set(id, { id, part, open: true, requests: 0, lastTime: Date.parse(time) })
      const [oldest] = this.imports.keys()
      if (this.imports.size > MAX_IMPORTED_SESSIONS && oldest !== undefined) this.imports.delete(oldest)
    } else if (type === 'session.closed') {
      const session = this.imports.get(body.session)
      if (session !== undefined) session.open = false
    } else if (type === 'spans.imported' || type === 'logs.imported' || type === 'metrics.imported') {
      for (const id of body.session_ids ?? []) {
        const session = this.imports.get(id)
        if (session === undefined) continue
        session.requests++
        session.lastTime = Date.parse(time)
        this.imports.delete(id)
        this.imports.set(id, session)
      }
    }
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
      seq: 0,
      prev: null,
      lastTime: 0,
      open: true,
      firstSeq: record.log.seq,
      turns: new Map(),
      calls: new Map(),
      attempts: new Map(),
      asked: new Map(),
      subs: new Map(),
      currentTurn: undefined,
      prompts: before?.prompts ?? 0,
      offset: before?.offset ?? 0,
      transcriptGap: false,
      heartbeat: before?.heartbeat ?? 'none',
      counted: new Set(),
      constraints: before?.constraints ?? [],
      constraintsLost: before?.constraintsLost ?? false,
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

/** Remembers what a prompt forbids; null when that can't be read any more. */
export function addConstraints(run: Run, said: Body<'constraints.stated'>, constraints: Constraint[] | null): void {
  run.constraints.push(...(constraints ?? []))
  if (said.refused > 0 || constraints?.length !== said.kinds.length) run.constraintsLost = true
}

/** Reference to a span for an envelope; a span without parent is a root. */
export function spanRef(trace_id: string, span_id: string, parent?: string): SpanRef {
  return parent === undefined ? { trace_id, span_id } : { trace_id, span_id, parent }
}
