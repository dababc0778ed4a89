"""A stream that is deleted and recreated is read whole: what was known of the last one says nothing of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamapp.testing import AppRefusedError, TestApp
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.app_resources import app_resource
from tests.harness.runs.app_runs import inputs, write_all

Start = Callable[..., TestApp]
USERS = [{"user": f"u{number}"} for number in range(64)]


def counting(**spec: Any) -> dict[str, Any]:
    return app_resource(
        [
            {"name": "counted", "aggregate": {"from": "views", "aggregates": "count(*) AS n"}},
            {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        ],
        [{"name": "views", "key": "user", "columns": "user STRING"}, {"name": "out"}],
        **{"onDataLoss": "earliest", **spec},
    )


def recreate(folder: Path, partitions: int) -> None:
    system = EmbeddedSystem(folder)
    system.delete("views")
    system.create("views", partitions)


def grown_twice(streamapp: Start, folder: Path, **spec: Any) -> TestApp:
    """Counts from 4, then 8, then 16 partitions, three views of each user being read."""
    app = streamapp(counting(**spec), partitions={"views": 4}, folder=folder)
    app.send("views", USERS * 3)
    app.grow("views", 8)
    app.grow("views", 16)
    return app


def counts(app: TestApp) -> list[int]:
    """The newest count of each user."""
    return sorted({row["user"]: row["n"] for row in app.rows("out")}.values())


def test_a_recreated_stream_that_had_grown_is_read_in_every_partition(
    streamapp: Start, tmp_path: Path
) -> None:
    app = grown_twice(streamapp, tmp_path)
    recreate(tmp_path, 16)
    app.restart()
    app.send("views", USERS)
    assert counts(app) == [4] * 64


def test_so_is_one_that_grows_once_more_while_the_app_runs(streamapp: Start, tmp_path: Path) -> None:
    app = grown_twice(streamapp, tmp_path)
    recreate(tmp_path, 16)
    app.grow("views", 32)
    app.send("views", USERS)
    assert counts(app) == [4] * 64


def test_a_recreated_stream_with_fewer_partitions_is_read_once_it_has_grown_again(
    streamapp: Start, tmp_path: Path
) -> None:
    app = grown_twice(streamapp, tmp_path)
    recreate(tmp_path, 8)
    with pytest.raises(AppRefusedError, match="16"):
        app.restart()
    EmbeddedSystem(tmp_path).grow("views", 16)
    app.restart()
    app.send("views", USERS)
    assert counts(app) == [4] * 64


def test_an_app_that_may_lose_nothing_is_refused_and_the_stream_is_named(
    streamapp: Start, tmp_path: Path
) -> None:
    app = grown_twice(streamapp, tmp_path, onDataLoss="fail")
    recreate(tmp_path, 16)
    with pytest.raises(AppRefusedError, match='topic "views" was deleted and made again'):
        app.restart()


def test_partitions_open_whose_older_ones_have_lost_all_of_their_records(
    streamapp: Start, tmp_path: Path
) -> None:
    app = grown_twice(streamapp, tmp_path)
    system = EmbeddedSystem(tmp_path)
    write_all(system, "views", inputs(USERS, "user"), 16, "tests")
    spans = system.spans(TopicPartition("views", index) for index in range(16))
    system.delete_before({partition: spans[partition].end for partition in spans if partition.index < 4})
    app.restart()
    assert {record.row["user"] for record in app.records("views")} == {
        row["user"] for row in app.rows("out") if row["n"] == 4
    }
