"""Apps that read files and are killed while they import them, and after: each row is read once."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from streamapp_runtime.systems.connection import (
    Connection,
    EmbeddedConnection,
    KafkaConnection,
    open_system,
)
from streamapp_runtime.systems.stream_system import StreamSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.app_resources import app_resource
from tests.harness.runs.app_runs import Input, read_all, write_all
from tests.harness.runs.run_process import COMMAND, run_killed_at

ROWS = 120_000
ALL = list(range(ROWS))
POINTS = ("import.chunk", "import.before", "import.chunk", "import.after")


def _app(home: dict[str, Any], folder: Path, prefix: str) -> dict[str, Any]:
    numbers = {"name": "numbers", "system": "exports", "key": "id", "columns": "id INT", "partitions": 3}
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "numbers"},
        "spec": {
            "applicationId": f"{prefix}numbers",
            "mode": "batch",
            "systems": [
                {"name": "home", **home},
                {"name": "exports", "files": {"path": str(folder), "format": "csv"}},
            ],
            "streams": [numbers, {"name": "out", "system": "home", "topic": f"{prefix}out"}],
            "operators": [{"name": "copy", "sendTo": {"from": "numbers", "stream": "out"}}],
        },
    }


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_rows_are_imported_once_into_an_embedded_log(tmp_path: Path) -> None:
    home = {"embedded": {"path": str(tmp_path / "data")}}
    assert _read_under_kills(home, EmbeddedConnection(str(tmp_path / "data")), tmp_path) == ALL


def test_rows_are_imported_once_into_kafka(kafka: str, tmp_path: Path) -> None:
    home = {"kafka": {"bootstrapServers": kafka}}
    assert _read_under_kills(home, KafkaConnection(kafka), tmp_path) == ALL


def _read_under_kills(home: dict[str, Any], connection: Connection, tmp_path: Path) -> list[int]:
    """The rows that the app has written in the end, one run being killed at each point."""
    prefix = f"t{uuid4().hex[:8]}."
    path, crashes = tmp_path / "app.yaml", tmp_path / "crashes"
    path.write_text(yaml.safe_dump(_app(home, tmp_path / "files", prefix)))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "numbers").write_text("id\n" + "".join(f"{n}\n" for n in range(ROWS)))
    command = [COMMAND, "run", path, "--processors", "1", "--data", tmp_path / "data"]
    for point in (*POINTS, None):
        run_killed_at(command, crashes, point)
    with closing(open_system(connection)) as system:
        return sorted(record.value["id"] for record in read_all(system, f"{prefix}out"))


@pytest.mark.usefixtures("process")
def test_a_topic_continues_where_its_history_ends(tmp_path: Path) -> None:
    """The table has the first third of the records; the sum of a window of event time has all, once."""
    path, crashes, table = tmp_path / "app.yaml", tmp_path / "crashes", tmp_path / "files" / "history"
    path.write_text(yaml.safe_dump(_history_app(tmp_path)))
    table.parent.mkdir()
    records = [Input(f"{n % 7}", {"id": f"{n % 7}", "n": n, "at": n}) for n in range(3_000)]
    with closing(open_system(EmbeddedConnection(str(tmp_path / "data")))) as system:
        write_all(system, "orders", records, 2)
        lines = ["id,n,at,partition,offset"]
        for partition, position in _positions(system, "orders"):
            lines += [f"{row['id']},{row['n']},{row['at']},{partition},{offset}" for offset, row in position]
        table.write_text("\n".join(lines) + "\n")
        command = [COMMAND, "run", path, "--processors", "1", "--until-end"]
        for point in (*POINTS, None):
            run_killed_at(command, crashes, point)
        last = [Input(f"{key}", {"id": f"{key}", "n": 0, "at": 100_000}) for key in range(7)]
        write_all(system, "orders", last, 2)
        run_killed_at(command, crashes, None)
        sums = {(row["id"], row["rows"], row["n"]) for row in (r.value for r in read_all(system, "out"))}
    of_keys = {key: range(key, 3_000, 7) for key in range(7)}
    assert sums == {(f"{key}", len(numbers), sum(numbers)) for key, numbers in of_keys.items()}


def _positions(system: StreamSystem, stream: str) -> Iterator[tuple[int, list[tuple[int, Any]]]]:
    """The first third of each partition of a stream: offsets with rows."""
    for index in range(2):
        partition = TopicPartition(stream, index)
        span = system.spans([partition])[partition]
        until = span.oldest + (span.end - span.oldest) // 3
        records = [one for batch in system.read(partition, span.oldest, until) for one in batch.to_pylist()]
        yield index, [(one["offset"], json.loads(one["value"])) for one in records]


def _history_app(folder: Path) -> dict[str, Any]:
    time = {"key": "id", "eventTime": {"column": "at", "unit": "seconds"}}
    window = {"tumbling": {"size": "1d"}}
    totals = {"from": "all", "key": "id", "aggregates": "count(*) AS rows, sum(n) AS n", "window": window}
    columns = "id STRING, n BIGINT, at BIGINT"
    return app_resource(
        [
            {"name": "all", "merge": {"from": ["history", "orders"]}},
            {"name": "totals", "aggregate": totals},
            {"name": "send", "sendTo": {"from": "totals", "stream": "out"}},
        ],
        [
            {
                "name": "history",
                "system": "exports",
                "partitions": 2,
                "columns": f"{columns}, partition INT, offset BIGINT",
                **time,
            },
            {
                "name": "orders",
                "columns": columns,
                "after": "history",
                "metadata": {"partition": "partition", "offset": "offset"},
                **time,
            },
            {"name": "out"},
        ],
        systems=[
            {"name": "main", "embedded": {"path": str(folder / "data")}},
            {"name": "exports", "files": {"path": str(folder / "files"), "format": "csv"}},
        ],
    )
