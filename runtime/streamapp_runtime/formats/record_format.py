"""The interface of every format of records, and what a format tells of the records that it cannot read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa


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


@dataclass(frozen=True, slots=True)
class DecodedBatch:
    """A row for every value, in their order; null in every column for a bad record and for a null value."""

    columns: pa.RecordBatch
    bad: tuple[UndecodableRecord, ...] = ()

    def good(self) -> pa.BooleanArray:
        """Which rows are not bad: those of null values are among them."""
        good = np.ones(self.columns.num_rows, bool)
        good[[each.index for each in self.bad]] = False
        return pa.array(good)


class RecordFormat(Protocol):
    """Values of one stream <-> its typed columns. Made once for the columns, used for every batch."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that decoding gives and encoding takes."""

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value. A null value is a tombstone: all its columns are null, it is not bad."""

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row, never null: which rows are tombstones, only the caller knows."""
