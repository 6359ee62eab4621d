// Builds logs by hand for the forwarder's tests: real canonical records, real leaves, real signatures, no files.
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { expect } from 'vitest'
import { toBase64 } from '../../conventions/bytes.ts'
import { type Decision, TIER_OF_SOURCE } from '../../conventions/decision.ts'
import { canonicalBytes } from '../../conventions/jcs.ts'
import type { LogEntry, LogSource, Position } from '../../conventions/log.ts'
import type { Span } from '../../conventions/otlp.ts'
import { type AnyRecord, BODIES, type Body, type Draft, ENVELOPE, type RecordType } from '../../conventions/record.ts'
import { leafInput, preAuthEncoding, RECORD_TYPE } from '../../conventions/signing.ts'
import type { Json } from '../../conventions/strict-json.ts'

const keys = generateKeyPairSync('ed25519')
export const publicKey = keys.publicKey
const spki = publicKey.export({ type: 'spki', format: 'der' })
export const KID = `sha256:${createHash('sha256').update(spki).digest('hex')}`

/** The first characters of the SHA-256 of a text: an id that is always the same for the same thing. */
export function id(chars: number, ...parts: (string | number)[]): string {
  return createHash('sha256').update(parts.join('|')).digest('hex').slice(0, chars)
}

export const leafOf = (bytes: Uint8Array) => toBase64(createHash('sha256').update(leafInput(bytes)).digest())

/** A log in memory. Offsets count record bytes. */
export class MemoryLog implements LogSource {
  readonly id: string
  readonly entries: LogEntry[] = []
  /** Most entries a reader held at once, for tests of bounded memory. */
  largestRead = 0
  #offset = 0

  constructor(name = 'log') {
    this.id = id(32, name)
  }

  /** Adds a record one second after the last. Throws when it is not one that the contract allows. */
  append<T extends RecordType>(draft: Draft<T>): LogEntry {
    const { type, body, run, source, trace, call } = draft
    const seq = this.entries.length
    const tier = TIER_OF_SOURCE[source.kind]
    const record = ENVELOPE.parse({
      v: 1,
      type,
      log: { id: this.id, seq, root: leafOf(Uint8Array.of(seq % 256)) },
      ...(run === undefined ? {} : { run: { ...run, seq, prev: null } }),
      time: timeOf(seq),
      ...(tier === undefined ? {} : { tier }),
      source,
      ...(trace === undefined ? {} : { trace }),
      ...(call === undefined ? {} : { call }),
      body: BODIES[type].parse(body),
    })
    const bytes = canonicalBytes(record as Json)
    const signature = toBase64(sign(null, preAuthEncoding(RECORD_TYPE, bytes), keys.privateKey))
    this.#offset += bytes.length
    const next: Position = { segment: 0, offset: this.#offset }
    const entry = { record: record as AnyRecord, bytes, leaf: leafOf(bytes), kid: KID, signature, next }
    this.entries.push(entry)
    return entry
  }

  read(from: Position, maxBytes: number): LogEntry[] {
    const start = from.offset === 0 ? 0 : this.entries.findIndex(({ next }) => next.offset === from.offset) + 1
    let end = start
    for (let bytes = 0; end < this.entries.length && bytes < maxBytes; end++) {
      bytes += this.entries[end]?.bytes.length ?? 0
    }
    this.largestRead = Math.max(this.largestRead, end - start)
    return this.entries.slice(start, end)
  }
}

const timeOf = (seq: number) => new Date(Date.UTC(2026, 10, 30) + seq * 1_000).toISOString()

type Place = { sub?: string }

/** One agent session in a log: writes what the recorder would, with ids that follow from names. */
export class Session {
  readonly log: MemoryLog
  readonly name: string
  readonly runId: string
  mode: 'enforce' | 'observe' = 'enforce'
  part = 0
  turn = 't1'
  turnPart = 0
  opened = timeOf(0)
  readonly #decisions = new Map<string, LogEntry>()
  readonly #subs = new Map<string, { trace: string; span: string; parent?: string; opened: string }>()

  constructor(log: MemoryLog, name = 'session-1') {
    this.log = log
    this.name = name
    this.runId = id(32, 'run', name)
  }

  get trace(): string {
    return id(32, 'trace', this.name, this.part, this.turn, this.turnPart)
  }

  get root(): string {
    return id(16, this.trace, 'root')
  }

  toolSpan(call: string, sub?: string): string {
    return id(16, this.#at(sub).trace, 'tool', call)
  }

  open(agent = 'claude-code'): this {
    const { mode, name: session } = this
    const body = { session, agent, agent_version: '2.1.332', ordinal: 0, mode, fail_mode: 'closed', reason: 'startup' }
    this.#add('run.opened', body as Body<'run.opened'>)
    return this
  }

  prompt(turn = 't1', machine = false): this {
    this.turn = turn
    this.turnPart = 0
    this.opened = timeOf(this.log.entries.length)
    this.#add('prompt.submitted', { turn, machine, bytes: 5 }, { span: this.root })
    return this
  }

  decide(call: string, decision: Decision = 'allow', options: Place & { tool?: string; rules?: string[] } = {}): this {
    const at = this.#at(options.sub)
    const { tool = 'Bash', rules = decision === 'allow' ? [] : ['rule.one'] } = options
    const entry = this.#add(
      'tool.decided',
      {
        ...this.#place(options.sub),
        tool,
        decision,
        rules,
        rules_total: rules.length,
        policy_hash: id(64, 'policy'),
        enforced: this.mode === 'enforce',
        span_parent: at.span,
        args_source: 'raw',
      },
      {
        trace: at.trace,
        span: id(16, at.trace, 'gate', call),
        parent: this.toolSpan(call, options.sub),
        call,
        source: 'hook',
      },
    )
    this.#decisions.set(call, entry)
    return this
  }

  complete(
    call: string,
    status: Body<'tool.completed'>['status'] = 'ok',
    options: Place & { tool?: string; duration_ms?: number; launched?: string } = {},
  ): this {
    const { sub, tool = 'Bash', ...rest } = options
    const at = this.#at(sub)
    const body = { ...this.#place(sub), tool, status, decision: this.#decisions.get(call)?.leaf ?? null, ...rest }
    const source = status === 'unreported' ? 'collector' : 'hook'
    this.#add('tool.completed', body, {
      trace: at.trace,
      span: this.toolSpan(call, sub),
      parent: at.span,
      call,
      source,
    })
    return this
  }

  ask(call: string): this {
    const body = {
      turn: this.turn,
      approval: `apr-${call}`,
      tool: 'Bash',
      decision: this.#leaf(call),
      policy_hash: id(64, 'policy'),
      nonce: id(32, 'nonce', call),
      expires: timeOf(9_999),
    }
    this.decideSpan('approval.requested', call, body)
    return this
  }

  answer(call: string, answer: 'approve' | 'reject'): this {
    const nonce = id(32, 'nonce', call)
    const given = { approval: `apr-${call}`, answer, authentication: 'unauthenticated', nonce, waited_ms: 1 } as const
    this.decideSpan('approval.answered', call, { turn: this.turn, ...given })
    if (answer === 'approve') {
      const body = { turn: this.turn, approval: `apr-${call}`, decision: this.#leaf(call), nonce }
      this.decideSpan('approval.consumed', call, body)
    }
    return this
  }

  expire(call: string, reason: 'timeout' | 'restart' | 'abandoned' = 'timeout'): this {
    this.decideSpan('approval.expired', call, { turn: this.turn, approval: `apr-${call}`, reason })
    return this
  }

  /** An approval record of a call: a short span under the call's. */
  decideSpan<T extends RecordType>(type: T, call: string, body: Body<T>): void {
    const span = id(16, this.trace, type, call)
    const source = type === 'approval.answered' ? 'person' : 'collector'
    this.#add(type, body, { span, parent: this.toolSpan(call), call, source })
  }

  say(kind: 'reasoning' | 'text' | 'tool_use', options: Place & { usage?: Body<'model.message'>['usage'] } = {}): this {
    const at = this.#at(options.sub)
    const offset = this.log.entries.length
    const said = { kind, model: 'model-x', message: `m${offset}`, offset }
    const usage = options.usage === undefined ? {} : { usage: options.usage }
    const span = id(16, at.trace, 'chat', offset)
    const ids = { trace: at.trace, span, parent: at.span, source: 'transcript' } as const
    this.#add('model.message', { ...this.#place(options.sub), ...said, ...usage }, ids)
    return this
  }

  /** A sub-agent under the call that launched it, or, without one, in a trace of its own. */
  startSub(sub: string, launcher?: string): this {
    const opened = timeOf(this.log.entries.length)
    const own = id(32, 'sub', this.name, this.part, sub)
    const at =
      launcher === undefined
        ? { trace: own, span: id(16, own, 'root'), opened }
        : { trace: this.trace, span: id(16, this.trace, 'sub', sub), parent: this.toolSpan(launcher), opened }
    this.#subs.set(sub, at)
    const background = launcher === undefined
    this.#add('subagent.started', { turn: this.turn, sub, sub_type: 'Explore', background }, at)
    return this
  }

  endSub(sub: string, finished = true): this {
    const at = this.#at(sub)
    this.#subs.delete(sub)
    this.#add('subagent.ended', { turn: this.turn, sub, sub_type: 'Explore', opened: at.opened, finished }, at)
    return this
  }

  gap(kind: Body<'gap'>['kind'] = 'completed_not_decided'): this {
    const span = id(16, this.trace, 'gap', this.log.entries.length)
    this.#add('gap', { turn: this.turn, kind, count: 1, tool: 'Bash' }, { span, parent: this.root, source: 'hook' })
    return this
  }

  violation(call: string, kind: Body<'violation'>['kind'] = 'executed_against_policy'): this {
    const span = id(16, this.trace, 'violation', this.log.entries.length)
    const body = { turn: this.turn, kind, tool: 'Bash', decision: this.#leaf(call) }
    this.#add('violation', body, { span, parent: this.root, call })
    return this
  }

  /** Ends a part of the turn; what comes later opens the next part. */
  closeTurn(reason: Body<'turn.closed'>['reason'] = 'stop'): this {
    const { turn, turnPart: part, opened } = this
    const body = { turn, part, reason, calls: 0, denied: 0, opened, finished: reason === 'stop' }
    this.#add('turn.closed', body, { span: this.root })
    this.turnPart++
    this.opened = timeOf(this.log.entries.length)
    return this
  }

  close(): this {
    this.#add('run.closed', { records: this.log.entries.length, reason: 'session_end' })
    this.part++
    return this
  }

  #at(sub?: string): { trace: string; span: string; parent?: string; opened: string } {
    const found = sub === undefined ? undefined : this.#subs.get(sub)
    return found ?? { trace: this.trace, span: this.root, opened: this.opened }
  }

  #place(sub?: string): { turn: string; sub?: string } {
    return sub === undefined ? { turn: this.turn } : { turn: this.turn, sub }
  }

  #leaf(call: string): string {
    return this.#decisions.get(call)?.leaf ?? leafOf(new TextEncoder().encode(call))
  }

  #add<T extends RecordType>(
    type: T,
    body: Body<T>,
    ids: {
      trace?: string
      span?: string
      parent?: string
      call?: string
      source?: 'hook' | 'collector' | 'person' | 'transcript'
    } = {},
  ): LogEntry {
    const { trace = this.trace, span, parent, call, source = 'collector' } = ids
    return this.log.append({
      type,
      body,
      run: { id: this.runId, part: this.part },
      source: source === 'hook' ? { kind: 'hook', adapter: 'claude-code', version: '0.1.0' } : { kind: source },
      ...(span === undefined
        ? {}
        : { trace: { trace_id: trace, span_id: span, ...(parent === undefined ? {} : { parent }) } }),
      ...(call === undefined ? {} : { call: { id: call, attempt: 1 } }),
    })
  }
}

/** Attributes as plain values. */
export function attributesOf(span: Span | undefined): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const { key, value = {} } of span?.attributes ?? []) {
    if ('arrayValue' in value) out[key] = (value.arrayValue.values ?? []).map((item) => Object.values(item)[0])
    else if ('intValue' in value) out[key] = Number(value.intValue)
    else out[key] = Object.values(value)[0]
  }
  return out
}

/** The promises about any set of spans whose turns are over: one body per id, one root per trace, parents that exist, sizes. */
export function expectWholeTraces(spans: Span[]): void {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  expect(ids.size).toBe(spans.length)
  const traceOf = new Map(spans.map(({ spanId, traceId }) => [spanId, traceId]))
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
  expect(roots.map(({ traceId }) => traceId).sort()).toEqual([...new Set(traceOf.values())].sort())
  const lost = spans.filter(
    ({ parentSpanId, traceId }) => parentSpanId !== undefined && traceOf.get(parentSpanId) !== traceId,
  )
  expect(lost.map(({ name }) => name)).toEqual([])
  const backwards = spans.filter((span) => BigInt(span.startTimeUnixNano) > BigInt(span.endTimeUnixNano))
  expect(backwards.map(({ name }) => name)).toEqual([])
  const texts = spans.flatMap((span) => Object.values(attributesOf(span)).map(String))
  expect(Math.max(0, ...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(1_900)
}
