// A run's records as a tree: turns, in them prompts, what the model said, calls with all that belongs to them, and sub-agents. Pure.
import { readConstraints } from '../../conventions/constraint.ts'
import type { Json } from '../../conventions/strict-json.ts'
import type { Call, Entry, Node, Note, RunTree, Said, Sub, Turn } from './run-nodes.ts'

/** Text of the first content that is there of `names` of a record; undefined when there is none. */
export type TextOf = (seq: number, names: readonly string[]) => string | undefined

/** Builds the tree of one run's records, which are in the order of the log. */
export function buildTree(id: string, entries: readonly Entry[], textOf: TextOf): RunTree {
  return new Builder(id, textOf).build(entries)
}

class Builder {
  private readonly tree: RunTree
  private readonly textOf: TextOf
  private readonly turns = new Map<string, Turn>()
  private readonly calls = new Map<string, Call>()
  private readonly subs = new Map<string, Sub>()

  constructor(id: string, textOf: TextOf) {
    this.tree = {
      id,
      agent: '',
      session: '',
      parts: [],
      turns: [],
      inside: [],
      constraints: [],
      constraintsLost: false,
      records: 0,
    }
    this.textOf = textOf
  }

  build(entries: readonly Entry[]): RunTree {
    for (const entry of entries) {
      this.tree.records++
      this.take(entry)
    }
    return this.tree
  }

  private take(entry: Entry): void {
    const { body } = entry
    switch (entry.type) {
      case 'run.opened':
        this.open(entry)
        break
      case 'run.closed': {
        const part = this.tree.parts.find(({ part: number }) => number === entry.part)
        if (part !== undefined) Object.assign(part, { closed: entry.time, closeReason: text(body.reason) })
        break
      }
      case 'turn.closed': {
        const turn = this.turn(text(body.turn), entry)
        turn.closed = text(body.reason)
        turn.finished = body.finished === true
        break
      }
      case 'prompt.submitted':
        this.put(entry, {
          ...said(entry, 'prompt', body.machine === true ? 'machine prompt' : 'prompt'),
          ...optional('text', this.textOf(entry.seq, ['prompt', 'prompt.redacted'])),
        })
        break
      case 'constraints.stated': {
        const said = this.textOf(entry.seq, ['constraints']) ?? '[]'
        this.tree.constraints.push(...(readConstraints(said) ?? []))
        if (Number(entry.body.refused) > 0) this.tree.constraintsLost = true
        break
      }
      case 'model.message':
        this.message(entry)
        break
      case 'tool.decided':
        this.decided(entry)
        break
      case 'tool.completed':
        this.completed(entry)
        break
      case 'approval.requested':
      case 'approval.answered':
      case 'approval.consumed':
      case 'approval.expired':
        this.approval(entry)
        break
      case 'subagent.started':
        this.subagent(entry)
        break
      case 'subagent.ended': {
        const sub = this.subs.get(text(body.sub))
        if (sub !== undefined) sub.finished = body.finished === true
        break
      }
      case 'gap':
      case 'violation':
        this.aside(entry)
        break
      case 'compaction':
        this.put(entry, note(entry, `compaction, ${text(body.phase)}`))
        break
      case 'permission.requested':
        this.put(entry, note(entry, `the agent asks the person itself: ${text(body.tool)}`))
        break
      case 'settings.changed':
        this.put(entry, note(entry, `settings changed: ${text(body.problem)}, ${text(body.decision)}`))
        break
    }
  }

  private open({ part, time, body }: Entry): void {
    this.tree.agent = text(body.agent)
    this.tree.session = text(body.session)
    this.tree.parts.push({
      part,
      opened: time,
      reason: text(body.reason),
      mode: text(body.mode),
      failMode: text(body.fail_mode),
      closed: null,
      closeReason: null,
    })
  }

  private message(entry: Entry): void {
    const what = text(entry.body.kind)
    // Written by the agent after its hook had fired: the call's own line says it already.
    if (what === 'tool_use' && this.calls.has(callKey(entry))) return
    const node: Said = {
      ...said(entry, 'message', what),
      ...optional('tool', optionalText(entry.body.tool)),
      ...optional('text', this.textOf(entry.seq, ['text', 'text.redacted'])),
    }
    this.put(entry, node)
  }

  private decided(entry: Entry): void {
    const { body } = entry
    const call: Call = {
      ...this.newCall(entry),
      decision: text(body.decision),
      rules: Array.isArray(body.rules) ? body.rules.map(text) : [],
      enforced: body.enforced === true,
    }
    this.addCall(entry, call)
  }

  private completed(entry: Entry): void {
    const { body } = entry
    let call = this.calls.get(callKey(entry))
    if (call === undefined) {
      call = this.newCall(entry)
      this.addCall(entry, call)
    }
    call.status = text(body.status)
    if (typeof body.exit_code === 'number') call.exitCode = body.exit_code
    if (typeof body.duration_ms === 'number') call.durationMs = body.duration_ms
    Object.assign(call, optional('result', this.textOf(entry.seq, ['result', 'result.redacted'])))
  }

  private newCall(entry: Entry): Call {
    return {
      kind: 'call',
      seq: entry.seq,
      time: entry.time,
      id: entry.call ?? '',
      attempt: entry.attempt ?? 1,
      tool: text(entry.body.tool),
      decision: null,
      rules: [],
      enforced: false,
      status: null,
      ...optional('args', this.textOf(entry.seq, ['args', 'args.redacted'])),
      inside: [],
    }
  }

  private addCall(entry: Entry, call: Call): void {
    this.calls.set(callKey(entry), call)
    const home = this.place(entry)
    // What the model asked for is what the call's own line says; it only stands for itself when no call came of it.
    const used = home.findIndex(
      (node) => node.kind === 'message' && node.what === 'tool_use' && node.callId === call.id,
    )
    if (used !== -1) home.splice(used, 1)
    home.push(call)
  }

  private approval(entry: Entry): void {
    const { body } = entry
    const call = this.calls.get(callKey(entry))
    if (call === undefined) {
      this.put(entry, note(entry, `${entry.type} ${text(body.approval)}`))
      return
    }
    const approval = call.approval ?? { id: text(body.approval), state: 'pending' }
    call.approval = approval
    if (entry.type === 'approval.answered') {
      approval.state = body.answer === 'approve' ? 'approved' : 'rejected'
      approval.authentication = text(body.authentication)
      if (typeof body.waited_ms === 'number') approval.waitedMs = body.waited_ms
    }
    if (entry.type === 'approval.consumed') approval.state = 'used'
    if (entry.type === 'approval.expired') approval.state = `expired (${text(body.reason)})`
  }

  private subagent(entry: Entry): void {
    const { body } = entry
    const sub: Sub = {
      kind: 'subagent',
      seq: entry.seq,
      time: entry.time,
      id: text(body.sub),
      type: text(body.sub_type),
      background: body.background === true,
      finished: null,
      inside: [],
    }
    const launcher = entry.call === null ? undefined : this.calls.get(callKey(entry))
    if (launcher === undefined) this.turnInside(entry).push(sub)
    else launcher.inside.push(sub)
    this.subs.set(sub.id, sub)
  }

  private aside(entry: Entry): void {
    const { body } = entry
    const times = typeof body.count === 'number' && body.count !== 1 ? ` ×${body.count}` : ''
    const words = `${text(body.kind).replaceAll('_', ' ')}${times}`
    const node: Note = {
      kind: entry.type === 'gap' ? 'gap' : 'violation',
      seq: entry.seq,
      time: entry.time,
      text: words,
    }
    const call = entry.call === null ? undefined : this.calls.get(callKey(entry))
    if (call === undefined) this.place(entry).push(node)
    else call.inside.push(node)
  }

  private put(entry: Entry, node: Node): void {
    this.place(entry).push(node)
  }

  /** Inside the sub-agent it happened in, else in its turn, else in the run. */
  private place(entry: Entry): Node[] {
    const sub = entry.sub === null ? undefined : this.subs.get(entry.sub)
    return sub?.inside ?? this.turnInside(entry)
  }

  private turnInside(entry: Entry): Node[] {
    return entry.turn === null ? this.tree.inside : this.turn(entry.turn, entry).inside
  }

  private turn(id: string, { seq, time }: Entry): Turn {
    const known = this.turns.get(id)
    if (known !== undefined) return known
    const turn: Turn = { id, seq, opened: time, closed: null, finished: false, inside: [] }
    this.turns.set(id, turn)
    this.tree.turns.push(turn)
    return turn
  }
}

function callKey({ call, attempt }: Entry): string {
  return JSON.stringify([call, attempt ?? 1])
}

function said(entry: Entry, kind: Said['kind'], what: string): Said {
  return { kind, seq: entry.seq, time: entry.time, what, ...optional('callId', entry.call ?? undefined) }
}

function note(entry: Entry, words: string): Note {
  return { kind: 'note', seq: entry.seq, time: entry.time, text: words }
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function optionalText(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V })
}
