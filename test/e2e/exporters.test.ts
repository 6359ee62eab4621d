// The official OpenTelemetry exporters for JavaScript against the built collector: three signals, both encodings, with and without gzip.
import { SpanStatusCode } from '@opentelemetry/api'
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Collector } from '../support/collector.ts'

const SESSION = { 'session.id': 'exported' }

let collector: Collector
beforeAll(async () => {
  collector = await new Collector().start()
})
afterAll(() => collector.remove())

/** Bodies of the records of one type since `from`. */
const made = (type: string, from: number) =>
  collector
    .records()
    .slice(from)
    .filter((record) => record.type === type)
    .map(({ body }) => body)

const encodings = [
  ['json', 'none'],
  ['json', 'gzip'],
  ['protobuf', 'none'],
  ['protobuf', 'gzip'],
] as const

it.each(encodings)('spans as %s, %s', async (encoding, compression) => {
  const from = collector.records().length
  const options = { url: `${collector.endpoint().otlp}/v1/traces`, compression } as object
  const exporter = encoding === 'json' ? new JsonTraces(options) : new ProtobufTraces(options)
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  const tracer = provider.getTracer(`spans ${encoding} ${compression}`)
  for (let i = 0; i < 3; i++) {
    const span = tracer.startSpan(`execute_tool t${i}`, { attributes: { ...SESSION, 'gen_ai.tool.name': 't', n: i } })
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'ENOENT' })
    span.end()
  }
  await provider.shutdown()
  expect(made('spans.imported', from)).toMatchObject([{ count: 3, rejected: 0, encoding, sessions: 1 }])
  const { rows } = await collector.sql(
    `SELECT status, attributes->>'n', receipt_only FROM spans WHERE scope = 'spans ${encoding} ${compression}' ORDER BY name`,
  )
  expect(rows).toEqual([0, 1, 2].map((n) => ['error', String(n), true]))
})

it.each(encodings)('log records as %s, %s', async (encoding, compression) => {
  const from = collector.records().length
  const options = { url: `${collector.endpoint().otlp}/v1/logs`, compression } as object
  const exporter = encoding === 'json' ? new JsonLogs(options) : new ProtobufLogs(options)
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] })
  const logger = provider.getLogger(`logs ${encoding} ${compression}`)
  logger.emit({ severityNumber: 9, body: 'private words', attributes: SESSION, eventName: 'agent.tool_result' })
  logger.emit({ severityNumber: 17, body: { nested: ['private words'] }, attributes: { ...SESSION, ok: false } })
  await provider.shutdown()
  expect(made('logs.imported', from)).toMatchObject([{ count: 2, rejected: 0, encoding, sessions: 1 }])
  const { rows } = await collector.sql(
    `SELECT severity, event, attributes->>'ok', receipt_only FROM logs WHERE scope = 'logs ${encoding} ${compression}' ORDER BY severity`,
  )
  expect(rows).toEqual([
    [9, 'agent.tool_result', null, true],
    [17, null, 'false', true],
  ])
})

it.each(encodings)('data points as %s, %s', async (encoding, compression) => {
  const from = collector.records().length
  const options = { url: `${collector.endpoint().otlp}/v1/metrics`, compression } as object
  const exporter = encoding === 'json' ? new JsonMetrics(options) : new ProtobufMetrics(options)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const meter = provider.getMeter(`points ${encoding} ${compression}`)
  meter.createCounter('agent.tokens', { unit: '{token}' }).add(7, SESSION)
  meter.createUpDownCounter('agent.open').add(-2)
  meter.createHistogram('agent.duration').record(1.5)
  meter.createGauge('agent.load').record(0.25)
  await provider.shutdown()
  expect(made('metrics.imported', from)).toMatchObject([{ count: 4, rejected: 0, encoding, sessions: 1 }])
  const { rows } = await collector.sql(
    `SELECT metric, kind, temporality, value, count, sum FROM metrics WHERE scope = 'points ${encoding} ${compression}' ORDER BY metric`,
  )
  expect(rows).toEqual([
    ['agent.duration', 'histogram', 'cumulative', null, 1, 1.5],
    ['agent.load', 'gauge', 'unspecified', 0.25, null, null],
    ['agent.open', 'sum', 'cumulative', -2, null, null],
    ['agent.tokens', 'sum', 'cumulative', 7, null, null],
  ])
})
