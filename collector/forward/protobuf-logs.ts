// OTLP log requests as protobuf: exactly the fields that we send (field numbers: opentelemetry-proto v1.11).
import protobuf from 'protobufjs/minimal.js'
import type { ExportLogsServiceRequest, LogRecord } from './logs.ts'
import { attributesTo, id, message, scopeTo, tag, text, time, VARINT, valueTo } from './protobuf.ts'

/** Bytes of an ExportLogsServiceRequest. */
export function encodeLogs({ resourceLogs }: ExportLogsServiceRequest): Uint8Array {
  const writer = protobuf.Writer.create()
  for (const { resource, scopeLogs } of resourceLogs) {
    message(writer, 1, (w) => {
      message(w, 1, (r) => attributesTo(r, 1, resource.attributes))
      for (const { scope, logRecords } of scopeLogs) {
        message(w, 2, (s) => {
          message(s, 1, (n) => scopeTo(n, scope))
          for (const record of logRecords) message(s, 2, (r) => recordTo(r, record))
        })
      }
    })
  }
  return writer.finish()
}

function recordTo(writer: protobuf.Writer, record: LogRecord): void {
  time(writer, 1, record.timeUnixNano)
  writer.uint32(tag(2, VARINT)).int32(record.severityNumber)
  message(writer, 5, (w) => valueTo(w, record.body))
  attributesTo(writer, 6, record.attributes)
  if (record.traceId !== undefined) id(writer, 9, record.traceId)
  if (record.spanId !== undefined) id(writer, 10, record.spanId)
  time(writer, 11, record.observedTimeUnixNano)
  text(writer, 12, record.eventName)
}
