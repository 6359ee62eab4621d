// Sends three signals with the exporters of OpenTelemetry JS SDK 3. Arguments: address of the collector; json, protobuf or grpc; none or
// gzip.
import { SpanStatusCode } from '@opentelemetry/api'
import { OTLPLogExporter as GrpcLogs } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as GrpcMetrics } from '@opentelemetry/exporter-metrics-otlp-grpc'
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as GrpcTraces } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const [base = '', encoding = '', compression = ''] = process.argv.slice(2)
const to = (signal) => ({ url: encoding === 'grpc' ? base : `${base}/v1/${signal}`, compression })
/** The exporter of this encoding. */
const pick = (signal, byEncoding) => new byEncoding[encoding](to(signal))
const scope = `sdk3 ${encoding} ${compression}`
const session = { 'session.id': scope }

const traces = pick('traces', { json: JsonTraces, protobuf: ProtobufTraces, grpc: GrpcTraces })
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

const logs = pick('logs', { json: JsonLogs, protobuf: ProtobufLogs, grpc: GrpcLogs })
const logging = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: logs })] })
logging.getLogger(scope).emit({
  severityNumber: 9,
  body: { nested: ['private words'] },
  attributes: session,
  eventName: 'agent.tool_result',
})

const metrics = pick('metrics', { json: JsonMetrics, protobuf: ProtobufMetrics, grpc: GrpcMetrics })
const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })
const metering = new MeterProvider({ readers: [reader] })
const meter = metering.getMeter(scope)
meter.createCounter('agent.tokens', { unit: '{token}' }).add(7, session)
meter.createHistogram('agent.duration').record(1.5)

await Promise.all([tracing.shutdown(), logging.shutdown(), metering.shutdown()])
