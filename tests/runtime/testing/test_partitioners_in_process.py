"""Streams whose keys are in partitions by librdkafka's hash, in whole apps in the test's own process."""

from collections.abc import Callable
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest

from streamapp.testing import TestApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.key_partitioning import partition_of
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]
PARTITIONS = 4
NAMES = [f"u{number}" for number in range(40)]
ROWS = [{"user": name, "n": 1} for name in NAMES]


def _stream(name: str, partitioner: str, **fields: Any) -> dict[str, Any]:
    columns = "user STRING, n INT"
    return {"name": name, "key": "user", "columns": columns, "partitioner": partitioner, **fields}


def _counting(views: dict[str, Any], out: dict[str, Any], mode: str = "stream") -> dict[str, Any]:
    counted = {"name": "counted", "aggregate": {"from": "views", "aggregates": "sum(n) AS total"}}
    sent = {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}}
    bad = {"action": "skip", "bound": {"share": "100%"}}
    return app_resource([counted, sent], [views, out], onBadRecord=bad, mode=mode)


def _partitions(app: TestApp, stream: str) -> dict[str, int]:
    return {record.key: record.partition for record in app.records(stream)}


def test_keys_are_expected_and_written_where_the_hash_of_their_stream_says(streamapp: Start) -> None:
    counts = {"views": PARTITIONS, "out": PARTITIONS}
    by_crc = {name: crc32(name.encode()) % PARTITIONS for name in NAMES}
    by_murmur2 = dict(zip(NAMES, partition_of(pa.array(NAMES), PARTITIONS).tolist(), strict=True))
    for partitioner, places in (("crc32", by_crc), ("murmur2", by_murmur2)):
        out = {"name": "out", "partitioner": partitioner, "key": "user"}
        app = streamapp(_counting(_stream("views", "crc32"), out), partitions=counts)
        app.send("views", ROWS)
        app.send("views", ROWS)
        assert _partitions(app, "views") == by_crc
        assert _partitions(app, "out") == places
        assert app.bad() == []
        assert {row["user"]: row["total"] for row in app.rows("out")} == dict.fromkeys(NAMES, 2)


def test_records_that_are_by_another_hash_than_their_stream_says_are_bad(streamapp: Start) -> None:
    by_crc = _counting(_stream("views", "crc32"), {"name": "out"}, "batch")
    app = streamapp(by_crc, partitions={"views": PARTITIONS})
    app.send("views", ROWS)
    app.restart(_counting(_stream("views", "murmur2"), {"name": "out"}, "batch"))
    places = partition_of(pa.array(NAMES), PARTITIONS).tolist()
    by_crc32 = [crc32(name.encode()) % PARTITIONS for name in NAMES]
    elsewhere = [name for name, *both in zip(NAMES, places, by_crc32, strict=True) if len(set(both)) == 2]
    bad = {seen.key.decode(): seen.reason for seen in app.bad()}
    assert sorted(bad) == sorted(elsewhere) != []
    assert all('say "partitioner: crc32" for the stream' in reason for reason in bad.values())


def test_a_join_of_streams_by_different_hashes_is_refused_and_one_by_the_same_gives_all_rows(
    streamapp: Start,
) -> None:
    def app_of(users: str, **more: Any) -> dict[str, Any]:
        joined = {"name": "joined", "join": {"from": ["views", "users"], "within": "1m", **more}}
        sent = {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}}
        timed = {"columns": "user STRING, n INT, ts TIMESTAMP", "eventTime": {"column": "ts"}}
        streams = [_stream("views", "crc32", **timed), _stream("users", users, **timed), {"name": "out"}]
        return app_resource([joined, sent], streams)

    select = {"select": "left.user, left.n, right.n AS m"}
    with pytest.raises(AppRefusedError, match="views by crc32"):
        streamapp(app_of("murmur2", **select), partitions=PARTITIONS)
    app = streamapp(app_of("crc32", **select), partitions=PARTITIONS)
    for stream in ("views", "users"):
        app.send(stream, ROWS, at="2026-01-01T12:00")
    assert sorted(row["user"] for row in app.rows("out")) == sorted(NAMES)


def test_partitions_that_are_added_keep_the_keys_of_their_tasks(streamapp: Start) -> None:
    app = streamapp(_counting(_stream("views", "crc32"), {"name": "out"}), partitions={"views": 2})
    app.send("views", ROWS)
    app.grow("views", 6)
    app.send("views", ROWS)
    assert app.bad() == []
    assert max(_partitions(app, "views").values()) == 5
    totals: dict[str, int] = {}
    for row in app.rows("out"):
        totals[row["user"]] = max(row["total"], totals.get(row["user"], 0))
    assert totals == dict.fromkeys(NAMES, 2)
