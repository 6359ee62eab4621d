// The stream of evidence as OTLP log records: every record of the log and every checkpoint, whether it belongs to a span or not, so
// that a destination for logs holds a whole copy.
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_NAMESPACE,
  ATTR_SPANSEAL_CHECKPOINT,
  ATTR_SPANSEAL_LOG_ID,
  ATTR_SPANSEAL_RUN_ID,
  ATTR_SPANSEAL_SEQ,
  ATTR_SPANSEAL_TIER,
} from '../../conventions/attributes.ts'
import type { LogEntry } from '../../conventions/log.ts'
import { type AnyValue, attribute, type KeyValue } from '../../conventions/otlp.ts'
import { recordAttributes } from '../../conventions/record-attribute.ts'
import { encodeLogs } from './protobuf-logs.ts'
import { SCOPE } from './request.ts'
import type { Encoded, Fold, RequestSettings, Signal } from './signal.ts'
import { milliseconds, nanoseconds } from './span-builder.ts'

/** severity_number INFO of opentelemetry-proto. */
const INFO = 9

/** An OTLP log record, as far as we write it. */
export interface LogRecord {
  timeUnixNano: string
  observedTimeUnixNano: string
  severityNumber: number
  eventName: 'spanseal.record' | 'spanseal.checkpoint'
  body: AnyValue
  attributes: KeyValue[]
  traceId?: string
  spanId?: string
}

/** A log record as it travels, and what else must be known of it. */
export interface EncodedLog extends Encoded {
  log: string
  /** Names it in messages. */
  what: string
}

/** Body of POST /v1/logs. */
export interface ExportLogsServiceRequest {
  resourceLogs: {
    resource: { attributes: KeyValue[] }
    scopeLogs: { scope: { name: string; version: string }; logRecords: LogRecord[] }[]
  }[]
}

/** Checkpoints in the order they were signed; each call gives those since the last. */
export type CheckpointSource = () => { size: number; note: string }[]

/** `checkpoints` makes a source that begins at the first. */
export function logs({ checkpoints }: { checkpoints: () => CheckpointSource }): Signal<EncodedLog> {
  return {
    path: '/v1/logs',
    noun: 'log records',
    fold: () => new LogFold(checkpoints()),
    request: (records, settings) => {
      const json = logsRequest(records, settings)
      return { json, protobuf: () => encodeLogs(JSON.parse(json) as ExportLogsServiceRequest) }
    },
    describe: ({ what }) => what,
  }
}

class LogFold implements Fold<EncodedLog> {
  readonly #source: CheckpointSource
  #waiting: { size: number; note: string }[] = []
  #last: { logId: string; time: string; size: number } | undefined

  constructor(source: CheckpointSource) {
    this.#source = source
  }

  apply(entry: LogEntry): EncodedLog[] {
    this.#passed(entry)
    const { id, seq } = entry.record.log
    return [encode(recordItem(entry), id, `record ${seq}`), ...this.#due()]
  }

  skip(entry: LogEntry): void {
    this.#passed(entry)
    // The one over exactly these records may have been signed after they were sent; sent twice it is the same.
    this.#take((size) => size < entry.record.log.seq + 1)
  }

  /** A checkpoint is signed after its last record, up to some seconds later. */
  end(): EncodedLog[] {
    return this.#due()
  }

  #passed({ record }: LogEntry): void {
    this.#last = { logId: record.log.id, time: record.time, size: record.log.seq + 1 }
  }

  #due(): EncodedLog[] {
    const last = this.#last
    if (last === undefined) return []
    return this.#take((size) => size <= last.size).map(({ note, size }) =>
      encode(checkpointItem(note, last.logId, last.time), last.logId, `the checkpoint over ${size} records`),
    )
  }

  #take(isDue: (size: number) => boolean): { size: number; note: string }[] {
    if (this.#waiting.length === 0) this.#waiting = this.#source()
    const until = this.#waiting.findIndex(({ size }) => !isDue(size))
    return this.#waiting.splice(0, until === -1 ? this.#waiting.length : until)
  }
}

function recordItem(entry: LogEntry): LogRecord {
  const { record } = entry
  const values = {
    [ATTR_SPANSEAL_LOG_ID]: record.log.id,
    [ATTR_SPANSEAL_SEQ]: record.log.seq,
    ...(record.tier === undefined ? {} : { [ATTR_SPANSEAL_TIER]: record.tier }),
    ...(record.run === undefined ? {} : { [ATTR_SPANSEAL_RUN_ID]: record.run.id }),
    ...recordAttributes(entry),
  }
  const { trace } = record
  return {
    ...event('spanseal.record', record.type, record.time, values),
    ...(trace === undefined ? {} : { traceId: trace.trace_id, spanId: trace.span_id }),
  }
}

function checkpointItem(note: string, logId: string, time: string): LogRecord {
  return event('spanseal.checkpoint', 'checkpoint', time, {
    [ATTR_SPANSEAL_LOG_ID]: logId,
    [ATTR_SPANSEAL_CHECKPOINT]: note,
  })
}

function event(
  eventName: LogRecord['eventName'],
  body: string,
  time: string,
  values: Record<string, string | number>,
): LogRecord {
  const at = nanoseconds(milliseconds(time))
  return {
    timeUnixNano: at,
    observedTimeUnixNano: at,
    severityNumber: INFO,
    eventName,
    body: { stringValue: body },
    attributes: Object.entries(values).map(([key, value]) => attribute(key, value)),
  }
}

function encode(record: LogRecord, log: string, what: string): EncodedLog {
  const json = JSON.stringify(record)
  return { log, what, json, size: Buffer.byteLength(json) }
}

function logsRequest(records: readonly EncodedLog[], { resourceAttributes, version }: RequestSettings): string {
  const groups = new Map<string, string[]>()
  for (const { log, json } of records) {
    const group = groups.get(log)
    if (group === undefined) groups.set(log, [json])
    else group.push(json)
  }
  const scope = JSON.stringify({ name: SCOPE, version })
  const resourceLogs = [...groups].map(([id, logRecords]) => {
    const ours = {
      [ATTR_SERVICE_NAME]: SCOPE,
      [ATTR_SERVICE_NAMESPACE]: SCOPE,
      [ATTR_SERVICE_INSTANCE_ID]: id,
    }
    const attributes = Object.entries({ ...resourceAttributes, ...ours }).map(([key, value]) => attribute(key, value))
    return `{"resource":{"attributes":${JSON.stringify(attributes)}},"scopeLogs":[{"scope":${scope},"logRecords":[${logRecords.join(',')}]}]}`
  })
  return `{"resourceLogs":[${resourceLogs.join(',')}]}`
}
