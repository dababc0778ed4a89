"""Every method of the program makes the operator of the resource that it is named after."""

from collections.abc import Callable
from typing import Any

import pytest

from streamapp.dsl import (
    App,
    Cache,
    EventTime,
    Hopping,
    Placement,
    Remote,
    Retry,
    Session,
    SideInput,
    State,
    StreamHandle,
    TableHandle,
    Tumbling,
    Window,
)
from streamapp.spec.resource.operators import Operator
from streamapp.spec.resource.state import Claim
from streamapp.spec.serialization import as_data

Use = Callable[[StreamHandle, StreamHandle, TableHandle], object]

METHODS: dict[str, tuple[Use, dict[str, Any]]] = {
    "filter": (lambda a, b, t: a.filter("x", where="n > 1"), {"from": "a", "where": "n > 1"}),
    "map": (lambda a, b, t: a.map("x", select="n", key="n"), {"from": "a", "select": "n", "key": "n"}),
    "flatMap": (
        lambda a, b, t: a.flat_map("x", python="m:f", columns="n INT"),
        {"from": "a", "python": "m:f", "columns": "n INT"},
    ),
    "merge": (lambda a, b, t: a.merge("x", b), {"from": ["a", "b"]}),
    "partitionBy": (
        lambda a, b, t: a.partition_by("x", key="n", partitions=8),
        {"from": "a", "key": "n", "partitions": 8},
    ),
    "broadcast": (lambda a, b, t: a.broadcast("x"), {"from": "a"}),
    "join": (
        lambda a, b, t: a.join(
            "x", b, within="5m", time="arrival", type="full", where="true", select="left.n"
        ),
        {
            "from": ["a", "b"],
            "within": "5m",
            "time": "arrival",
            "type": "full",
            "where": "true",
            "select": "left.n",
        },
    ),
    "joinTable": (
        lambda a, b, t: a.join_table("x", t, type="left", key="n", select="n"),
        {"from": "a", "table": "t", "type": "left", "key": "n", "select": "n"},
    ),
    "sendToTable": (
        lambda a, b, t: a.send_to_table("x", t, delete_where="n IS NULL"),
        {"from": "a", "table": "t", "deleteWhere": "n IS NULL"},
    ),
    "aggregate": (
        lambda a, b, t: a.aggregate(
            "x",
            aggregates="count(*) AS c",
            key="n",
            window=Window(hopping=Hopping(size="1h", advance="5m")),
            allowed_lateness="1m",
            emit="onUpdate",
        ),
        {
            "from": "a",
            "aggregates": "count(*) AS c",
            "key": "n",
            "window": {"hopping": {"size": "1h", "advance": "5m"}},
            "allowedLateness": "1m",
            "emit": "onUpdate",
        },
    ),
    "process": (
        lambda a, b, t: a.process("x", python="m:C", columns="n INT", tables=[t], key="n"),
        {"from": "a", "python": "m:C", "columns": "n INT", "tables": ["t"], "key": "n"},
    ),
    "sendTo": (
        lambda a, b, t: a.send_to("x", b, timestamp="ts", headers="h"),
        {"from": "a", "stream": "b", "timestamp": "ts", "headers": "h"},
    ),
}


def _small() -> tuple[App, StreamHandle, StreamHandle, TableHandle]:
    app = App("small")
    system = app.embedded("main", path="./data")
    a, b = system.stream("a", columns="n INT"), system.stream("b", columns="n INT")
    table = app.table("t", columns="n INT")
    a.send_to_table("fill", table)
    return app, a, b, table


def test_every_kind_of_operator_has_a_method() -> None:
    assert set(METHODS) == set(Operator.kinds())


@pytest.mark.parametrize("kind", sorted(METHODS))
def test_a_method_makes_the_operator_of_the_resource(kind: str) -> None:
    use, body = METHODS[kind]
    app, a, b, table = _small()
    use(a, b, table)
    parsed = app.parsed()
    assert parsed.problems == ()
    assert as_data(parsed.apps[0])["spec"]["operators"][1] == {"name": "x", kind: body}


@pytest.mark.parametrize("window", [Window(tumbling=Tumbling(size="1h")), Window(session=Session(gap="5m"))])
def test_every_window_renders(window: Window) -> None:
    app, a, _, _ = _small()
    a.aggregate("x", aggregates="count(*) AS c", window=window)
    (found,) = app.parsed().apps
    body = found.spec.operators[1].aggregate
    assert body is not None
    assert body.window == window


def test_systems_streams_tables_and_the_head_render() -> None:
    app = App(
        "small",
        namespace="shop",
        application_id="shop.small",
        mode="batch",
        processors=3,
        config={"job.intermediate.stream.partitions": "8"},
        grouper="single",
        broadcast_inputs=["a#[0-3]"],
        placement=Placement(location="volume"),
        state=State(persistent_volume_claim=Claim(size="1Gi")),
    )
    client = "kafka-client"
    main = app.kafka("main", bootstrap_servers="kafka:9092", config_secret=client)
    a = main.stream(
        "a",
        topic="b",
        format="string",
        columns="n INT, ts TIMESTAMP",
        key="n",
        event_time=EventTime(column="ts"),
    )
    remote = Remote(python="m:T", cache=Cache(size=10), retry=Retry(attempts=5))
    app.table("t", store="memory", side_inputs=[SideInput(stream="a", bootstrap=True)], broadcast=True)
    a.join_table("x", app.table("r", remote=remote))
    parsed = app.parsed()
    assert parsed.problems == ()
    spec = as_data(parsed.apps[0])["spec"]
    kafka = {"bootstrapServers": "kafka:9092", "configSecret": {"name": client}}
    assert spec["systems"] == [{"name": "main", "kafka": kafka}]
    assert spec["streams"][0]["eventTime"] == {"column": "ts"}
    assert spec["tables"][0] == {
        "name": "t",
        "store": "memory",
        "sideInputs": [{"stream": "a", "bootstrap": True}],
        "broadcast": True,
    }
    assert spec["tables"][1]["remote"] == {"python": "m:T", "cache": {"size": 10}, "retry": {"attempts": 5}}
    assert (spec["mode"], spec["processors"], spec["grouper"]) == ("batch", 3, "single")
    assert spec["state"] == {"persistentVolumeClaim": {"size": "1Gi"}}
    assert spec["placement"] == {"location": "volume"}
