"""The interface of every format of records, and what a format tells of the records that it cannot read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.byte_columns import key_bytes, mask_without


class UndecodableError(Exception):
    """Some of the values are not what the format says: why, and which these are, where that is known."""

    def __init__(self, reason: str, named: Mapping[int, str] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.named = named or {}  # row -> reason; none of these can ever be decoded


@dataclass(frozen=True, slots=True)
class UndecodableRecord:
    """A record that could not be decoded: which one of the batch, and why."""

    index: int
    reason: str


class Deletions(NamedTuple):
    """Records that have a value and delete a row all the same, and the keys of these rows."""

    rows: pa.BooleanArray
    keys: pa.Array | None  # of the key column's type, null where the value does not say it; None without one


@dataclass(frozen=True, slots=True)
class DecodedBatch:
    """A row for every value, in their order; null in every column for a bad record and for a null value."""

    columns: pa.RecordBatch
    bad: tuple[UndecodableRecord, ...] = ()
    deletions: Deletions | None = None  # null in every column too

    def good(self) -> pa.BooleanArray:
        """A mask of the rows that are not bad: those of null values are among them."""
        return mask_without((each.index for each in self.bad), self.columns.num_rows)

    def keys(self, column: str) -> pa.BinaryArray:
        """The keys of rows by their key column; of a deletion what its value says, which may be nothing."""
        keys = self.columns.column(column)
        if self.deletions is not None and self.deletions.keys is not None:
            keys = pc.coalesce(keys, self.deletions.keys)
        return key_bytes(keys)

    def tombstones(self, values: pa.BinaryArray) -> pa.BooleanArray:
        """A mask of the decoded values that delete a row."""
        deleted = values.is_null()
        return pc.or_(deleted, self.deletions.rows) if self.deletions else deleted


class ReadKeys(NamedTuple):
    """The keys of records, what is wrong with some of them, by their places, and the parts of the others."""

    keys: pa.BinaryArray
    faults: Mapping[int, str]
    columns: pa.RecordBatch | None = None


class RecordFormat(Protocol):
    """Values of one stream <-> its typed columns. Made once for the columns, used for every batch."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that decoding gives and encoding takes."""

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value. A null value is a tombstone: all its columns are null, it is not bad."""

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row, never null: which rows are tombstones, only the caller knows."""


def encoded_rows(form: RecordFormat, columns: pa.RecordBatch, deletions: pa.BooleanArray) -> pa.BinaryArray:
    """The value of each row; null where it deletes, as a schema may have no place for a row of nulls."""
    if not deletions.true_count:
        return form.encode(columns)
    present = ~deletions.to_numpy(zero_copy_only=False)
    values = form.encode(columns.filter(pa.array(present)))
    return values.take(pa.array(np.cumsum(present) - 1, mask=~present))


@runtime_checkable
class KeyedFormat(Protocol):
    """A format in which the keys of records have a form too."""

    def read_keys(self, keys: pa.BinaryArray) -> ReadKeys:
        """The keys as rows have them; null where a record has none, or one with a fault."""
