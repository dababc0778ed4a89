"""An outcome held against what was expected."""

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tests.oracle.answers.reference import Expected, ExpectedStream
from tests.oracle.kit_driver import Outcome

Record = tuple[tuple[bytes | None, int, Any], Any]
"""Key, time and headers of a record, and its row."""


def differences(expected: Expected, outcome: Outcome) -> list[str]:
    """A line for each stream, table or count that is not as it should be."""
    lines = _reading_differences(outcome)
    for name, stream in expected.streams.items():
        records = [
            (
                (one.key, one.time * stream.timed, stream.comparable_headers(one.headers)),
                None if one.row is None else plain(tuple(one.row.get(column) for column in stream.columns)),
            )
            for one in outcome.streams.get(name, ())
        ]
        lines += [f"stream {name}: {line}" for line in _stream_differences(stream, records)]
    for name, entries in outcome.tables.items():
        columns = expected.table_columns.get(name, ())
        actual = Counter((key, plain(tuple(row[c] for c in columns))) for key, row in entries.items())
        wanted = Counter((key, plain(row)) for key, row in expected.tables.get(name, {}).items())
        lines += [f"table {name}: {line}" for line in _counted(wanted, wanted, actual)]
    lines += [f"late rows: {line}" for line in _counted(*[Counter(expected.late)] * 2, Counter(outcome.late))]
    if not outcome.is_of_streams:
        waiting = Counter(expected.open)
        lines += [f"open windows: {line}" for line in _counted(waiting, waiting, Counter(outcome.open))]
    if not expected.bad - expected.unread <= len(outcome.bad) <= expected.bad:
        lines.append(f"bad records: {expected.bad} expected, {len(outcome.bad)} found: {outcome.bad[:3]}")
    return lines


def _reading_differences(outcome: Outcome) -> list[str]:
    """A line for each record of an output that the product reads otherwise than another library."""
    return [
        f"stream {name}: another library reads {row}, the product {record.row}"
        for name, rows in outcome.foreign_rows.items()
        for row, record in zip(rows, outcome.streams[name], strict=True)
        if plain(row) != plain(record.row)
    ]


def _stream_differences(stream: ExpectedStream, records: Sequence[Record]) -> list[str]:
    wanted = [
        (
            (one.key, one.time * stream.timed, stream.comparable_headers(one.headers)),
            plain(one.row),
            one.certain,
        )
        for one in stream.records
    ]
    if stream.newest_of is None:
        certain = Counter((key, row) for key, row, is_certain in wanted if is_certain)
        return _counted(certain, Counter((key, row) for key, row, _ in wanted), Counter(records))
    if not set(stream.newest_of) <= set(stream.columns):
        return []  # no column tells the groups apart, whose newest rows would be compared
    places = [stream.columns.index(column) for column in stream.newest_of]
    newest = [{_group(row, places): (key, row) for key, row in some} for some in (_pairs(wanted), records)]
    return _counted(Counter(newest[0].values()), Counter(newest[0].values()), Counter(newest[1].values()))


def _pairs(wanted: Sequence[tuple[Any, Any, bool]]) -> list[Record]:
    return [(key, row) for key, row, _ in wanted]


def _group(row: Any, places: Sequence[int]) -> Any:
    return tuple(row[place] for place in places)


def _counted(certain: Counter[Any], possible: Counter[Any], actual: Counter[Any]) -> list[str]:
    missing, surplus = certain - actual, actual - possible
    lines = [f"missing {count} x {record}" for record, count in list(missing.items())[:3]]
    lines += [f"not expected {count} x {record}" for record, count in list(surplus.items())[:3]]
    if lines:
        lines.insert(0, f"{missing.total()} missing, {surplus.total()} not expected, {actual.total()} in all")
    return lines


def plain(value: Any) -> Any:
    """A value that equals its like: of NaN, of floating numbers but for their last digits, lists and maps."""
    match value:
        case float():
            return "NaN" if math.isnan(value) else float(f"{value:.10g}")
        case Decimal():
            return value.normalize()
        case dict():
            return tuple(sorted((name, plain(one)) for name, one in value.items()))
        case [(str(), _), *_]:  # a map, as DuckDB gives it
            return plain(dict(value))
        case list() | tuple():
            return tuple(map(plain, value))
        case _:
            return value
