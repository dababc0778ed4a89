"""Tables that the change topics of databases fill, and streams that are joined with them."""

import json
from typing import Any

import pyarrow as pa
import pytest

from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.testing.in_process_app import InProcessApp

USERS = {"format": "debezium", "key": "id", "columns": "id INT NOT NULL, name STRING"}
ANN, BOB = {"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}


def app(users: dict[str, Any], table: dict[str, Any]) -> InProcessApp:
    streams = [
        {"name": "users", **users},
        {"name": "orders", "key": "user", "columns": "user INT"},
        {"name": "out"},
    ]
    spec = {
        "systems": [{"name": "main", "embedded": {"path": "data"}}],
        "streams": [{"system": "main", **stream} for stream in [*streams, {"name": "bad"}]],
        "tables": [{"name": "people", "sideInputs": [{"stream": "users", "bootstrap": True}], **table}],
        "operators": [
            {"name": "with", "joinTable": {"from": "orders", "table": "people", "select": "user, name"}},
            {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        ],
        "onBadRecord": {"action": "deadLetter", "stream": "bad"},
    }
    document = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "a"}}
    return InProcessApp(json.dumps({**document, "spec": spec}, indent=1), partitions=3)


def change(op: str, after: Any = None, before: Any = None) -> bytes | None:
    return None if op == "tombstone" else json.dumps({"before": before, "after": after, "op": op}).encode()


def write(running: InProcessApp, *records: tuple[bytes | None, bytes | None]) -> None:
    """Records as a connector writes them, each with its key."""
    keys, values = zip(*records, strict=True)
    arrays = [pa.array(keys, pa.binary()), pa.array(values, pa.binary()), pa.array([running.now] * len(keys))]
    running.send_records({"users": pa.RecordBatch.from_arrays(arrays, schema=RECORDS)})


@pytest.mark.parametrize(
    "keys", [(b"1", b"2"), (b'{"id":1}', b'{"schema":{},"payload":{"id":2}}'), (None, None)]
)
def test_a_change_topic_fills_a_table_that_a_stream_joins(keys: tuple[bytes | None, bytes | None]) -> None:
    ann, bob = keys
    with app(USERS, {"broadcast": True}) as running:
        write(running, (ann, change("r", ANN)), (bob, change("c", BOB)))
        running.send("orders", [{"user": 1}, {"user": 2}])
        write(
            running,
            (ann, change("u", ANN | {"name": "Anne"}, ANN)),
            (bob, change("d", None, {"id": 2, "name": ""})),
        )
        running.send("orders", [{"user": 1}, {"user": 2}])
        assert running.table("people") == {"1": ANN | {"name": "Anne"}}
        assert running.rows("out").count({"user": 1, "name": "Ann"}) == 1
        assert sorted(str(row["name"]) for row in running.rows("out")) == ["Ann", "Anne", "Bob"]
        assert running.bad() == []


def test_a_deletion_and_its_tombstone_have_the_key_of_the_record() -> None:
    with app(USERS, {"broadcast": True}) as running:
        running.send("users", [ANN, BOB])
        write(running, (b'{"id":1}', change("d")), (b'{"id":2}', change("tombstone")))
        assert running.table("people") == {}
        assert [row for row in running.rows("users") if row is None] == [None, None]
        assert sorted(running.arrow("users").column("id").to_pylist()) == [1, 2]


def test_what_is_no_change_of_a_row_is_left_out_with_its_reason() -> None:
    with app(USERS, {"broadcast": True}) as running:
        write(running, (None, change("t")), (b'{"a":1,"b":2}', change("c", ANN)), (b"2", change("c", BOB)))
        assert running.table("people") == {"2": BOB}
        reasons = sorted(bad.reason for bad in running.bad())
        assert [reason.partition(";")[0] for reason in reasons] == [
            'its key {"a":1,"b":2} has not the one field id',
            'op "t": the table was truncated, and the keys of its rows are not said',
        ]
        assert {bad.value for bad in running.bad()} == {change("t"), change("c", ANN)}


def test_rows_by_keys_that_are_placed_otherwise_are_bad_where_tasks_have_parts_of_the_table() -> None:
    with app(USERS, {}) as running:
        write(
            running,
            *((json.dumps({"id": number}).encode(), change("c", {"id": number})) for number in range(9)),
        )
        reasons = [bad.reason for bad in running.bad()]
        assert len(reasons) + len(running.table("people")) == 9
        assert all("belongs in partition" in reason for reason in reasons)
        assert reasons


def test_a_table_may_be_keyed_by_keys_of_several_columns_as_they_are() -> None:
    users = USERS | {"key": "k", "metadata": {"key": "k", "keyFormat": "string"}}
    with app(users, {"broadcast": True}) as running:
        key = b'{"shop":1,"id":1}'
        write(running, (key, change("c", ANN)), (b"{}", change("c", BOB)))
        write(running, (key, change("d", None, ANN)))
        assert {row["name"] for row in running.table("people").values()} == {"Bob"}
