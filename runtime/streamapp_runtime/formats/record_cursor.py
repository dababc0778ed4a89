"""Positions in all records of a batch at once: what stands there is read for many records in one step.

A record with a fault stands at its end from then on, where everything reads as zero: so reading goes on for
the others, and never beyond the bytes of the batch.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.rows.byte_columns import cut, numbers
from streamapp_runtime.rows.row_form import Bytes, Positions

_LONGEST_VARINT: Final = 10
_PADDING: Final = 16  # at least the longest thing of a fixed width, and a varint
ENDS_EARLY: Final = "the record ends early"


def padded(data: Bytes) -> Bytes:
    """The bytes with room behind them, for what is read at the end of a record that has a fault."""
    return np.concatenate([data, np.zeros(_PADDING, np.uint8)])


class RecordCursor:
    """The position in each record, moved on by what is read, and the first fault of each that has one.

    The bytes are `padded`.
    """

    def __init__(self, data: Bytes, starts: Positions, ends: Positions) -> None:
        self._data = data
        self._at, self._ends = starts.copy(), ends
        self.faults: dict[int, str] = {}
        self.depth = 0  # of what is read within each other, which who reads it counts

    def __len__(self) -> int:
        return len(self._at)

    def refuse(self, rows: Positions, fault: str) -> None:
        """Note the fault of these records, and read nothing more of them."""
        for row in rows.tolist():
            self.faults.setdefault(row, fault)
        self._at[rows] = self._ends[rows]

    def left(self, rows: Positions) -> Positions:
        """The number of bytes that are left of each record."""
        left: Positions = self._ends[rows] - self._at[rows]
        return left

    def longs(self, rows: Positions) -> npt.NDArray[np.int64]:
        """The number at each position, in the zigzag form of variable length."""
        return zigzag(self.varints(rows))

    def varints(self, rows: Positions) -> npt.NDArray[np.uint64]:
        """The number at each position, in the form of variable length; 0 where a record has a fault."""
        at = self._at[rows]
        octets = self._data[at]
        values, sizes = (octets & 0x7F).astype(np.uint64), np.ones(len(at), np.int64)
        longer = np.flatnonzero(octets & 0x80)
        for place in range(1, _LONGEST_VARINT):
            if not len(longer):
                break
            octets = self._data[at[longer] + place]
            values[longer] |= (octets & 0x7F).astype(np.uint64) << np.uint64(7 * place)
            sizes[longer] += 1
            longer = longer[octets & 0x80 != 0]
        self._at[rows] = at + sizes
        beyond = at + sizes > self._ends[rows]
        longer = longer[~beyond[longer]]  # others go on in the bytes of another record
        if len(longer):
            self.refuse(rows[longer], "a number has more than ten bytes")
            values[longer] = 0
        if beyond.any():
            self.refuse(rows[beyond], ENDS_EARLY)
            values[beyond] = 0
        return values

    def skip(self, rows: Positions, sizes: Positions | int) -> Positions:
        """Move on by so many bytes; where each record stood before, or its end where it has no so many."""
        wrong = (sizes < 0) | (sizes > self.left(rows))
        if wrong.any():
            self.refuse(rows[wrong], ENDS_EARLY)
            sizes = np.where(wrong, 0, sizes)
        before: Positions = self._at[rows]
        self._at[rows] += sizes
        return before

    def spans(self, rows: Positions, sizes: Positions) -> tuple[Positions, Positions]:
        """The places of so many bytes of each record, of none where it has no so many."""
        before = self.skip(rows, sizes)
        return before, self._at[rows]

    def octets(self, rows: Positions, sizes: Positions) -> pa.BinaryArray:
        """So many bytes of each record."""
        return cut(self._data, *self.spans(rows, sizes))

    def numbers(self, rows: Positions, kind: str) -> npt.NDArray[np.generic]:
        """A number of fixed width of each record; any where the record has a fault."""
        return numbers(self._data, self.skip(rows, np.dtype(kind).itemsize), kind)

    def finish(self) -> None:
        """Refuse records of which something is left."""
        left = self._ends - self._at
        for size in np.unique(left[left > 0]).tolist():
            self.refuse(np.flatnonzero(left == size), f"{size} bytes are left over")


def zigzag(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The numbers that have their sign in the last bit."""
    return (values >> np.uint64(1)).view(np.int64) ^ -(values & np.uint64(1)).view(np.int64)
