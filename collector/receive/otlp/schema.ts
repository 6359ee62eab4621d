// The OTLP messages as data, in the JSON descriptor format of protobufjs, and the lookup tables that both decoders run on.
// Facts (names, numbers, types) of opentelemetry-proto v1.11: {trace,logs,metrics}_service.proto, {trace,logs,metrics}.proto,
// common.proto, resource.proto. Left out, so read as unknown fields and ignored: the profiling string indexes
// (string_value_strindex, key_strindex), Resource.entity_refs (in development), and of metrics what no view shows: exemplars,
// buckets, bounds and quantiles. All of it stays in the body that is kept.
import { wireTypeOf } from './wire.ts'

interface FieldDescriptor {
  id: number
  type: string
  rule?: 'repeated'
  /** A value of zero that is there says something else than none. */
  options?: { proto3_optional: true }
}
interface MessageDescriptor {
  fields: Record<string, FieldDescriptor>
  oneofs?: Record<string, { oneof: string[] }>
}
interface EnumDescriptor {
  values: Record<string, number>
}

const one = (id: number, type: string): FieldDescriptor => ({ id, type })
const many = (id: number, type: string): FieldDescriptor => ({ id, type, rule: 'repeated' })
const maybe = (id: number, type: string): FieldDescriptor => ({ id, type, options: { proto3_optional: true } })

/** Fields of every data point; attributes have another number in each kind. */
const point = (attributes: number) => ({
  startTimeUnixNano: one(2, 'fixed64'),
  timeUnixNano: one(3, 'fixed64'),
  attributes: many(attributes, 'KeyValue'),
})
/** Fields of data points that sum up many values. */
const summed = { count: one(4, 'fixed64'), sum: maybe(5, 'double') }

export const MESSAGES: Record<string, MessageDescriptor> = {
  ExportTraceServiceRequest: { fields: { resourceSpans: many(1, 'ResourceSpans') } },
  ResourceSpans: {
    fields: { resource: one(1, 'Resource'), scopeSpans: many(2, 'ScopeSpans'), schemaUrl: one(3, 'string') },
  },
  Resource: { fields: { attributes: many(1, 'KeyValue'), droppedAttributesCount: one(2, 'uint32') } },
  ScopeSpans: {
    fields: { scope: one(1, 'InstrumentationScope'), spans: many(2, 'Span'), schemaUrl: one(3, 'string') },
  },
  InstrumentationScope: {
    fields: {
      name: one(1, 'string'),
      version: one(2, 'string'),
      attributes: many(3, 'KeyValue'),
      droppedAttributesCount: one(4, 'uint32'),
    },
  },
  Span: {
    fields: {
      traceId: one(1, 'bytes'),
      spanId: one(2, 'bytes'),
      traceState: one(3, 'string'),
      parentSpanId: one(4, 'bytes'),
      name: one(5, 'string'),
      kind: one(6, 'SpanKind'),
      startTimeUnixNano: one(7, 'fixed64'),
      endTimeUnixNano: one(8, 'fixed64'),
      attributes: many(9, 'KeyValue'),
      droppedAttributesCount: one(10, 'uint32'),
      events: many(11, 'Event'),
      droppedEventsCount: one(12, 'uint32'),
      links: many(13, 'Link'),
      droppedLinksCount: one(14, 'uint32'),
      status: one(15, 'Status'),
      flags: one(16, 'fixed32'),
    },
  },
  Event: {
    fields: {
      timeUnixNano: one(1, 'fixed64'),
      name: one(2, 'string'),
      attributes: many(3, 'KeyValue'),
      droppedAttributesCount: one(4, 'uint32'),
    },
  },
  Link: {
    fields: {
      traceId: one(1, 'bytes'),
      spanId: one(2, 'bytes'),
      traceState: one(3, 'string'),
      attributes: many(4, 'KeyValue'),
      droppedAttributesCount: one(5, 'uint32'),
      flags: one(6, 'fixed32'),
    },
  },
  Status: { fields: { message: one(2, 'string'), code: one(3, 'StatusCode') } },
  KeyValue: { fields: { key: one(1, 'string'), value: one(2, 'AnyValue') } },
  AnyValue: {
    oneofs: {
      value: {
        oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'],
      },
    },
    fields: {
      stringValue: one(1, 'string'),
      boolValue: one(2, 'bool'),
      intValue: one(3, 'int64'),
      doubleValue: one(4, 'double'),
      arrayValue: one(5, 'ArrayValue'),
      kvlistValue: one(6, 'KeyValueList'),
      bytesValue: one(7, 'bytes'),
    },
  },
  ArrayValue: { fields: { values: many(1, 'AnyValue') } },
  KeyValueList: { fields: { values: many(1, 'KeyValue') } },

  ExportLogsServiceRequest: { fields: { resourceLogs: many(1, 'ResourceLogs') } },
  ResourceLogs: {
    fields: { resource: one(1, 'Resource'), scopeLogs: many(2, 'ScopeLogs'), schemaUrl: one(3, 'string') },
  },
  ScopeLogs: {
    fields: { scope: one(1, 'InstrumentationScope'), logRecords: many(2, 'LogRecord'), schemaUrl: one(3, 'string') },
  },
  LogRecord: {
    fields: {
      timeUnixNano: one(1, 'fixed64'),
      severityNumber: one(2, 'SeverityNumber'),
      severityText: one(3, 'string'),
      body: one(5, 'AnyValue'),
      attributes: many(6, 'KeyValue'),
      droppedAttributesCount: one(7, 'uint32'),
      flags: one(8, 'fixed32'),
      traceId: one(9, 'bytes'),
      spanId: one(10, 'bytes'),
      observedTimeUnixNano: one(11, 'fixed64'),
      eventName: one(12, 'string'),
    },
  },

  ExportMetricsServiceRequest: { fields: { resourceMetrics: many(1, 'ResourceMetrics') } },
  ResourceMetrics: {
    fields: { resource: one(1, 'Resource'), scopeMetrics: many(2, 'ScopeMetrics'), schemaUrl: one(3, 'string') },
  },
  ScopeMetrics: {
    fields: { scope: one(1, 'InstrumentationScope'), metrics: many(2, 'Metric'), schemaUrl: one(3, 'string') },
  },
  Metric: {
    oneofs: { data: { oneof: ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] } },
    fields: {
      name: one(1, 'string'),
      description: one(2, 'string'),
      unit: one(3, 'string'),
      gauge: one(5, 'Gauge'),
      sum: one(7, 'Sum'),
      histogram: one(9, 'Histogram'),
      exponentialHistogram: one(10, 'ExponentialHistogram'),
      summary: one(11, 'Summary'),
    },
  },
  Gauge: { fields: { dataPoints: many(1, 'NumberDataPoint') } },
  Sum: {
    fields: {
      dataPoints: many(1, 'NumberDataPoint'),
      aggregationTemporality: one(2, 'AggregationTemporality'),
      isMonotonic: one(3, 'bool'),
    },
  },
  Histogram: {
    fields: {
      dataPoints: many(1, 'HistogramDataPoint'),
      aggregationTemporality: one(2, 'AggregationTemporality'),
    },
  },
  ExponentialHistogram: {
    fields: {
      dataPoints: many(1, 'ExponentialHistogramDataPoint'),
      aggregationTemporality: one(2, 'AggregationTemporality'),
    },
  },
  Summary: { fields: { dataPoints: many(1, 'SummaryDataPoint') } },
  NumberDataPoint: {
    oneofs: { value: { oneof: ['asDouble', 'asInt'] } },
    fields: { ...point(7), asDouble: one(4, 'double'), asInt: one(6, 'sfixed64') },
  },
  HistogramDataPoint: { fields: { ...point(9), ...summed, min: maybe(11, 'double'), max: maybe(12, 'double') } },
  ExponentialHistogramDataPoint: {
    fields: { ...point(1), ...summed, min: maybe(12, 'double'), max: maybe(13, 'double') },
  },
  SummaryDataPoint: { fields: { ...point(7), ...summed } },
}

export const ENUMS: Record<string, EnumDescriptor> = {
  SpanKind: {
    values: {
      SPAN_KIND_UNSPECIFIED: 0,
      SPAN_KIND_INTERNAL: 1,
      SPAN_KIND_SERVER: 2,
      SPAN_KIND_CLIENT: 3,
      SPAN_KIND_PRODUCER: 4,
      SPAN_KIND_CONSUMER: 5,
    },
  },
  StatusCode: { values: { STATUS_CODE_UNSET: 0, STATUS_CODE_OK: 1, STATUS_CODE_ERROR: 2 } },
  AggregationTemporality: {
    values: {
      AGGREGATION_TEMPORALITY_UNSPECIFIED: 0,
      AGGREGATION_TEMPORALITY_DELTA: 1,
      AGGREGATION_TEMPORALITY_CUMULATIVE: 2,
    },
  },
  SeverityNumber: { values: severities() },
}

/** SEVERITY_NUMBER_TRACE = 1, _TRACE2 = 2 ... _FATAL4 = 24. */
function severities(): Record<string, number> {
  const values: Record<string, number> = { SEVERITY_NUMBER_UNSPECIFIED: 0 }
  for (const [level, name] of ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].entries()) {
    for (let step = 1; step <= 4; step++) values[`SEVERITY_NUMBER_${name}${step === 1 ? '' : step}`] = 4 * level + step
  }
  return values
}

/** `bytes` fields that are ids: this many bytes, hex in JSON. Every other `bytes` field is base64 there. */
const ID_BYTES: Record<string, number> = { traceId: 16, spanId: 8, parentSpanId: 8 }

/** Fields that conventions/otlp.ts promises, with the value an absent one has. An absent id is all zeroes, which is invalid. */
const NO_TIMES = { startTimeUnixNano: '0', timeUnixNano: '0' }
const PROMISED: Record<string, Record<string, string>> = {
  Span: { traceId: '0'.repeat(32), spanId: '0'.repeat(16), name: '', startTimeUnixNano: '0', endTimeUnixNano: '0' },
  Event: { timeUnixNano: '0', name: '' },
  Link: { traceId: '0'.repeat(32), spanId: '0'.repeat(16) },
  KeyValue: { key: '' },
  LogRecord: { timeUnixNano: '0', observedTimeUnixNano: '0' },
  Metric: { name: '' },
  NumberDataPoint: NO_TIMES,
  HistogramDataPoint: { ...NO_TIMES, count: '0' },
  ExponentialHistogramDataPoint: { ...NO_TIMES, count: '0' },
  SummaryDataPoint: { ...NO_TIMES, count: '0' },
}

export type FieldType =
  | { kind: 'string' | 'bool' | 'bytes' | 'double' }
  | { kind: 'integer'; wire: 'int64' | 'fixed64' | 'sfixed64' | 'uint32' | 'fixed32' }
  | { kind: 'id'; bytes: number }
  | { kind: 'enum'; values: ReadonlyMap<string, number> }
  | { kind: 'message'; message: Message }

export interface Field {
  name: string
  type: FieldType
  repeated: boolean
  /** All alternatives of the oneof it is in, itself among them. */
  oneof: readonly string[] | undefined
  /** A default value that is on the wire is kept. */
  explicit: boolean
  /** Wire type. */
  wire: number
  /** An attribute's name: one of few, so it is not made anew for each. */
  key: boolean
}

export interface Message {
  name: string
  byNumber: readonly (Field | undefined)[]
  /** By lowerCamelCase and by snake_case name. */
  byName: ReadonlyMap<string, Field>
  promised: readonly [string, string][]
}

const compiled = new Map<string, Message>()

/** The lookup tables of a message. Throws on a name the schema does not have. */
export function messageOf(name: string): Message {
  const known = compiled.get(name)
  if (known !== undefined) return known
  const descriptor = MESSAGES[name]
  if (descriptor === undefined) throw new TypeError(`the schema has no message ${name}`)
  const byName = new Map<string, Field>()
  const byNumber: Field[] = []
  const message: Message = {
    name,
    byNumber,
    byName,
    promised: Object.entries(PROMISED[name] ?? {}),
  }
  // Set before its fields are looked at: AnyValue holds itself.
  compiled.set(name, message)
  const oneofs = Object.values(descriptor.oneofs ?? {}).map((group) => group.oneof)
  for (const [fieldName, { id, type, rule, options }] of Object.entries(descriptor.fields)) {
    const oneof = oneofs.find((names) => names.includes(fieldName))
    const explicit = oneof !== undefined || options !== undefined
    const found = typeOf(fieldName, type)
    const field: Field = {
      name: fieldName,
      type: found,
      repeated: rule === 'repeated',
      oneof,
      explicit,
      wire: wireTypeOf(found),
      key: name === 'KeyValue' && fieldName === 'key',
    }
    if (field.repeated && field.type.kind !== 'message') throw new TypeError(`${fieldName}: packed fields are not read`)
    byNumber[id] = field
    byName.set(fieldName, field)
    byName.set(snakeCase(fieldName), field)
  }
  return message
}

function typeOf(field: string, type: string): FieldType {
  switch (type) {
    case 'string':
    case 'bool':
    case 'double':
      return { kind: type }
    case 'bytes': {
      const bytes = ID_BYTES[field]
      return bytes === undefined ? { kind: 'bytes' } : { kind: 'id', bytes }
    }
    case 'int64':
    case 'fixed64':
    case 'sfixed64':
    case 'uint32':
    case 'fixed32':
      return { kind: 'integer', wire: type }
  }
  const enumeration = ENUMS[type]
  if (enumeration !== undefined) return { kind: 'enum', values: new Map(Object.entries(enumeration.values)) }
  return { kind: 'message', message: messageOf(type) }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A decoded message: plain objects, keyed by schema names only. */
export type Decoded = Record<string, unknown>
export type Scalar = string | number | boolean

/** True for the value an absent field has: it is left out, so that both encodings of a span give the same shape. */
export function isDefault(type: FieldType, value: Scalar): boolean {
  if (type.kind === 'integer') return value === '0' || value === 0
  return value === '' || value === 0 || value === false
}
