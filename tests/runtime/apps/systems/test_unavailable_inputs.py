"""A cluster that an app reads goes: what does not need it goes on, and event time waits for it."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.systems.connection import EmbeddedConnection, KafkaConnection, open_system
from streamapp_runtime.systems.stream_system import StreamSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import texts, values, write
from tests.harness.kafka.broker import Broker
from tests.harness.runs.changing_run import Outside, Said

GOES_ON_SECONDS = 60.0
"""A client waits 15 s for brokers, a lane that reads as long; then lanes start again."""


def _app(address: str) -> StreamApp:
    """Views of a log and of a cluster, as they come and counted by the minute. The log is the home."""
    timed = {"column": "at"}
    views = {"key": "user", "columns": "user STRING, at TIMESTAMP", "eventTime": timed}
    resource = {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "views"},
        "spec": {
            "systems": [
                {"name": "log", "embedded": {"path": "data"}},
                {"name": "shop", "kafka": {"bootstrapServers": address}},
            ],
            "streams": [
                {"name": "near", "system": "log", **views},
                {"name": "far", "system": "shop", **views},
                {"name": "seen", "system": "log"},
                {"name": "minutes", "system": "log"},
            ],
            "operators": [
                {"name": "all", "merge": {"from": ["near", "far"]}},
                {"name": "as-they-come", "sendTo": {"from": "all", "stream": "seen"}},
                {
                    "name": "by-minute",
                    "aggregate": {
                        "from": "all",
                        "aggregates": "count(*) AS views",
                        "window": {"tumbling": {"size": "1m"}},
                    },
                },
                {"name": "counted", "sendTo": {"from": "by-minute", "stream": "minutes"}},
            ],
        },
    }
    return parse_data(resource).apps[0]


@dataclass
class TwoSystems:
    """The log and the cluster of the app, and the app."""

    log: StreamSystem
    shop: StreamSystem
    run: Outside

    def view(self, stream: str, moment: str) -> None:
        at = datetime.fromisoformat(f"2026-03-01T{moment}").replace(tzinfo=UTC)
        system = self.log if stream == "near" else self.shop
        write(system, TopicPartition(stream, 0), values(json.dumps({"user": "ann", "at": f"{at:%FT%TZ}"})))

    def seen(self) -> int:
        return len(texts(self.log, TopicPartition("seen", 0)))

    def minutes(self) -> list[tuple[str, int]]:
        rows = map(json.loads, texts(self.log, TopicPartition("minutes", 0)))
        return [(row["window_start"][11:16], row["views"]) for row in rows]


@pytest.fixture
def systems(broker: Broker, tmp_path: Path) -> Iterator[TwoSystems]:
    with ExitStack() as opened:
        log = opened.enter_context(closing(open_system(EmbeddedConnection(str(tmp_path / "data")))))
        shop = opened.enter_context(closing(open_system(KafkaConnection(broker.bootstrap))))
        log.create("near", 1)
        shop.create("far", 1)
        for stream in ("seen", "minutes"):
            log.create(stream, 1)
        run = Outside.start(tmp_path, _app(broker.bootstrap), 1)
        opened.callback(run.close)
        yield TwoSystems(log, shop, run)


def _event(name: str) -> Callable[[Said], bool]:
    def matches(said: Said) -> bool:
        return said.get("event") == name

    return matches


@pytest.mark.long
def test_a_cluster_that_is_read_and_goes_holds_back_only_what_needs_it(
    systems: TwoSystems, broker: Broker
) -> None:
    run = systems.run
    systems.view("near", "10:00:10")
    systems.view("far", "10:00:20")
    run.until_so(lambda: systems.seen() == 2)
    broker.kill()
    began = time.monotonic()
    place = run.until(_event("systemsSilent"))
    assert "the system shop does not answer, and nothing is read of far" in run.said[place - 1]["message"]
    systems.view("near", "10:05:00")
    run.until_so(lambda: systems.seen() == 3)
    assert time.monotonic() - began < GOES_ON_SECONDS
    systems.view("near", "10:06:00")
    run.until_so(lambda: systems.seen() == 4)
    assert not systems.minutes()  # views of 10:00 may wait in the cluster
    broker.start()
    run.until(_event("systemsAnswer"), place)
    systems.view("far", "10:00:30")
    systems.view("far", "10:07:00")
    run.until_so(lambda: systems.seen() == 6)
    run.until_so(lambda: systems.minutes() == [("10:00", 3), ("10:05", 1)])
    assert run.end() == 0
