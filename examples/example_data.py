"""Rows of the example apps: what a generator makes, and how its times are spelled."""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

Row = dict[str, Any]
Event = tuple[str, Row]
"""A stream, and a row that is written to it."""

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""When the events of finite data begin."""


def timestamp(time: datetime) -> str:
    """A time as StreamApp writes it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def time_of(text: str) -> datetime:
    """The time that `timestamp` has written."""
    return datetime.fromisoformat(text)


def rows_of(stream: str, events: Iterable[Event]) -> list[Row]:
    """The rows of one stream, in their order."""
    return [row for name, row in events if name == stream]


def json_row(row: Row) -> Row:
    """A row as the generators have it: times as StreamApp writes them, decimals as texts."""
    return {name: _json_value(value) for name, value in row.items()}


def _json_value(value: Any) -> Any:
    match value:
        case datetime():
            return timestamp(value)
        case Decimal():
            return f"{value:f}"
        case dict():
            return json_row(value)
    return value
