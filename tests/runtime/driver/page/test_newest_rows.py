"""The newest rows of a stream, as a page shows them."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.page.app_snapshot import HIDDEN_ROWS, stream_rows
from streamapp_runtime.driver.page.newest_rows import MOST_ROWS, newest_rows
from streamapp_runtime.driver.page.running_app import OnDemand
from streamapp_runtime.driver.start.app_storage import storage_of
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import SystemConnections
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.app_resources import EMBEDDED, app_resource
from tests.harness.engine.record_values import batch, write
from tests.harness.engine.watched_pages import WatchedRun, running
from tests.harness.graphs.shop_apps import shop

COPIED = {"name": "in", "topic": "clicks", "key": "id", "columns": "id STRING, n INT", "format": "json"}


@pytest.fixture
def app() -> StreamApp:
    send = {"name": "send", "sendTo": {"from": "in", "stream": "out"}}
    lake = {"name": "lake", "delta": {"path": "lake"}}
    table = {"name": "keep", "sendTo": {"from": "in", "stream": "kept"}}
    resource = app_resource(
        [send, table],
        [COPIED, {"name": "out"}, {"name": "kept", "system": "lake", "columns": "id STRING, n INT"}],
        systems=[dict(EMBEDDED), lake],
    )
    parsed = parse_data(resource)
    assert not parsed.problems, parsed.problems
    return parsed.apps[0]


@pytest.fixture
def connections(app: StreamApp, tmp_path: Path) -> SystemConnections:
    return storage_of(app, tmp_path).systems


def written(connections: SystemConnections, topic: str, values: list[bytes], partitions: int = 2) -> None:
    with closing(Systems(connections)) as systems:
        systems.home.create(topic, partitions)
        for at, value in enumerate(values):
            write(systems.home, TopicPartition(topic, at % partitions), batch([(b"k%d" % at, value, at)]))


def test_they_are_the_newest_of_all_partitions_by_time(
    app: StreamApp, connections: SystemConnections
) -> None:
    written(connections, "clicks", [b'{"id": "k%d", "n": %d}' % (at, at) for at in range(2 * MOST_ROWS + 4)])
    lines = newest_rows(app, connections, "in").splitlines()
    first = MOST_ROWS + 4
    assert [line.split() for line in lines] == [
        [f"{at % 2}#{at // 2}", f"k{at}", f'{{"id":"k{at}","n":{at}}}']
        for at in range(first, first + MOST_ROWS)
    ]


def test_a_bad_record_and_a_stream_without_columns_are_shown_as_they_are(
    app: StreamApp, connections: SystemConnections
) -> None:
    written(connections, "clicks", [b'{"id": "a", "n": "x"}', b"\xff" + b"y" * 600])
    bad, long = newest_rows(app, connections, "in").splitlines()
    assert bad.endswith('{"id": "a", "n": "x"}')
    assert r"\xffyyy" in long
    assert long.endswith("…")
    written(connections, "out", [b'{"any": 1}'])
    assert newest_rows(app, connections, "out").split() == ["0#0", "k0", '{"any":', "1}"]


def test_where_there_is_nothing_to_show_the_reason_is(app: StreamApp, connections: SystemConnections) -> None:
    assert newest_rows(app, connections, "in") == "there are no records\n"
    assert newest_rows(app, connections, "kept").startswith("a table of another system")
    assert newest_rows(app, connections, "app.by-key").startswith("a stream between")


@pytest.mark.parametrize("show_values", [False, True])
def test_they_are_read_where_values_are_shown(show_values: bool) -> None:
    asked: list[str] = []

    def rows(stream: str) -> str:
        asked.append(stream)
        return "0#0 row\n"

    run = WatchedRun(show_values=show_values)
    run.recorder.runs(replace(running(shop(3)), on_demand=OnDemand(rows=rows)))
    answer = stream_rows(run.recorder.facts(), "views")
    assert answer == {"text": "0#0 row\n" if show_values else HIDDEN_ROWS}
    assert asked == ["views"] * show_values
    assert stream_rows(run.recorder.facts(), "other") is None
