"""The entries of an operator's own store, as rows with names: for looking into it.

Operators keep several rows in one entry, put times before keys, and have entries that only lead to others.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.state.time_keys import TIME_WIDTH, key_times, keys_without_times
from streamapp_runtime.rows.row_decoder import decode

SIDES: Final = ("left", "right")
SESSIONS_PREFIX: Final = b"\x00"
SESSION_TIMES_PREFIX: Final = b"\x01"
"""What the entries of sessions begin with, and those of the times at which a key is looked at."""
_TIMESTAMP: Final = pa.timestamp("us", "UTC")
_END: Final = np.iinfo(np.int32).max

NamedRows = tuple[pa.BinaryArray, pa.RecordBatch]
"""The key of each row, and its columns."""


class EntryKind(StrEnum):
    """The kind of layout of a store's entries. The words are written down: they do not change."""

    ROWS = "rows"  # a row under each key
    WINDOWS = "windows"  # a row under the window's start and the key
    SESSIONS = "sessions"  # all sessions of a key, beside times that lead to keys
    JOIN = "join"  # rows of a side that may still meet others, by time and key


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """The layout of an operator's entries. The schemas are those of its bytes, with names for people."""

    kind: EntryKind
    schemas: tuple[pa.Schema, ...]
    span_ms: int = 0  # of a window, or the gap of a session

    @property
    def names(self) -> list[str]:
        """The columns of all rows, each once."""
        empty = pa.array([], pa.binary())
        every = (name for _, rows in self.rows(empty, empty) for name in rows.schema.names)
        return list(dict.fromkeys(every))

    def rows(self, keys: pa.BinaryArray, values: pa.BinaryArray) -> Iterator[NamedRows]:
        """The rows of entries; those of several forms one form after the other."""
        yield from _READERS[self.kind](self, keys, values)


def _plain_rows(form: StoredEntries, keys: pa.BinaryArray, values: pa.BinaryArray) -> Iterator[NamedRows]:
    (schema,) = form.schemas
    yield keys, decode(values, schema)


def _window_rows(form: StoredEntries, keys: pa.BinaryArray, values: pa.BinaryArray) -> Iterator[NamedRows]:
    (schema,) = form.schemas
    rows, starts = decode(values, schema), key_times(keys)
    yield keys_without_times(keys), _within(starts, starts + form.span_ms, rows.schema.names, rows.columns)


def _session_rows(form: StoredEntries, keys: pa.BinaryArray, values: pa.BinaryArray) -> Iterator[NamedRows]:
    (schema,) = form.schemas
    chosen = pc.equal(pc.binary_slice(keys, 0, 1), SESSIONS_PREFIX)
    entries = decode(values.filter(chosen), schema)
    _, *labels, lists = entries.columns
    parents = pa.array(np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy()))
    first, last, *totals = lists.flatten().flatten()
    _, _, *names = [field.name for field in lists.type.value_type]
    names = [*schema.names[1:-1], *names]
    columns = [*(label.take(parents) for label in labels), *totals]
    within = _within(first.to_numpy(), last.to_numpy() + form.span_ms, names, columns)
    yield pc.binary_slice(keys.filter(chosen), 1, _END).take(parents), within


def _join_rows(form: StoredEntries, keys: pa.BinaryArray, values: pa.BinaryArray) -> Iterator[NamedRows]:
    for number, (side, schema) in enumerate(zip(SIDES, form.schemas, strict=True)):
        chosen = pc.equal(pc.binary_slice(keys, TIME_WIDTH, TIME_WIDTH + 1), bytes([number]))
        (lists,) = decode(values.filter(chosen), schema).columns
        parents = pa.array(np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy()))
        at, _, _, *columns = lists.flatten().flatten()
        _, _, _, *names = [field.name for field in lists.type.value_type]
        rows = pa.RecordBatch.from_arrays(
            [pa.array([side] * len(at), pa.string()), _timestamps(at.to_numpy()), *columns],
            names=["side", "time", *names],
        )
        yield pc.binary_slice(keys.filter(chosen), TIME_WIDTH + 1, _END).take(parents), rows


_READERS: Final[
    Mapping[EntryKind, Callable[[StoredEntries, pa.BinaryArray, pa.BinaryArray], Iterator[NamedRows]]]
] = {
    EntryKind.ROWS: _plain_rows,
    EntryKind.WINDOWS: _window_rows,
    EntryKind.SESSIONS: _session_rows,
    EntryKind.JOIN: _join_rows,
}
if missing_kinds := set(EntryKind) - _READERS.keys():
    raise TypeError(f"nothing reads entries of {missing_kinds}")


def _within(
    starts: np.ndarray, ends: np.ndarray, names: list[str], columns: list[pa.Array]
) -> pa.RecordBatch:
    times = [_timestamps(starts), _timestamps(ends)]
    return pa.RecordBatch.from_arrays([*times, *columns], names=["window_start", "window_end", *names])


def _timestamps(milliseconds: np.ndarray) -> pa.Array:
    return pa.array(milliseconds * 1000).cast(_TIMESTAMP)


def renamed(schema: pa.Schema, names: list[str]) -> pa.Schema:
    """The same columns under other names."""
    return pa.schema([pa.field(name, field.type) for name, field in zip(names, schema, strict=True)])


def renamed_list(field: pa.Field, names: list[str]) -> pa.Field:
    """A list of structs whose fields have other names."""
    fields = [pa.field(name, each.type) for name, each in zip(names, field.type.value_type, strict=True)]
    return pa.field(field.name, pa.list_(pa.struct(fields)))
