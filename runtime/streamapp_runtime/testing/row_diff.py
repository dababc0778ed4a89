"""Rows compared as sets of rows, and what differs between them so that a person sees it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

ABSENT: Final = "-"
MOST_LINES: Final = 60


class Rows(list[Any]):
    """The rows of a stream or a table. It equals a list of the same rows; pytest shows how it differs."""


def assert_rows(actual: Sequence[Any], expected: Sequence[Any], *, in_order: bool = False) -> None:
    """AssertionError with a table of what differs where these are not the same rows.

    In any order, unless `in_order` is asked for. A row may stand several times.
    """
    same = list(actual) == list(expected) if in_order else not any(_differences(actual, expected))
    if not same:
        raise AssertionError("\n".join(row_diff(actual, expected, in_order=in_order)))


def row_diff(actual: Sequence[Any], expected: Sequence[Any], *, in_order: bool = False) -> list[str]:
    """A line for each row: `-` is missing, `+` was not expected; cells that differ stand between stars."""
    missing, surplus = _differences(actual, expected)
    count = len(actual) - len(surplus)
    head = f"rows differ: {len(missing)} missing (-), {len(surplus)} not expected (+), {count} as expected"
    if not missing and not surplus:
        lines = [
            f"{number:>4}  {_text(ours)}  !=  {_text(theirs)}"
            for number, (ours, theirs) in enumerate(zip(actual, expected, strict=True))
            if ours != theirs
        ]
        return ["the same rows in another order:" if in_order else head, *_cut(lines)]
    pairs, alone_missing, alone_surplus = _paired(missing, surplus)
    rows = [("-", row) for row in alone_missing] + [("+", row) for row in alone_surplus]
    for before, after in pairs:
        rows += [("-", before), ("+", after)]
    return [
        head,
        *_cut(list(_table(rows, {id(row): other for pair in pairs for row, other in (pair, pair[::-1])}))),
    ]


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"... {more} more lines"] if more > 0 else lines


def _differences(actual: Iterable[Any], expected: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The rows that are missing, and those that were not expected."""
    surplus, missing = list(actual), []
    for row in expected:
        if row in surplus:
            surplus.remove(row)
        else:
            missing.append(row)
    return missing, surplus


def _paired(missing: list[Any], surplus: list[Any]) -> tuple[list[tuple[Any, Any]], list[Any], list[Any]]:
    """Rows of which more than half of the cells agree belong together."""
    pairs, left = [], list(surplus)
    alone = []
    for row in missing:
        close = max(left, key=lambda other: _likeness(row, other), default=None)
        if close is not None and _likeness(row, close) >= 0.5:
            left.remove(close)
            pairs.append((row, close))
        else:
            alone.append(row)
    return pairs, alone, left


def _likeness(row: Any, other: Any) -> float:
    if not isinstance(row, Mapping) or not isinstance(other, Mapping):
        return SequenceMatcher(None, repr(row), repr(other)).ratio()
    names = set(row) | set(other)
    return sum(bool(row.get(name) == other.get(name)) for name in names) / max(len(names), 1)


def _table(rows: list[tuple[str, Any]], partner: Mapping[int, Any]) -> Iterator[str]:
    """Rows as aligned columns; cells that differ from the row's partner stand between stars."""
    names = list(dict.fromkeys(name for _, row in rows if isinstance(row, Mapping) for name in row))
    cells = [["", *names]]
    for sign, row in rows:
        if not isinstance(row, Mapping):
            cells.append([sign, _text(row)] + [""] * (len(names) - 1))
            continue
        other = partner.get(id(row))
        marked = [
            f"*{_cell(row, name)}*"
            if isinstance(other, Mapping) and row.get(name, ABSENT) != other.get(name, ABSENT)
            else _cell(row, name)
            for name in names
        ]
        cells.append([sign, *marked])
    widths = [max(len(row[place]) for row in cells if place < len(row)) for place in range(len(names) + 1)]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


def _cell(row: Mapping[str, Any], name: str) -> str:
    return _text(row[name]) if name in row else ABSENT


def _text(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return repr(value)
