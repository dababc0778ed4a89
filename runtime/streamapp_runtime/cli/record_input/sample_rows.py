"""Rows to try an app with, made up from the columns of a stream.

A text is the name of its column and a number, so that columns of one name in several streams have values in
common, and joins find partners. Whole numbers are taken so where they are a key. The same seed gives the same
rows.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import types

from streamapp.spec.resource.streams import Stream

_BLOCK_ROWS = 10_000
_NUMBERS = 100
"""Numbers lie below it: it fits the smallest type."""
_DIGITS = 4
"""Of decimals."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The number of rows and of keys, the times that the rows have, and the columns that are keys."""

    rows: int
    keys: int
    key_columns: Collection[str]
    seed: int
    start: datetime
    every: timedelta


@dataclass(frozen=True, slots=True)
class _RowFacts:
    """The basis of the values of a row: its time, and a random choice of its own."""

    time: datetime
    random: Random
    keys: int
    key: int
    key_columns: Collection[str]


def sample_rows(stream: Stream, schema: pa.Schema, sampling: Sampling) -> Iterator[pa.RecordBatch]:
    """The rows, some thousand at a time. The first rows have a key each, until every key has had one."""
    random = Random(sampling.seed)  # noqa: S311 - nothing is secret here
    first_keys = random.sample(range(sampling.keys), min(sampling.keys, sampling.rows))
    for start in range(0, sampling.rows, _BLOCK_ROWS):
        numbers = range(start, min(start + _BLOCK_ROWS, sampling.rows))
        facts = [
            _RowFacts(
                time=sampling.start + number * sampling.every,
                random=random,
                keys=sampling.keys,
                key_columns=sampling.key_columns,
                key=first_keys[number] if number < len(first_keys) else random.randrange(sampling.keys),
            )
            for number in numbers
        ]
        rows = [{field.name: _column_value(stream, field, row) for field in schema} for row in facts]
        yield pa.RecordBatch.from_pylist(rows, schema)


def _column_value(stream: Stream, field: pa.Field, row: _RowFacts) -> Any:
    event_time = stream.event_time
    if event_time and event_time.column == field.name and event_time.unit is not None:
        seconds = row.time.timestamp()
        return int(seconds * 1000) if event_time.unit == "milliseconds" else int(seconds)
    if field.name != stream.key:
        row = _another(row)
    return _value(field.name, field.type, row)


def _value(name: str, kind: pa.DataType, row: _RowFacts) -> Any:
    for is_kind, make in _VALUES.items():
        if is_kind(kind):
            return make(name, kind, row)
    raise TypeError(f"no sample of {kind}")


def _integer(name: str, kind: pa.DataType, row: _RowFacts) -> int:
    is_key = name in row.key_columns
    return row.key % 2 ** (kind.bit_width - 1) if is_key else row.random.randrange(_NUMBERS)


def _decimal(_: str, kind: pa.DataType, row: _RowFacts) -> Decimal:
    digits = min(kind.precision, _DIGITS)
    return Decimal(row.random.randrange(10**digits)).scaleb(-kind.scale)


def _struct(_: str, kind: pa.DataType, row: _RowFacts) -> dict[str, Any]:
    return {field.name: _value(field.name, field.type, _another(row)) for field in kind}


def _map(name: str, kind: pa.DataType, row: _RowFacts) -> list[tuple[Any, Any]]:
    key = _value(f"{name}-key", kind.key_type, _another(row))
    return [(key, _value(name, kind.item_type, _another(row)))]


def _list(name: str, kind: pa.DataType, row: _RowFacts) -> list[Any]:
    return [_value(name, kind.value_type, _another(row)) for _ in range(row.random.randint(1, 3))]


_VALUES: Mapping[Callable[[pa.DataType], bool], Callable[[str, pa.DataType, _RowFacts], Any]] = {
    types.is_string: lambda name, _, row: f"{name}-{row.key}",
    types.is_integer: _integer,
    types.is_boolean: lambda _name, _, row: row.random.random() < 0.5,
    types.is_floating: lambda _name, _, row: row.random.randrange(_NUMBERS * 4) / 4,
    types.is_decimal: _decimal,
    types.is_binary: lambda _name, _, row: row.random.randbytes(4),
    types.is_date: lambda _name, _, row: row.time.date(),
    types.is_timestamp: lambda _, kind, row: row.time if kind.tz else row.time.replace(tzinfo=None),
    types.is_struct: _struct,
    types.is_map: _map,
    types.is_list: _list,
}
"""By kind of type, a value of a column of some name."""


def _another(row: _RowFacts) -> _RowFacts:
    return replace(row, key=row.random.randrange(row.keys))


def start_of(text: str) -> datetime:
    """A time in UTC, which it is where no zone is named; ValueError for anything else."""
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
