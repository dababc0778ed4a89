"""Keys, times, places and headers that another client has written, as columns of an app's rows."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from streamapp_runtime.systems.connection import KafkaConnection
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import OffsetRange
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.app_resources import EVERY_FIELD
from tests.harness.kafka.clients import created, end_of, producer
from tests.harness.kafka.topic_records import committed_messages
from tests.harness.runs.app_runs import AppEnv, app
from tests.harness.runs.run_systems import ON_SPARK_OVER_KAFKA

PARTITIONS, COUNT = 3, 300
TENANTS = ("north", "south", None)


@pytest.fixture
def bootstrap(env: AppEnv) -> str:
    connection = env.home.systems.of_home
    assert isinstance(connection, KafkaConnection)
    return connection.bootstrap_servers


def _headers(number: int) -> list[tuple[str, bytes | None]]:
    """None, one or several, of which one name stands twice."""
    tenant = TENANTS[number % 3]
    repeated = [("hop", b"first"), ("hop", b"%d" % number), ("nothing", None)] if number % 5 == 0 else []
    return [*repeated, *([] if tenant is None else [("tenant", tenant.encode())])]


def _produced(bootstrap: str, topic: str) -> Iterator[dict[str, Any]]:
    """What a plain producer writes, as the app is to see it."""
    sending = producer(bootstrap)
    offsets = dict.fromkeys(range(PARTITIONS), 0)
    for number in range(COUNT):
        key, time, partition = f"key {number % 17}", 1_700_000_000_000 + number, number % PARTITIONS
        value = json.dumps({"page": f"/{number % 7}"})
        sending.produce(topic, value, key, partition, timestamp=time, headers=_headers(number))
        yield {
            "page": f"/{number % 7}",
            "id": key,
            "ms": time,
            "place": partition,
            "at": offsets[partition],
            "source": topic,
            "tenant": TENANTS[number % 3],
            "hop": str(number) if number % 5 == 0 else None,
            "names": [name for name, _ in _headers(number)],
        }
        offsets[partition] += 1
    assert sending.flush(60) == 0


@ON_SPARK_OVER_KAFKA
def test_what_a_plain_producer_wrote_beside_values_comes_through_a_repartition(
    env: AppEnv, bootstrap: str
) -> None:
    topic = f"{env.prefix}views"
    env.system.create(topic, PARTITIONS)
    expected = list(_produced(bootstrap, topic))
    select = (
        "page, id, unix_millis(sent_at) AS ms, place, at, source, CAST(h['tenant'] AS STRING) AS tenant, "
        "CAST(h['hop'] AS STRING) AS hop, transform(every, one -> one.name) AS names"
    )
    operators = [
        {"name": "by-page", "partitionBy": {"from": "views", "key": "page", "partitions": 2}},
        {"name": "chosen", "map": {"from": "by-page", "select": select}},
        {"name": "sent", "sendTo": {"from": "chosen", "stream": "out"}},
    ]
    views = {"name": "views", "columns": "page STRING", "metadata": EVERY_FIELD}
    env.run(app(*operators, streams=[views, {"name": "out"}]))
    found = sorted(env.rows("out"), key=lambda row: row["ms"])
    # A null is left out of an object of JSON, or stands in it.
    assert [{"tenant": None, "hop": None} | row for row in found] == expected


@ON_SPARK_OVER_KAFKA
def test_another_client_reads_the_time_and_the_headers_that_an_app_has_said(
    env: AppEnv, bootstrap: str
) -> None:
    topic = f"{env.prefix}views"
    env.system.create(topic, PARTITIONS)
    expected = list(_produced(bootstrap, topic))
    headers = (
        "map_concat(map('page', page), "
        "map_filter(map('tenant', CAST(h['tenant'] AS STRING)), (name, value) -> value IS NOT NULL))"
    )
    operators = [
        {"name": "by-page", "partitionBy": {"from": "views", "key": "page", "partitions": 2}},
        {
            "name": "sent",
            "sendTo": {
                "from": "by-page",
                "stream": "out",
                "timestamp": "sent_at + INTERVAL 1 SECOND",
                "headers": headers,
            },
        },
    ]
    metadata = {"timestamp": "sent_at", "offset": "at", "headers": "h", "partition": "place"}
    views = {"name": "views", "columns": "page STRING", "metadata": metadata}
    out = {"name": "out", "columns": "page STRING, at BIGINT, place INT"}
    env.run(app(*operators, streams=[views, out]))
    messages = sorted(committed_messages(bootstrap, f"{env.prefix}out"), key=lambda one: one.timestamp()[1])
    assert [(one.timestamp()[1], one.headers()) for one in messages] == [
        (
            row["ms"] + 1_000,
            [
                ("page", row["page"].encode()),
                *([("tenant", row["tenant"].encode())] if row["tenant"] else []),
            ],
        )
        for row in expected
    ]


@ON_SPARK_OVER_KAFKA
def test_another_client_reads_traces_behind_a_repartition_and_headers_of_bad_records(
    env: AppEnv, bootstrap: str
) -> None:
    topic = f"{env.prefix}views"
    env.system.create(topic, PARTITIONS)
    sending = producer(bootstrap)
    for number in range(60):
        trace = [("traceparent", b"%d" % number)] if number % 3 == 0 else []
        value = b"no view" if number % 10 == 9 else b'{"page": "/%d"}' % number
        sending.produce(topic, value, b"k", number % PARTITIONS, headers=[*_headers(number), *trace])
    assert sending.flush(60) == 0
    by_page = {"name": "by-page", "partitionBy": {"from": "views", "key": "page", "partitions": 2}}
    sent = {"name": "sent", "sendTo": {"from": "by-page", "stream": "out"}}
    streams = [{"name": "views", "columns": "page STRING"}, {"name": "out"}, {"name": "letters"}]
    letters = {"action": "deadLetter", "stream": "letters", "bound": {"share": "100%"}}
    env.run(app(by_page, sent, streams=streams, onBadRecord=letters))
    passed = {
        json.loads(one.value())["page"]: one.headers()
        for one in committed_messages(bootstrap, f"{env.prefix}out")
    }
    assert passed == {
        f"/{number}": [("traceparent", b"%d" % number)] if number % 3 == 0 else None
        for number in range(60)
        if number % 10 != 9
    }
    refused = {
        int(dict(one.headers())["streamapp.offset"]) * PARTITIONS
        + int(dict(one.headers())["streamapp.partition"]): [
            header for header in one.headers() if not header[0].startswith("streamapp.")
        ]
        for one in committed_messages(bootstrap, f"{env.prefix}letters")
    }
    assert refused == {
        number: [*_headers(number), *([("traceparent", b"%d" % number)] if number % 3 == 0 else [])]
        for number in range(9, 60, 10)
    }


def test_headers_are_read_where_they_are_asked_for_fetched_ahead_or_not(kafka: str) -> None:
    topic = created(kafka)
    sending = producer(kafka)
    for number in range(COUNT):
        sending.produce(topic, b"v", headers=_headers(number))
    assert sending.flush(60) == 0
    one, end = TopicPartition(topic, 0), end_of(kafka, topic)
    with closing(KafkaSystem(kafka)) as system:
        for ahead in (None, False, True):
            if ahead is not None:
                system.fetch_ahead([OffsetRange(one, 0, end, ahead)])
            read = [part.to_pylist() for part in system.read(one, 0, end, headers=True)]
            headers = [
                [(each["name"], each["value"]) for each in row["headers"]] for part in read for row in part
            ]
            assert headers == [_headers(number) for number in range(COUNT)]
        assert all("headers" not in part.schema.names for part in system.read(one, 0, end))
