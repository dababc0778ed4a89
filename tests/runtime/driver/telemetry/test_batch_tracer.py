"""Spans as a receiver gets them: of batches that failed, and after an outage."""

import os
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from streamapp.spec.parser import parse
from streamapp_runtime.driver.telemetry.run_telemetry import RunTelemetry, open_telemetry
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.engine.batch_results import batch
from tests.harness.machine.processes import until
from tests.harness.runs.run_process import EXAMPLE
from tests.harness.runs.telemetry_receiver import TelemetryReceiver, attributes_of, telemetry_receiver

WITHIN = 20.0
(APP,) = parse(EXAMPLE.read_text("utf-8")).apps


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[TelemetryReceiver]:
    with telemetry_receiver() as started:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", started.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        yield started


def opened(warnings: list[str]) -> RunTelemetry:
    telemetry = open_telemetry(APP, warnings.append)
    assert telemetry is not None
    return telemetry


def closed(telemetry: RunTelemetry) -> None:
    assert telemetry.tracer is not None
    telemetry.tracer.close(WITHIN)


@pytest.mark.usefixtures("loopback")
def test_an_outage_is_told_once_when_it_begins_and_once_when_it_ends(receiver: TelemetryReceiver) -> None:
    warnings: list[str] = []
    telemetry = opened(warnings)
    receiver.status = HTTPStatus.FORBIDDEN
    telemetry.batch_committed(batch(1))
    until(lambda: warnings, WITHIN)
    receiver.status = HTTPStatus.OK
    telemetry.batch_committed(batch(2))
    until(lambda: len(warnings) == 2, WITHIN)
    closed(telemetry)
    began, ended = warnings
    assert began == f"spans do not reach {receiver.url}: it does not take them; the app continues without"
    assert ended == f"spans reach {receiver.url} again; 1 were lost"
    assert [attributes_of(span)["streamapp.batch.number"] for span in receiver.spans] == [2]


@pytest.mark.usefixtures("loopback")
def test_the_span_of_a_failed_batch_names_the_status_and_repeats_no_record(
    receiver: TelemetryReceiver,
) -> None:
    telemetry = opened([])
    telemetry.batch_failed("code: ValueError: secret value")
    telemetry.batch_committed(batch(status=TaskStatus.CODE))
    closed(telemetry)
    (span,) = receiver.spans
    assert span.status.code == Status.STATUS_CODE_ERROR
    assert "secret value" not in span.status.message
    assert attributes_of(span)["error.type"] == "code"


@pytest.mark.usefixtures("loopback")
def test_a_failure_without_reports_is_a_span_of_its_own(receiver: TelemetryReceiver) -> None:
    telemetry = opened([])
    telemetry.batch_failed("unavailable: the broker is away")
    telemetry.batch_committed(batch(1))
    closed(telemetry)
    failure, done = receiver.spans
    assert failure.name == "StreamApp batch failed"
    assert failure.status.message == "unavailable: the broker is away"
    assert done.status.code == Status.STATUS_CODE_UNSET


@pytest.mark.usefixtures("loopback")
def test_a_batch_without_anything_to_do_has_no_span(receiver: TelemetryReceiver) -> None:
    telemetry = opened([])
    telemetry.batch_committed(batch(rows_in=0, rows_out=0))
    closed(telemetry)
    assert receiver.spans == []


def test_nothing_is_opened_where_nothing_is_set() -> None:
    assert open_telemetry(APP, pytest.fail) is None


@pytest.mark.usefixtures("loopback")
def test_another_protocol_is_refused_in_one_line(
    receiver: TelemetryReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    warnings: list[str] = []
    assert open_telemetry(APP, warnings.append) is None
    (warning,) = warnings
    assert "http/protobuf only" in warning


@pytest.mark.parametrize("url", ["nonsense", "http://"])
def test_a_wrong_url_is_a_warning(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", url)
    warnings: list[str] = []
    assert open_telemetry(APP, warnings.append) is None
    (warning,) = warnings
    assert warning.startswith("no lineage events are sent: ")


@pytest.mark.usefixtures("process")
def test_a_missing_library_is_one_line_that_names_the_extra() -> None:
    program = f"""
import sys
sys.modules["opentelemetry"] = sys.modules["openlineage"] = None  # as where they are not installed
from pathlib import Path
from streamapp.spec.parser import parse
from streamapp_runtime.driver.telemetry.run_telemetry import open_telemetry
(app,) = parse(Path({str(EXAMPLE)!r}).read_text("utf-8")).apps
assert open_telemetry(app, print) is None
"""
    url = "http://127.0.0.1:9"
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": url, "OPENLINEAGE_URL": url}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    traces, lineage = run.stdout.splitlines()
    assert traces.startswith("no spans are sent: ")
    assert lineage.startswith("no lineage events are sent: ")
    assert traces.endswith("install the extra: pip install 'streamapp[telemetry]'")
    assert run.stderr == ""
