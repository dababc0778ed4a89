"""Streams that grow more than once, in whole apps in the test's own process."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from streamapp.testing import TestApp
from streamapp_runtime.key_partitioning import partition_of
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]
NAMES = [f"u{number}" for number in range(40)]
PLACES = partition_of(pa.array(NAMES), 4).tolist()
USERS = [NAMES[PLACES.index(partition)] for partition in range(4)]
"""One user for each of four partitions; of two partitions the first has the even ones."""


def _counting() -> dict[str, Any]:
    window = {"tumbling": {"size": "1m"}}
    counted = {"from": "views", "aggregates": "count(*) AS n", "window": window}
    views = {"name": "views", "key": "user", "columns": "user STRING, at TIMESTAMP"}
    views["eventTime"] = {"column": "at", "delay": "0s"}
    return app_resource(
        [
            {"name": "counted", "aggregate": counted},
            {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        ],
        [views, {"name": "out", "key": "user"}],
    )


def test_a_partition_of_a_second_growth_begins_with_the_watermark_of_its_own_parent(streamapp: Start) -> None:
    app = streamapp(_counting(), partitions={"views": 1})

    def send(user: str, hour: str) -> None:
        app.send("views", [{"user": user, "at": f"2026-01-01T{hour}:00Z"}])

    send(USERS[0], "09:00")
    app.grow("views", 2)
    send(USERS[0], "12:00")
    send(USERS[1], "10:00")
    app.grow("views", 4)  # partition 3 is split from 1, which is at 10:00; partition 0 is at 12:00
    send(USERS[1], "12:00")
    send(USERS[3], "10:30")
    assert app.late() == []
    for user in USERS:
        send(user, "13:00")
    assert [row["window_start"].strftime("%H:%M") for row in app.rows("out") if row["user"] == USERS[3]] == [
        "10:30"
    ]
