"""Rows from outside of an app as records under a registry: lines of a command, and the rows of a test."""

from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from streamapp_runtime.formats.record_format import RecordFormat, encoded_rows
from streamapp_runtime.formats.registered_keys import RegisteredKeys


class UnwritableRowError(ValueError):
    """A row that the schema has no place for, by its number among the rows, counted from 0."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number


class KeyedRows(NamedTuple):
    """Rows, the columns of values before those of keys alone, and what each brings of a key."""

    rows: pa.RecordBatch
    keys: pa.BinaryArray
    has_own_key: pa.BooleanArray  # it counts, and not the columns that keys are made of
    deletions: pa.BooleanArray

    @classmethod
    def unkeyed(cls, rows: pa.RecordBatch) -> "KeyedRows":
        """Rows that bring columns alone."""
        none = pa.repeat(False, len(rows))
        return cls(rows, pa.nulls(len(rows), pa.binary()), none, none)

    def slice(self, place: int) -> "KeyedRows":
        """The row at a place."""
        return KeyedRows(*(part.slice(place, 1) for part in self))


class WrittenRecords(NamedTuple):
    """The keys and the values of records."""

    keys: pa.BinaryArray
    values: pa.BinaryArray


@dataclass(frozen=True, slots=True)
class RowWriter:
    """The formats of values and of keys, and the places of the columns that keys are made of."""

    values: RecordFormat
    keys: RegisteredKeys | None  # None where keys are plain
    key_places: tuple[int, ...]

    def write(self, keyed: KeyedRows) -> WrittenRecords:
        """The records of rows; UnwritableRowError of the first that has no place in its schema."""
        try:
            return self._written(keyed)
        except ValueError:
            for place in range(len(keyed.rows)):
                try:
                    self._written(keyed.slice(place))
                except ValueError as unfit:
                    raise UnwritableRowError(place, str(unfit)) from None
            raise

    def _written(self, keyed: KeyedRows) -> WrittenRecords:
        rows, keys = keyed.rows, keyed.keys
        of_values = rows.select(range(len(self.values.schema)))
        values = encoded_rows(self.values, of_values, keyed.deletions)
        if self.keys is not None:
            keys = self.keys.write([rows.column(place) for place in self.key_places], keys, keyed.has_own_key)
        return WrittenRecords(keys, values)
