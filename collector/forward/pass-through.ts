// Puts the spans of others into the stream of ours, at the place of the record of the request they came in. The log stays the queue:
// what is durable is sent, once, however often either side restarts.
import {
  ATTR_SPANSEAL_LEAF,
  ATTR_SPANSEAL_LOG_ID,
  ATTR_SPANSEAL_RECEIPT_ONLY,
  ATTR_SPANSEAL_SEQ,
  ATTR_SPANSEAL_SOURCE,
  ATTR_SPANSEAL_TIER,
} from '../../conventions/attributes.ts'
import type { LogEntry } from '../../conventions/log.ts'
import { attribute, type KeyValue } from '../../conventions/otlp.ts'
import type { RecordOf } from '../../conventions/record.ts'
import { recordAttributes } from '../../conventions/record-attribute.ts'
import type { EncodedSpan } from './request.ts'
import type { Fold, More } from './signal.ts'

/** A request of others as it was recorded. */
export interface Recorded {
  seq: number
  logId: string
  encoding: 'protobuf' | 'json'
  /** Commitments to its body, by name. */
  commit: { n: string; c: string }[]
  marks: KeyValue[]
}

/** What `read` gives: some of the spans, or the last of them with what was left out of all. */
export interface Passed {
  spans: EncodedSpan[]
  done: boolean
  /** Spans of sessions that hooks speak for, and spans that a collector like this one had sent. */
  withheld: number
  /** The body is not there any more, is not the one that was recorded, or can't be read. */
  unreadable: boolean
}

/** Where the spans come from: elsewhere than on the thread that answers hooks. */
export interface PassSource {
  /** From here on hooks speak for this session. */
  hook(session: string): void
  /** The next spans, beginning with the `from`th. Asked for requests in rising order. Rejects when that fails for now. */
  read(recorded: Recorded, from: number): Promise<Passed>
}

/** Sessions of hooks that are remembered, the newest; spans that come later than that are passed on. */
const MAX_SESSIONS = 65_536

/** Adds a session; the oldest goes when there are too many. False when it was there. */
export function rememberSession(sessions: Set<string>, session: string): boolean {
  if (sessions.has(session)) return false
  sessions.add(session)
  for (const oldest of sessions) {
    if (sessions.size <= MAX_SESSIONS) break
    sessions.delete(oldest)
  }
  return true
}

/** `evidence`: whether each span carries the signed record of its request. */
export function withPassThrough(fold: Fold<EncodedSpan>, source: PassSource, evidence: boolean): Fold<EncodedSpan> {
  let current: { recorded: Recorded; count: number; given: number } | undefined
  const note = ({ record }: LogEntry) => {
    if (record.type === 'run.opened' && record.source.kind === 'hook') source.hook(record.body.session)
  }
  return {
    apply: (entry, checkpoint) => {
      note(entry)
      const { record } = entry
      if (record.type === 'spans.imported') {
        current = { recorded: recordedOf(entry, record, evidence), count: record.body.count, given: 0 }
      }
      return fold.apply(entry, checkpoint)
    },
    skip: (entry) => {
      note(entry)
      fold.skip(entry)
    },
    more: async (): Promise<More<EncodedSpan> | null> => {
      if (current === undefined) return null
      const { recorded, count, given } = current
      const { spans, done, withheld, unreadable } = await source.read(recorded, given)
      current = done ? undefined : { ...current, given: given + spans.length }
      return { items: spans, withheld, unreadable: unreadable ? count - given : 0 }
    },
  }
}

function recordedOf(entry: LogEntry, record: RecordOf<'spans.imported'>, evidence: boolean): Recorded {
  const { log, tier, source, body, commit = [] } = record
  const values = {
    [ATTR_SPANSEAL_LOG_ID]: log.id,
    [ATTR_SPANSEAL_SEQ]: log.seq,
    [ATTR_SPANSEAL_LEAF]: entry.leaf,
    [ATTR_SPANSEAL_TIER]: tier ?? 'T3',
    [ATTR_SPANSEAL_RECEIPT_ONLY]: true,
    [ATTR_SPANSEAL_SOURCE]: source.kind,
    ...(evidence ? recordAttributes(entry) : {}),
  }
  const marks = Object.entries(values).map(([key, value]) => attribute(key, value))
  return { seq: log.seq, logId: log.id, encoding: body.encoding, commit, marks }
}
