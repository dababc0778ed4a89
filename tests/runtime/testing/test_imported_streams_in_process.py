"""Tables that an app reads, as a test of the app has them: rows are sent, and nothing is imported."""

from collections.abc import Callable

import pytest

from streamapp.testing import TestApp
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]
SYSTEMS = [
    {"name": "kafka", "kafka": {"bootstrapServers": "127.0.0.1:1"}},
    {"name": "lake", "files": {"path": "s3://nobody/exports", "format": "csv", "csv": {"delimiter": ";"}}},
]
NAMES = {"name": "names", "system": "lake", "columns": "id STRING, name STRING", "key": "id", "partitions": 4}


SIDE = {"stream": "names", "bootstrap": True}
TABLE = {"name": "users", "columns": "id STRING, name STRING", "sideInputs": [SIDE]}
OPERATORS = [
    {"name": "named", "joinTable": {"from": "orders", "table": "users", "select": "id, name"}},
    {"name": "send", "sendTo": {"from": "named", "stream": "out"}},
]
STREAMS = [
    {"name": "orders", "system": "kafka", "columns": "id STRING", "key": "id"},
    NAMES,
    {"name": "out", "system": "kafka"},
]


@pytest.mark.parametrize("mode", ["stream", "batch"])
def test_rows_of_a_table_are_sent_as_those_of_any_stream(streamapp: Start, mode: str) -> None:
    app = streamapp(app_resource(OPERATORS, STREAMS, [TABLE], systems=SYSTEMS, mode=mode), partitions=2)
    app.send("names", [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}])
    app.send("orders", [{"id": "b"}])
    if mode == "batch":
        app.run_turn()
    assert app.rows("out") == [{"id": "b", "name": "B"}]
