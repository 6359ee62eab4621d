// What a span that was read back from somewhere is worth, judged by the log it came from.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { entryOf } from '../../../collector/store/log-files.ts'
import { readFrames } from '../../../collector/store/segments.ts'
import { LOG_START } from '../../../conventions/log.ts'
import type { Span } from '../../../conventions/otlp.ts'
import type { AnyRecord } from '../../../conventions/record.ts'
import { readRecordAttributes } from '../../../conventions/record-attribute.ts'
import { leafInput, preAuthEncoding, RECORD_TYPE } from '../../../conventions/signing.ts'
import { text } from '../../support/backend.ts'
import type { Collector } from '../../support/collector.ts'

/**
 * verified: its record is signed by the log's key and is a leaf of the log. damaged: it holds no record with a valid signature any
 * more. wrong: a valid signature over a record that the log does not hold, or that is about another span.
 */
export type Worth = 'verified' | 'damaged' | 'wrong'

/** Judges copies by a collector's log as it lies on disk now. */
export class CopyJudge {
  private readonly leaves: Map<string, AnyRecord>
  private readonly kid: string
  private readonly key: ReturnType<typeof createPublicKey>

  constructor(collector: Collector) {
    const entries = readFrames(`${collector.root}/log`, LOG_START, Number.POSITIVE_INFINITY).map(entryOf)
    const first = entries[0]?.record
    if (first?.type !== 'log.opened') throw new Error('the log has no first record')
    const spki = Buffer.from(first.body.keys[0]?.spki ?? '', 'base64')
    this.kid = `sha256:${createHash('sha256').update(spki).digest('hex')}`
    this.key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    this.leaves = new Map(entries.map(({ leaf, record }) => [leaf, record]))
  }

  judge(span: Span): Worth {
    const copy = readRecordAttributes((key) => text(span, key))
    if (copy === null) return 'damaged'
    if (!verify(null, preAuthEncoding(RECORD_TYPE, copy.record), this.key, copy.signature)) return 'damaged'
    const record = this.leaves.get(createHash('sha256').update(leafInput(copy.record)).digest('base64'))
    return copy.kid === this.kid && record !== undefined && isOf(record, span) ? 'verified' : 'wrong'
  }

  /** How many spans are worth what. */
  count(spans: Span[]): Record<Worth, number> {
    const counted = { verified: 0, damaged: 0, wrong: 0 }
    for (const span of spans) counted[this.judge(span)]++
    return counted
  }
}

/** The record names the span, or, for the span of a call, its trace. */
function isOf({ trace }: AnyRecord, span: Span): boolean {
  if (trace?.trace_id !== span.traceId) return false
  return trace.span_id === span.spanId || span.name.startsWith('execute_tool ')
}
