// Sends three signals with the exporters of OpenTelemetry JS SDK 3. Arguments: address of the collector, json or protobuf, none or gzip.
import { SpanStatusCode } from '@opentelemetry/api'
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const [base = '', encoding = '', compression = ''] = process.argv.slice(2)
const json = encoding === 'json'
const to = (signal) => ({ url: `${base}/v1/${signal}`, compression })
const scope = `sdk3 ${encoding} ${compression}`
const session = { 'session.id': scope }

const traces = json ? new JsonTraces(to('traces')) : new ProtobufTraces(to('traces'))
const tracing = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: traces })] })
const span = tracing.getTracer(scope).startSpan('execute_tool read_file', {
  // What SDK 2 drops and SDK 3 sends: a map, a list of lists, nothing at all.
  attributes: {
    ...session,
    'gen_ai.tool.name': 'read_file',
    'gen_ai.tool.call.arguments': { path: '/home/dev/project/missing.txt', lines: [[1, 2], [3]] },
    nothing: null,
  },
})
span.setStatus({ code: SpanStatusCode.ERROR, message: 'ENOENT' })
span.end()

const logs = json ? new JsonLogs(to('logs')) : new ProtobufLogs(to('logs'))
const logging = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: logs })] })
logging.getLogger(scope).emit({
  severityNumber: 9,
  body: { nested: ['private words'] },
  attributes: session,
  eventName: 'agent.tool_result',
})

const metrics = json ? new JsonMetrics(to('metrics')) : new ProtobufMetrics(to('metrics'))
const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })
const metering = new MeterProvider({ readers: [reader] })
const meter = metering.getMeter(scope)
meter.createCounter('agent.tokens', { unit: '{token}' }).add(7, session)
meter.createHistogram('agent.duration').record(1.5)

await Promise.all([tracing.shutdown(), logging.shutdown(), metering.shutdown()])
