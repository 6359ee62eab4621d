"""Sends spans, log records and data points with OpenTelemetry's own exporters for Python. Arguments: address, `gzip` or
`none`, `http` or `grpc`."""

import logging
import sys

import grpc
from opentelemetry.exporter.otlp.proto.grpc import _log_exporter as grpc_logs
from opentelemetry.exporter.otlp.proto.grpc import metric_exporter as grpc_metrics
from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as grpc_traces
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http import _log_exporter as http_logs
from opentelemetry.exporter.otlp.proto.http import metric_exporter as http_metrics
from opentelemetry.exporter.otlp.proto.http import trace_exporter as http_traces
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

# An exporter that is refused says so here and nowhere else.
logging.basicConfig(level=logging.WARNING)

address, gzip, protocol = sys.argv[1], sys.argv[2] == "gzip", sys.argv[3]
name = f"python-{protocol}-{sys.argv[2]}"
resource = Resource.create({"service.name": name})
session = {"session.id": name}


def exporter(over_http, over_grpc, signal):
    if protocol == "grpc":
        return over_grpc(address, insecure=True, compression=grpc.Compression.Gzip if gzip else None)
    return over_http(f"{address}/v1/{signal}", compression=Compression.Gzip if gzip else Compression.NoCompression)



traces = TracerProvider(resource=resource)
traces.add_span_processor(BatchSpanProcessor(exporter(http_traces.OTLPSpanExporter, grpc_traces.OTLPSpanExporter, "traces")))
with traces.get_tracer("python").start_as_current_span("execute_tool read_file", attributes=session) as span:
    span.set_attribute("gen_ai.tool.name", "read_file")
    span.set_attribute("bytes", 42)
    span.set_status(Status(StatusCode.ERROR, "ENOENT"))
traces.shutdown()

logs = LoggerProvider(resource=resource)
logs.add_log_record_processor(BatchLogRecordProcessor(exporter(http_logs.OTLPLogExporter, grpc_logs.OTLPLogExporter, "logs")))
logger = logs.get_logger("python")
for text in ("private words", "other words"):
    logger.emit(
        timestamp=1_790_000_000_000_000_021,
        severity_number=SeverityNumber.WARN,
        body=text,
        attributes=session,
        event_name="agent.step",
    )
logs.shutdown()

reader = PeriodicExportingMetricReader(
    exporter(http_metrics.OTLPMetricExporter, grpc_metrics.OTLPMetricExporter, "metrics"), export_interval_millis=3_600_000
)
metrics = MeterProvider(resource=resource, metric_readers=[reader])
meter = metrics.get_meter("python")
meter.create_counter("agent.tokens").add(7, session)
meter.create_histogram("agent.duration").record(1.5)
metrics.shutdown()
