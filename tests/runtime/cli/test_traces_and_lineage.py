"""Spans and lineage events of whole runs, as real receivers get them."""

import signal
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from examples.sample_data import Sample
from tests.harness.machine.processes import free_port, until
from tests.harness.runs.run_process import Running
from tests.harness.runs.telemetry_receiver import TelemetryReceiver, attributes_of, telemetry_receiver

WITHIN = 60.0


def environment(url: str) -> dict[str, str]:
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OPENLINEAGE_URL": url,
        "OPENLINEAGE_API_KEY": "a-key",
        "OPENLINEAGE_NAMESPACE": "shop-team",
    }


def telemetry_messages(running: Running) -> list[str]:
    return [said["message"] for said in running.said if said.get("event") == "telemetry"]


def states(receiver: TelemetryReceiver) -> list[str]:
    return [event["eventType"] for event in receiver.events]


def input_fields(entries: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    """Columns of inputs by the last part of the dataset's name, with what each is to the output."""
    return {
        (Path(entry["name"]).name, entry["field"], f"{use['type']} {use['subtype']}")
        for entry in entries
        for use in entry["transformations"]
    }


@pytest.mark.usefixtures("process")
def test_a_bounded_run_is_traced_and_its_lineage_completes(unread_data: Path, sample_data: Sample) -> None:
    with telemetry_receiver() as receiver:
        running = Running.start(unread_data, "--until-end", env=environment(receiver.url))
        assert running.end() == 0
    assert telemetry_messages(running) == []

    assert receiver.services == {"shop.country-views"}
    batches = [attributes_of(span) for span in receiver.spans]
    (ended,) = [said for said in running.said if said.get("event") == "ended"]
    assert ended["rowsIn"] == len(sample_data.views) + len(sample_data.users)
    assert sum(batch["messaging.batch.message_count"] for batch in batches) > ended["rowsIn"]
    assert all(batch["messaging.consumer.group.name"] == "shop.country-views" for batch in batches)
    assert any(batch["streamapp.batch.bytes_in"] for batch in batches)
    assert any("streamapp.batch.step_seconds.commit" in batch for batch in batches)
    assert all(span.end_time_unix_nano > span.start_time_unix_nano for span in receiver.spans)

    assert states(receiver) == ["START", "COMPLETE"]
    assert receiver.authorizations == {"Bearer a-key"}
    start, complete = receiver.events
    assert start["run"]["runId"] == complete["run"]["runId"] == str(UUID(start["run"]["runId"]))
    assert start["job"]["namespace"] == "shop-team"
    assert start["job"]["name"] == "shop.country-views"
    assert start["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    assert datetime.fromisoformat(start["eventTime"]).tzinfo is not None
    assert start["producer"]
    assert start["schemaURL"].startswith("https://openlineage.io/spec/")
    folder = unread_data.resolve()
    assert {(one["namespace"], one["name"]) for one in start["inputs"]} == {
        ("file", str(folder / "page-views")),
        ("file", str(folder / "users")),
    }
    (output,) = start["outputs"]
    assert (output["namespace"], output["name"]) == ("file", str(folder / "totals"))
    fields = [column["name"] for column in output["facets"]["schema"]["fields"]]
    assert fields == ["country", "views"]

    columns = output["facets"]["columnLineage"]
    told = {column: input_fields(field["inputFields"]) for column, field in columns["fields"].items()}
    assert told == {"country": {("users", "country", "DIRECT IDENTITY")}, "views": set()}
    assert input_fields(columns["dataset"]) == {
        ("page-views", "page", "INDIRECT FILTER"),
        ("page-views", "user", "INDIRECT JOIN"),
        ("users", "user", "INDIRECT JOIN"),
        ("users", "country", "INDIRECT GROUP_BY"),
    }


@pytest.mark.usefixtures("process")
def test_a_run_that_a_signal_stops_is_aborted_also_where_nobody_takes_its_spans(unread_data: Path) -> None:
    with telemetry_receiver() as receiver:
        nobody = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}"}
        running = Running.start(unread_data, env=environment(receiver.url) | nobody)
        running.until(lambda said: said.get("event") == "idle")
        assert running.end(signal.SIGTERM) == 0
    assert states(receiver) == ["START", "ABORT"]
    assert [message.partition(" do not reach ")[0] for message in telemetry_messages(running)] == ["spans"]


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_a_receiver_that_is_not_there_changes_nothing_but_two_warnings(unread_data: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    running = Running.start(unread_data, "--until-end", env=environment(url))
    assert running.end() == 0
    assert sorted(message.partition(" do not reach ")[0] for message in telemetry_messages(running)) == [
        "lineage events",
        "spans",
    ]


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_a_sampler_of_the_environment_is_followed(unread_data: Path) -> None:
    with telemetry_receiver() as receiver:
        sampled = {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"}
        running = Running.start(unread_data, "--until-end", env=environment(receiver.url) | sampled)
        assert running.end() == 0
        until(lambda: states(receiver) == ["START", "COMPLETE"], WITHIN)
    assert receiver.spans == []


@pytest.mark.usefixtures("process")
def test_a_run_that_is_refused_fails_with_the_reason(tmp_path: Path) -> None:
    with telemetry_receiver() as receiver:
        running = Running.start(tmp_path, "--until-end", env=environment(receiver.url))
        assert running.end() == 1
    assert states(receiver) == ["FAIL"]
    (event,) = receiver.events
    (problem, *_) = [said for said in running.said if said.get("event") == "problem"]
    assert event["run"]["facets"]["errorMessage"]["message"]
    assert problem["message"] in event["run"]["facets"]["errorMessage"]["message"]
