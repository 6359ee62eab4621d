// Records: the signed statements of the log. Envelope and one closed body schema per type; types are a registry that grows.
import * as z from 'zod'
import { APPROVER_KINDS } from './approval.ts'
import { CONSTRAINT_KINDS, MAX_CONSTRAINTS } from './constraint.ts'
import { DECISIONS, EXPIRY_REASONS, KEY_REVOCATIONS, REFUSALS, SOURCE_KINDS, TIERS, WAYS_IN } from './decision.ts'
import { MAX_RULES_IN_BODY, MAX_SESSIONS_IN_BODY } from './limits.ts'
import { idText, nameText, ruleIdText } from './names.ts'

const count = z.int().min(0)
const hex = (chars: number) => z.string().regex(new RegExp(`^[0-9a-f]{${chars}}$`))
const hash = z.string().regex(/^[A-Za-z0-9+/]{43}=$/)
const kid = z.string().regex(/^sha256:[0-9a-f]{64}$/)
const ruleIds = z.array(ruleIdText).max(MAX_RULES_IN_BODY)
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const decision = z.enum(DECISIONS)

/** Where in a conversation something happened: the turn (one prompt and its answer) and, inside a sub-agent, its id. */
const place = { turn: idText.optional(), sub: idText.optional() }

/**
 * How a person's word is known. `unauthenticated`: any process of this user could have given it. `signed`: by an approver.
 * `break_glass`: unsigned although there are approvers, for a reason that the vault holds.
 */
const authentication = z.enum(['unauthenticated', 'signed', 'break_glass'])

/** An approver's signature; `flags` and `counter` are of a security key. */
const signature = {
  approver: kid.optional(),
  signature: z
    .string()
    .regex(/^[A-Za-z0-9+/]{86}==$/)
    .optional(),
  flags: z.int().min(0).max(0xff).optional(),
  counter: z.int().min(0).max(0xffffffff).optional(),
}

/** A session as imports name it: derived from the sender's own id of it. */
const importedSession = hex(16)

/** One accepted OTLP request of somebody else. */
const imported = z.strictObject({
  /** Spans, log records or data points that count, and those that break a rule of OTLP. */
  count,
  rejected: count,
  encoding: z.enum(['protobuf', 'json']),
  bytes: count,
  /** `spanseal.*` attributes a sender had no right to set. */
  spoofed: count,
  /** Items this log had sent out itself. */
  loops: count.optional(),
  /** Distinct sessions the items name; 0: not session data. Absent in records of versions that did not look. */
  sessions: count.optional(),
  /** The first of them. */
  session_ids: z.array(importedSession).max(MAX_SESSIONS_IN_BODY).optional(),
})

export const BODIES = {
  'log.opened': z.strictObject({
    format: z.literal(1),
    /** C2SP origin of the log's checkpoints, and the verifier key that signs them. */
    origin: nameText,
    log_key: z.string().max(200),
    keys: z.array(z.strictObject({ kid, spki: z.string().max(80), tiers: z.array(z.enum(TIERS)) })).max(2),
  }),
  /** A further key that may sign, from the next record on. Signed by one that may. */
  'key.added': z.strictObject({ kid, spki: z.string().max(80), tiers: z.array(z.enum(TIERS)) }),
  /** The key signs nothing behind record `last_seq`. Signed by another one that may. */
  'key.retired': z.strictObject({ kid, last_seq: count }),
  /** Somebody else may have had the key: what it signed from record `from_seq` on is no better than the copies of it elsewhere. */
  'key.revoked': z.strictObject({ kid, from_seq: count, reason: z.enum(KEY_REVOCATIONS) }),
  'collector.started': z.strictObject({
    version: nameText,
    after: z.enum(['new', 'stop', 'crash']),
    /** Bytes behind the last whole record that were cut from the log: left of records nobody was told about. */
    cut: z.int().min(1).optional(),
  }),
  'collector.stopped': z.strictObject({ reason: z.enum(['command', 'signal', 'idle']) }),
  'policy.loaded': z.strictObject({
    policy_hash: hex(64),
    origin: z.enum(['builtin', 'file']),
    rules: count,
    /** Hash of the policy that was in force before. */
    previous: hex(64).optional(),
  }),
  /** Hashes are keyed with the home's secret: nobody can guess a header from them. */
  'config.loaded': z.strictObject({ config_hash: hex(64), previous: hex(64).optional() }),
  /** How long content is kept from here on; null: until somebody purges it. */
  'retention.set': z.strictObject({ content_days: z.int().min(1).nullable() }),
  /** Content and salts that are no longer in the vault: of all records before one, of a run's before this record, or of one record. */
  'content.expired': z.discriminatedUnion('scope', [
    z.strictObject({ scope: z.literal('before'), reason: z.enum(EXPIRY_REASONS), before_seq: count }),
    z.strictObject({ scope: z.literal('run'), reason: z.enum(EXPIRY_REASONS), run: hex(32) }),
    z.strictObject({ scope: z.literal('record'), reason: z.enum(EXPIRY_REASONS), seq: count }),
  ]),
  'run.opened': z.strictObject({
    session: idText,
    agent: nameText,
    agent_version: nameText.optional(),
    /** How many runs the log held before this one: a run that was left out of a bundle shows. */
    ordinal: count,
    /** `ungated`: no hook speaks for the session; the collector found it by its transcript. */
    mode: z.enum(['enforce', 'observe', 'ungated']),
    fail_mode: z.enum(['closed', 'open']),
    reason: z.enum(['startup', 'resume', 'clear', 'compact', 'first_event', 'reopened', 'ungated', 'other']),
    /** Part this one continues. */
    previous: count.optional(),
  }),
  'run.closed': z.strictObject({ records: count, reason: z.enum(['session_end', 'idle', 'resumed', 'hooks_began']) }),
  'prompt.submitted': z.strictObject({ ...place, machine: z.boolean(), bytes: count }),
  /** What the prompt before it forbids. Targets are content: the vault has them, in the order of `kinds`. */
  'constraints.stated': z.strictObject({
    ...place,
    kinds: z.array(z.enum(CONSTRAINT_KINDS)).max(MAX_CONSTRAINTS),
    /** In force in the run from here on. */
    in_force: count,
    /** Stated beyond the most a run keeps: from here on every change of a file waits. */
    refused: count,
    /** Earlier ones that the prompt seems to end. They go on: a person answers each call. */
    lifts: count,
  }),
  'turn.closed': z.strictObject({
    turn: idText,
    part: count,
    reason: z.enum(['stop', 'prompt', 'session_end', 'idle', 'collector_stop', 'crash', 'size']),
    calls: count,
    denied: count,
    /** Time the turn's first record was made. */
    opened: time,
    finished: z.boolean(),
  }),
  'model.message': z.strictObject({
    ...place,
    kind: z.enum(['reasoning', 'text', 'tool_use']),
    model: nameText.optional(),
    message: idText,
    tool: nameText.optional(),
    /** Bytes of the transcript up to and including this line: where reading goes on after a restart. */
    offset: count,
    usage: z
      .strictObject({ input: count, output: count, cache_read: count.optional(), cache_write: count.optional() })
      .optional(),
  }),
  'transcript.mark': z.strictObject({ ...place, state: z.enum(['truncated', 'absent', 'skipped']), offset: count }),
  'tool.decided': z.strictObject({
    ...place,
    tool: nameText,
    decision,
    rules: ruleIds,
    /** All that matched; more than listed: the list is the content named `rules`. */
    rules_total: count,
    policy_hash: hex(64),
    /** Whether the answer stops the call (enforce) or is only written down (observe). */
    enforced: z.boolean(),
    permission_mode: nameText.optional(),
    background: z.boolean().optional(),
    /** Parent of the call's execute_tool span, whose own id is the envelope's trace.parent. */
    span_parent: hex(16).optional(),
    /** The sender's own span of this call. */
    agent_trace: hex(32).optional(),
    agent_span: hex(16).optional(),
    /** raw: exact bytes of the sender; jcs: canonical form, where no raw form exists. */
    args_source: z.enum(['raw', 'jcs']),
  }),
  'tool.completed': z.strictObject({
    ...place,
    tool: nameText,
    /** `unreported`: the turn ended and no result ever came (declined, interrupted or lost). Never read as success. */
    status: z.enum(['ok', 'error', 'denied', 'interrupted', 'launched', 'unreported']),
    exit_code: z.int().optional(),
    duration_ms: count.optional(),
    /** Leaf of the decision; null when nobody asked for one. */
    decision: hash.nullable(),
    /** How often the same call was asked again while it was open. */
    duplicates: count.optional(),
    /** Sub-agent this call launched. */
    launched: idText.optional(),
  }),
  'approval.requested': z.strictObject({
    ...place,
    approval: idText,
    tool: nameText,
    decision: hash,
    policy_hash: hex(64),
    nonce: hex(32),
    expires: time,
  }),
  'approval.answered': z.strictObject({
    ...place,
    approval: idText,
    answer: z.enum(['approve', 'reject']),
    authentication,
    ...signature,
    nonce: hex(32),
    waited_ms: count,
  }),
  /** Somebody tried what the approval is not for; nothing was let through. */
  'approval.refused': z.strictObject({ ...place, approval: idText, kind: z.enum(REFUSALS) }),
  /** Who may answer from here on. `after`: leaf of the last such change, or of the log's first record. */
  'approver.added': z.strictObject({
    kid,
    name: nameText,
    kind: z.enum(APPROVER_KINDS),
    spki: z.string().max(80),
    application: nameText.optional(),
    after: hash,
    authentication,
    ...signature,
  }),
  'approver.removed': z.strictObject({ kid, after: hash, authentication, ...signature }),
  'approval.consumed': z.strictObject({ ...place, approval: idText, decision: hash, nonce: hex(32) }),
  'approval.expired': z.strictObject({
    ...place,
    approval: idText,
    reason: z.enum(['timeout', 'restart', 'abandoned', 'ended', 'superseded']),
  }),
  'subagent.started': z.strictObject({ ...place, sub_type: nameText.optional(), background: z.boolean() }),
  'subagent.ended': z.strictObject({ ...place, sub_type: nameText.optional(), opened: time, finished: z.boolean() }),
  compaction: z.strictObject({ ...place, phase: z.enum(['before', 'after']), trigger: nameText.optional() }),
  'permission.requested': z.strictObject({ ...place, tool: nameText }),
  'settings.changed': z.strictObject({
    ...place,
    scope: nameText.optional(),
    decision,
    problem: z.enum(['none', 'hooks_disabled', 'hooks_missing', 'hooks_changed', 'hooks_proxied', 'unreadable']),
  }),
  'spans.imported': imported,
  'logs.imported': imported,
  'metrics.imported': imported,
  /** A session that imports speak of: its first one, or the first after it was closed (the next part). */
  'session.imported': z.strictObject({ session: importedSession, part: count, name: idText.optional() }),
  'session.closed': z.strictObject({
    session: importedSession,
    part: count,
    requests: count,
    reason: z.enum(['idle']),
  }),
  gap: z.strictObject({
    ...place,
    kind: z.enum([
      'decided_not_completed',
      'completed_not_decided',
      'collector_down',
      'no_transcript',
      'spoofed_attributes',
      'late_activity',
      'hook_missing',
      'ungated_session',
      'otlp_port_taken',
      // Calls come by the http hooks, and none of the command hooks that start the collector was heard.
      'heartbeat_missing',
      'copy_missing',
      // A destination that takes content had not got it yet when it was erased.
      'content_not_forwarded',
    ]),
    count,
    /** Of an imported session. */
    session: importedSession.optional(),
    tool: nameText.optional(),
    /** Which destination no longer has the copies. */
    destination: nameText.optional(),
  }),
  violation: z.strictObject({
    ...place,
    kind: z.enum(['executed_against_policy', 'executed_without_approval', 'executed_other_arguments']),
    tool: nameText,
    decision: hash,
  }),
  'clock.stepped': z.strictObject({ ms: z.int() }),
} as const satisfies Record<string, z.ZodType>

export type RecordType = keyof typeof BODIES

/** Types that say which keys may sign. */
export const KEY_RECORDS: ReadonlySet<string> = new Set<RecordType>([
  'log.opened',
  'key.added',
  'key.retired',
  'key.revoked',
])

/** Types that say who may answer. */
export const APPROVER_RECORDS: ReadonlySet<string> = new Set<RecordType>(['approver.added', 'approver.removed'])
export type Body<T extends RecordType> = z.infer<(typeof BODIES)[T]>

const envelopeShape = {
  v: z.literal(1),
  type: z.string().min(1).max(64),
  log: z.strictObject({ id: hex(32), seq: count, root: hash }),
  run: z.strictObject({ id: hex(32), part: count, seq: count, prev: hash.nullable() }).optional(),
  time,
  tier: z.enum(TIERS).optional(),
  source: z.strictObject({
    kind: z.enum(SOURCE_KINDS),
    /** Of a hook: by which way its event came. */
    way: z.enum(WAYS_IN).optional(),
    adapter: nameText.optional(),
    version: nameText.optional(),
    event: idText.optional(),
  }),
  trace: z.strictObject({ trace_id: hex(32), span_id: hex(16), parent: hex(16).optional() }).optional(),
  call: z.strictObject({ id: idText, attempt: z.int().min(1) }).optional(),
  commit: z
    .array(z.strictObject({ n: idText, c: hash }))
    .max(8)
    .optional(),
}

/** The envelope alone: what a verifier checks of a type it does not know. */
export const ENVELOPE = z.strictObject({ ...envelopeShape, body: z.record(z.string(), z.unknown()) })

export type Envelope = z.infer<typeof ENVELOPE>
export type Source = Envelope['source']
export type SpanRef = NonNullable<Envelope['trace']>
export type CallRef = NonNullable<Envelope['call']>

/** A record of a known type. */
export type RecordOf<T extends RecordType> = Omit<Envelope, 'type' | 'body'> & { type: T; body: Body<T> }
export type AnyRecord = { [T in RecordType]: RecordOf<T> }[RecordType]

/** True when the type is one this version knows the body of. */
export function isKnownType(type: string): type is RecordType {
  return Object.hasOwn(BODIES, type)
}

/** Content a record commits to. `keep: false` keeps only the salt (the bytes held a secret). `salt` re-uses an earlier one. */
export interface Content {
  name: string
  bytes: Uint8Array
  keep: boolean
  salt?: Uint8Array
  /** Base64 commitment to the bytes under `salt`, where it was made on another thread. */
  commitment?: string
}

/** What a step wants recorded; the writer adds position, root, time, commitments and signature. */
export interface Draft<T extends RecordType = RecordType> {
  type: T
  body: Body<T>
  run?: { id: string; part: number }
  source: Source
  trace?: SpanRef
  call?: CallRef
  contents?: Content[]
}
export type AnyDraft = { [T in RecordType]: Draft<T> }[RecordType]

/** A record as it came out of the writer or off the disk, with its bytes, its only hash, and who signed it. */
export interface Receipt {
  record: AnyRecord
  bytes: Uint8Array
  /** Base64 SHA-256 leaf. */
  leaf: string
  kid: string
  /** Base64 Ed25519 signature. */
  signature: string
}

/** A receipt fresh from the writer, with the salt of each content by name: equal content later can be committed to equally. */
export interface Written extends Receipt {
  salts: Map<string, Uint8Array>
}
