"""OpenTelemetry spans of batches: how long each took, in which steps, and what it did."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Thread
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.util.types import AttributeValue

from streamapp.author.app_streams import InputRoles, declared_topics, is_embedded
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.failures import may_hold_values
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.status_rules import Reaction, is_fine, reaction_to
from streamapp_runtime.driver.telemetry.export_outage import ExportOutage
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.traffic import BYTES_IN, BYTES_OUT
from streamapp_runtime.redacted_output import redacted

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
HIDDEN: Final = "the driver's log says why, which may repeat values of records"
_FAILURE: Final = "StreamApp batch failed"
_LONGEST_REASON: Final = 2_000


class WatchedExporter(SpanExporter):
    """The exporter of OTLP over HTTP, with warnings in place of its own log."""

    def __init__(self, outage: ExportOutage) -> None:
        self._exporter, self._outage = OTLPSpanExporter(), outage

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans. Those that are not taken within the exporter's time are lost."""
        exported = self._exporter.export(spans)
        if exported is SpanExportResult.SUCCESS:
            self._outage.delivered()
        else:
            self._outage.failed("it does not take them", lost=len(spans))
        return exported

    def shutdown(self) -> None:
        """Send nothing more."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


@dataclass(slots=True)
class BatchTracer:
    """A span for each batch that did something, and for each failure without one."""

    app: StreamApp
    environment: Mapping[str, str]
    warn: Callable[[str], None]
    now: Callable[[], int] = time.time_ns
    _outage: ExportOutage = field(init=False)
    _provider: TracerProvider = field(init=False)
    _tracer: Tracer = field(init=False)
    _fixed: dict[str, AttributeValue] = field(init=False)  # attributes of all spans
    _lane_of: dict[str, str] = field(default_factory=dict)  # by task
    _failure: tuple[str, int] | None = None  # the last one, and when, until it is known of which batch

    def __post_init__(self) -> None:
        for name in ("exporter", "sdk"):  # what they would log for each export is told once, by ExportOutage
            logging.getLogger(f"opentelemetry.{name}").setLevel(logging.CRITICAL)
        endpoint = next(self.environment[name] for name in ENDPOINTS if self.environment.get(name))
        self._outage = ExportOutage("spans", endpoint, self.warn)
        self._provider = TracerProvider(resource=self._resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(WatchedExporter(self._outage)))
        self._tracer = self._provider.get_tracer("streamapp")
        self._fixed = _fixed_attributes(self.app)

    def launched(self, launch: Launch) -> None:
        """Note what runs."""
        self.runs(launch.app, launch.lanes)

    def runs(self, app: StreamApp, lanes: Mapping[str, Sequence[str]]) -> None:
        """Note who runs what from now on."""
        self._fixed = _fixed_attributes(app)
        self._lane_of = {task: lane for lane, tasks in lanes.items() for task in tasks}

    def batch_failed(self, reason: str) -> None:
        """Note a failure; the batch that it is of comes next, where there is one."""
        self._trace_failure()
        self._failure = reason, self.now()

    def batch_committed(self, batch: BatchResult) -> None:
        """Trace a batch, unless it had nothing to do."""
        end = self.now()
        failed = [report for report in batch.reports if _has_failed(report)]
        if failed:
            self._failure = None
        self._trace_failure()
        if not (failed or batch.rows_in or batch.rows_out or batch.restored):
            return
        start = end - int(batch.seconds * 1e9)
        span = self._tracer.start_span("StreamApp batch", Context(), SpanKind.CONSUMER, start_time=start)
        if span.is_recording():
            span.set_attributes(self._fixed | self._attributes(batch))
            if failed:
                reason = "; ".join(sorted({f"{report.status}: {report.message}" for report in failed}))
                _set_failed(span, ",".join(sorted({report.status for report in failed})), reason)
        span.end(end)

    def close(self, seconds: float) -> None:
        """Send what waits, for at most so long."""
        self._trace_failure()
        closing = Thread(target=self._provider.shutdown, name="spans-at-the-end", daemon=True)
        closing.start()
        closing.join(seconds)
        if closing.is_alive():
            self._outage.failed("it does not answer")

    def _trace_failure(self) -> None:
        """Trace a failure of which no lane reported: it is of no batch that ended."""
        if self._failure is None:
            return
        (reason, at), self._failure = self._failure, None
        span = self._tracer.start_span(_FAILURE, Context(), SpanKind.CONSUMER, start_time=at)
        if span.is_recording():
            span.set_attributes(self._fixed)
            _set_failed(span, "_OTHER", reason)
        span.end(at)

    def _attributes(self, batch: BatchResult) -> dict[str, AttributeValue]:
        done = [report for report in batch.reports if is_fine(report.status)]
        written = sum(number for one in done for name, _, number in one.counted if name == BYTES_OUT)
        read = sum(number for one in done for name, _, number in one.counted if name == BYTES_IN)
        attributes: dict[str, AttributeValue] = {
            "messaging.batch.message_count": batch.rows_in,
            "streamapp.batch.number": batch.number,
            "streamapp.batch.incarnation": batch.incarnation,
            "streamapp.batch.rows_out": batch.rows_out,
            "streamapp.batch.bytes_in": read,
            "streamapp.batch.bytes_out": written,
            "streamapp.batch.bad_records": batch.bad,
            "streamapp.batch.late_rows": batch.late,
            "streamapp.batch.restored_entries": batch.restored,
            "streamapp.batch.lag_rows": batch.lag,
            "streamapp.batch.tasks": len(batch.reports),
            "streamapp.batch.lanes": sorted({self._lane_of.get(r.task, r.task) for r in batch.reports}),
        }
        for step, seconds in batch.longest_steps().items():
            attributes[f"streamapp.batch.step_seconds.{step}"] = seconds
        return attributes

    def _resource(self) -> Resource:
        """The resource that the environment describes, with the app's name where it names no service."""
        named = "service.name=" in self.environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
        if named or self.environment.get("OTEL_SERVICE_NAME"):
            return Resource.create()
        return Resource.create({"service.name": self.app.application_id})


def _fixed_attributes(app: StreamApp) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {
        "messaging.system": "streamapp_embedded" if is_embedded(app) else "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.consumer.group.name": app.application_id,
    }
    roles = InputRoles.of(app)
    if len(inputs := {*roles.inputs, *roles.side_inputs}) == 1:
        attributes["messaging.destination.name"] = declared_topics(app)[inputs.pop()]
    return attributes


def _has_failed(report: TaskReport) -> bool:
    return reaction_to(report.status) not in {Reaction.CONTINUE, Reaction.WAIT}


def _set_failed(span: Span, kind: str, reason: str) -> None:
    text = HIDDEN if may_hold_values(reason) else redacted(reason)[:_LONGEST_REASON]
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, text))
