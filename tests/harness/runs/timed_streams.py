"""Streams of timed rows, and apps that do something with their times."""

from collections.abc import Sequence
from typing import Any

from tests.harness.runs.app_runs import Input, Row

NOW = {"job.control.interval": "0"}
"""Watermarks are written with every batch: nothing waits for a clock."""


def events(delay: str = "0s", **more: Any) -> Row:
    return {
        "name": "events",
        "key": "user",
        "columns": "user STRING, page STRING, n INT, ts TIMESTAMP",
        "eventTime": {"column": "ts", "delay": delay, **more},
    }


def at(seconds: int, user: str = "ann", page: str = "/", n: int = 1) -> Row:
    minute, second = divmod(seconds, 60)
    hour, minute = divmod(minute, 60)
    return {
        "user": user, "page": page, "n": n, "ts": f"2026-01-01T{hour:02}:{minute:02}:{second:02}Z"
    }  # fmt: skip


def inputs(rows: Sequence[Row]) -> list[Input]:
    return [Input(row["user"], row) for row in rows]


def counting(source: str, *, name: str = "counted", window: Row | None = None, **more: Any) -> Row:
    body = {"from": source, "aggregates": "count(*) AS rows, sum(n) AS total", **more}
    return {"name": name, "aggregate": body | {"window": window or {"tumbling": {"size": "10s"}}}}


def sent(source: str, stream: str = "out") -> Row:
    return {"name": f"{source}-sent", "sendTo": {"from": source, "stream": stream}}
