// What each record changes in the live state. The only place where a record's meaning for what is open is said.
import type { AnyRecord, RecordOf, RecordType } from '../../conventions/record.ts'
import type { Approval, Call, EndedApproval, Run, State } from './state.ts'

/** Reasons after which nothing more is heard of a turn's calls; after the others it goes on in its next part. */
const TURN_ENDS: ReadonlySet<string> = new Set(['stop', 'prompt', 'session_end', 'idle'])

type Extra = { leaf: string; salts: Map<string, Uint8Array> }
type Apply = { [T in RecordType]?: (state: State, run: Run, record: RecordOf<T>, extra: Extra) => void }

export const APPLY: Apply = {
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
    for (const [id, { turn: of }] of run.asked) if (of === record.body.turn) run.asked.delete(id)
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
      under: {
        policyHash: body.policy_hash,
        constraints: run.constraints.length,
        constraintsLost: run.constraintsLost,
      },
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
      policyHash: record.body.policy_hash,
      requested: Date.parse(record.time),
      expires: Date.parse(record.body.expires),
      state: 'pending',
      refusals: 0,
    })
  },
  'approval.answered': (state, run, record) => {
    const approval = state.approvals.get(record.body.approval)
    if (approval === undefined) return
    if (record.body.answer === 'approve') approval.state = 'approved'
    else closeApproval(state, run, approval, 'rejected')
  },
  'approval.consumed': (state, run, record) => {
    const approval = state.approvals.get(record.body.approval)
    if (approval !== undefined) closeApproval(state, run, approval, 'replayed')
  },
  'approval.expired': (state, run, record) => {
    const approval = state.approvals.get(record.body.approval)
    if (approval !== undefined) closeApproval(state, run, approval, 'expired')
  },
  'approval.refused': (state, _run, { body }) => {
    const approval = state.approvals.get(body.approval) ?? state.endedApprovals.get(body.approval)
    if (approval !== undefined) approval.refusals++
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
    const { turn, sub, offset, usage, message, tool, kind } = record.body
    if (kind === 'tool_use' && record.call !== undefined) run.asked.set(record.call.id, { turn, sub, tool })
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
  gap: (_state, run, { body }) => {
    if (body.kind === 'heartbeat_missing') run.heartbeat = 'missed'
  },
  'run.closed': (state, run, { body }) => {
    run.open = false
    // Silence ends a part, not the session.
    if (body.reason !== 'idle') run.heartbeat = 'none'
    run.turns.clear()
    run.calls.clear()
    run.attempts.clear()
    run.asked.clear()
    run.subs.clear()
    for (const approval of [...state.approvals.values()])
      if (approval.run === run.id) state.endApproval(approval, 'expired')
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
    under: { policyHash: '', constraints: 0, constraintsLost: false },
    stage: 'done',
    orphan: false,
    approval: undefined,
    live: { duplicates: 0 },
  }
}

/** An approval is for one attempt, known by its decision's leaf; another attempt under the same id is not touched. */
function closeApproval(state: State, run: Run, approval: Approval, end: EndedApproval['end']): void {
  state.endApproval(approval, end)
  const call = run.calls.get(approval.call)
  // Only a use lets the call run.
  if (call?.leaf === approval.decision) call.stage = end === 'replayed' ? 'open' : 'refused'
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
