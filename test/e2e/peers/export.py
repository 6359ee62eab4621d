"""Sends spans, log records and data points with OpenTelemetry's own exporters for Python. Arguments: address, `gzip` or `none`."""

import logging
import sys

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
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

address, name = sys.argv[1], sys.argv[2]
compression = Compression.Gzip if name == "gzip" else Compression.NoCompression
resource = Resource.create({"service.name": f"python-{name}"})
session = {"session.id": f"python-{name}"}

traces = TracerProvider(resource=resource)
traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{address}/v1/traces", compression=compression)))
with traces.get_tracer("python").start_as_current_span("execute_tool read_file", attributes=session) as span:
    span.set_attribute("gen_ai.tool.name", "read_file")
    span.set_attribute("bytes", 42)
    span.set_status(Status(StatusCode.ERROR, "ENOENT"))
traces.shutdown()

logs = LoggerProvider(resource=resource)
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(f"{address}/v1/logs", compression=compression)))
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
    OTLPMetricExporter(f"{address}/v1/metrics", compression=compression), export_interval_millis=3_600_000
)
metrics = MeterProvider(resource=resource, metric_readers=[reader])
meter = metrics.get_meter("python")
meter.create_counter("agent.tokens").add(7, session)
meter.create_histogram("agent.duration").record(1.5)
metrics.shutdown()
