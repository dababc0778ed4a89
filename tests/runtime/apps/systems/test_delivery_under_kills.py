"""An app between a broker and an embedded log that is killed around the commits of its deliveries."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from streamapp_runtime.systems.connection import EmbeddedConnection, KafkaConnection, open_system
from streamapp_runtime.systems.stream_system import StreamSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch, write
from tests.harness.runs.app_runs import read_all
from tests.harness.runs.run_process import COMMAND, run_killed_at

PARTITIONS, RECORDS = 2, 40
POINTS = ("delivery.before", "delivery.after")


@pytest.fixture(params=["home on Kafka", pytest.param("home in the embedded log", marks=pytest.mark.nightly)])
def systems(request: pytest.FixtureRequest, kafka: str, tmp_path: Path) -> dict[str, Any]:
    """The systems of the resource, the home first."""
    systems = [
        {"name": "broker", "kafka": {"bootstrapServers": kafka}},
        {"name": "log", "embedded": {"path": str(tmp_path / "log")}},
    ]
    at_home = systems[:: 1 if request.param == "home on Kafka" else -1]
    return {"home": at_home[0]["name"], "other": at_home[1]["name"], "systems": at_home}


@pytest.fixture
def opened(systems: dict[str, Any], kafka: str, tmp_path: Path) -> Iterator[dict[str, StreamSystem]]:
    (tmp_path / "log").mkdir()
    connections = {"broker": KafkaConnection(kafka), "log": EmbeddedConnection(str(tmp_path / "log"))}
    with (
        closing(open_system(connections["broker"])) as broker,
        closing(open_system(connections["log"])) as log,
    ):
        yield {"broker": broker, "log": log}


def _app(systems: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Numbers of both systems, each written into the other one and into the home."""
    home, other = systems["home"], systems["other"]
    streams = [
        {"name": "near", "system": home, "columns": "n INT"},
        {"name": "far", "system": other, "columns": "n INT"},
        {"name": "near-out", "system": home},
        {"name": "far-out", "system": other},
    ]
    operators = [
        {"name": "all", "merge": {"from": ["near", "far"]}},
        {"name": "to-near", "sendTo": {"from": "all", "stream": "near-out"}},
        {"name": "to-far", "sendTo": {"from": "all", "stream": "far-out"}},
    ]
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "numbers"},
        "spec": {
            "applicationId": f"{prefix}numbers",
            "systems": systems["systems"],
            "streams": [{**stream, "topic": f"{prefix}{stream['name']}"} for stream in streams],
            "operators": operators,
        },
    }


def test_each_output_in_both_systems_is_written_exactly_once(
    systems: dict[str, Any], opened: dict[str, StreamSystem], tmp_path: Path
) -> None:
    prefix = f"t{uuid4().hex[:8]}."
    path, crashes = tmp_path / "app.yaml", tmp_path / "crashes"
    path.write_text(yaml.safe_dump(_app(systems, prefix)))
    places = {stream: opened[systems[place]] for stream, place in (("near", "home"), ("far", "other"))}
    for stream, system in places.items():
        system.create(f"{prefix}{stream}", PARTITIONS)
    command = [COMMAND, "run", path, "--until-end", "--processors", "1"]
    command += ["--data", tmp_path / "log" if systems["home"] == "log" else tmp_path / "data"]
    written = 0
    for point in (*POINTS, None):
        for stream, system in places.items():
            for index in range(PARTITIONS):
                rows = [(None, b'{"n": %d}' % n, 0) for n in range(written, written + RECORDS)]
                write(
                    system, TopicPartition(f"{prefix}{stream}", index), batch(rows), owner=f"{prefix}writer"
                )
                written += RECORDS
        run_killed_at(command, crashes, point)
    for stream, system in places.items():
        records = read_all(system, f"{prefix}{stream}-out")
        assert sorted(record.value["n"] for record in records) == list(range(written)), stream
