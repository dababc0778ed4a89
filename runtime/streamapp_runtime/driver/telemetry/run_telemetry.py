"""Traces and lineage as a run has them: both, one, or none, as the environment of the process says."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from streamapp.internal_fault import internal_fault
from streamapp.protocol.termination import Termination
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice
from streamapp_runtime.driver.batches.run_change import ChangeKind, RunChange
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.start.launch import Launch

if TYPE_CHECKING:
    from streamapp_runtime.driver.telemetry.batch_tracer import BatchTracer
    from streamapp_runtime.driver.telemetry.run_lineage import RunLineage

CLOSE_SECONDS: Final = 5.0
"""So long an end waits for spans to be taken, and so long again for lineage events."""
EXTRA: Final = "install the extra: pip install 'streamapp[telemetry]'"


@dataclass(slots=True)
class RunTelemetry(RunObserver):
    """The traces and the lineage of a run, each where it is configured."""

    tracer: "BatchTracer | None"
    lineage: "RunLineage | None"
    warn: Callable[[str], None]

    def launched(self, launch: Launch) -> None:
        """Note what runs."""
        with self._without_failing():
            if self.tracer:
                self.tracer.launched(launch)
            if self.lineage:
                self.lineage.launched(launch)

    def batch_committed(self, batch: BatchResult) -> None:
        """Trace a batch."""
        with self._without_failing():
            if self.tracer:
                self.tracer.batch_committed(batch)

    def batch_failed(self, reason: str) -> None:
        """Note that a batch failed."""
        with self._without_failing():
            if self.tracer:
                self.tracer.batch_failed(reason)

    def outage(self, notice: OutageNotice) -> None:
        """Note a batch that failed for want of the streams' system."""
        if notice.of_batch:
            self.batch_failed(notice.reason)

    def changed(self, change: RunChange) -> None:
        """Note who runs what from now on; datasets are others only by another model or generation."""
        with self._without_failing():
            if self.tracer:
                self.tracer.runs(change.launch.app, change.lanes)
            if self.lineage and change.kind in {ChangeKind.MODEL, ChangeKind.SPEC}:
                self.lineage.changed(change.launch)

    def ended(self, ending: Termination, *, stopped: bool) -> None:
        """Tell how the run ended, and send what waits within a bounded time."""
        with self._without_failing():
            if self.tracer:
                self.tracer.close(CLOSE_SECONDS)
            if self.lineage:
                self.lineage.ended(ending, stopped=stopped, seconds=CLOSE_SECONDS)

    @contextmanager
    def _without_failing(self) -> Iterator[None]:
        """An app continues whatever goes wrong here: then nothing more is told of it."""
        try:
            yield
        except Exception as error:
            self.tracer = self.lineage = None
            self.warn(f"no more spans and lineage events are sent: it {internal_fault(error)}")


def open_telemetry(app: StreamApp, warn: Callable[[str], None]) -> RunTelemetry | None:
    """The telemetry that the environment configures; None, and nothing imported, where it configures none."""
    environment = os.environ  # which the libraries read too
    tracer = _tracer(app, environment, warn) if _traces_wanted(environment) else None
    lineage = _lineage(app, environment, warn) if _lineage_wanted(environment) else None
    return RunTelemetry(tracer, lineage, warn) if tracer or lineage else None


def _traces_wanted(environment: Mapping[str, str]) -> bool:
    is_off = (
        environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
        or environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    )
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return not is_off and any(environment.get(name) for name in names)


def _lineage_wanted(environment: Mapping[str, str]) -> bool:
    is_off = environment.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true"
    return not is_off and bool(environment.get("OPENLINEAGE_URL"))


def _tracer(
    app: StreamApp, environment: Mapping[str, str], warn: Callable[[str], None]
) -> "BatchTracer | None":
    names = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    protocol = next((environment[name] for name in names if environment.get(name)), "http/protobuf")
    if protocol != "http/protobuf":
        warn(f"no spans are sent: OTLP is spoken as http/protobuf only, and the environment says {protocol}")
        return None
    try:
        from streamapp_runtime.driver.telemetry.batch_tracer import BatchTracer
    except ModuleNotFoundError as error:
        warn(f"no spans are sent: {error.name} is missing; {EXTRA}")
        return None
    try:
        return BatchTracer(app, environment, warn)
    except Exception as error:  # a wrong setting of a library must not end an app
        warn(f"no spans are sent: {error}")
        return None


def _lineage(
    app: StreamApp, environment: Mapping[str, str], warn: Callable[[str], None]
) -> "RunLineage | None":
    try:
        from streamapp_runtime.driver.telemetry.run_lineage import RunLineage
    except ModuleNotFoundError as error:
        warn(f"no lineage events are sent: {error.name} is missing; {EXTRA}")
        return None
    try:
        return RunLineage(app, environment, warn)
    except Exception as error:  # a wrong setting of a library must not end an app
        warn(f"no lineage events are sent: {error}")
        return None
