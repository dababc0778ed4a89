"""The fields of many messages at once: each step reads the next one of every message that has more.

Messages are pieces of the bytes of a batch. One that is written in several pieces is what these are behind
each other, as Protobuf merges them.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from streamapp_runtime.formats.record_cursor import RecordCursor
from streamapp_runtime.rows.row_form import Bytes, Positions

VARINT: Final = 0
EIGHT_BYTES: Final = 1
SIZED: Final = 2
FOUR_BYTES: Final = 5
WIDTHS: Final = {EIGHT_BYTES: 8, FOUR_BYTES: 4}
_GROUPS: Final = (3, 4)
_LAST_FIELD: Final = (1 << 29) - 1


class Occurrences(NamedTuple):
    """The places where a field is written: the value of a varint, or where other values begin."""

    messages: Positions
    order: Positions  # in the message
    values: npt.NDArray[np.uint64]
    ends: Positions

    def at(self, places: npt.NDArray[np.generic]) -> "Occurrences":
        """Some of them."""
        return Occurrences(*(each[places] for each in self))

    @property
    def starts(self) -> Positions:
        """The places where their bytes begin."""
        return self.values.view(np.int64)


_NONE: Final = np.zeros(0, np.int64)
NOWHERE: Final = Occurrences(_NONE, _NONE, np.zeros(0, np.uint64), _NONE)


def joined(parts: Collection[Occurrences]) -> Occurrences:
    """Occurrences of several fields, or of one that is written in several ways."""
    if len(parts) == 1:
        return next(iter(parts))
    return Occurrences(*(np.concatenate(each) for each in zip(*parts, strict=True))) if parts else NOWHERE


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages of a batch, each of a record, in pieces that are each of a message."""

    data: Bytes  # padded
    starts: Positions
    ends: Positions
    owners: Positions  # the message of each piece
    records: Positions  # the record of each message
    faults: dict[int, str] = field(default_factory=dict)  # by record

    def __len__(self) -> int:
        return len(self.records)

    def refuse(self, messages: Positions, fault: str) -> None:
        """Note the fault of these messages' records."""
        for record in self.records[messages].tolist():
            self.faults.setdefault(record, fault)

    def scan(self, wanted: Collection[int]) -> Mapping[int, Occurrences]:
        """The occurrences of some fields, by their tags; others are skipped."""
        cursor = RecordCursor(self.data, self.starts, self.ends)
        occurrences: defaultdict[int, list[Occurrences]] = defaultdict(list)
        rows, step = np.flatnonzero(self.ends > self.starts), 0
        while len(rows):
            tags = cursor.varints(rows)
            same = tags.min() == tags.max()
            for tag in tags[:1].tolist() if same else np.unique(tags).tolist():
                some = rows if same else rows[tags == tag]
                values, ends = _value(cursor, some, tag)
                if tag in wanted:
                    occurrences[tag].append(Occurrences(some, np.full(len(some), step), values, ends))
            rows, step = rows[cursor.left(rows) > 0], step + 1
        for piece, fault in cursor.faults.items():
            self.faults.setdefault(int(self.records[self.owners[piece]]), fault)
        ranks = _ranks(self.owners)
        return {tag: self._of_messages(joined(parts), ranks) for tag, parts in occurrences.items()}

    def _of_messages(self, occurrences: Occurrences, ranks: Positions | None) -> Occurrences:
        """The occurrences by their messages instead of by pieces of these."""
        if ranks is None:
            return occurrences._replace(messages=self.owners[occurrences.messages])
        order = (ranks[occurrences.messages] << 32) + occurrences.order
        occurrences = occurrences._replace(messages=self.owners[occurrences.messages], order=order)
        return occurrences.at(np.argsort(order, kind="stable"))


def _ranks(owners: Positions) -> Positions | None:
    """The place of each piece in its message; None where each message has one piece at most."""
    if not len(owners) or np.bincount(owners).max() == 1:
        return None
    order = np.argsort(owners, kind="stable")
    firsts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    ranks = np.empty(len(owners), np.int64)
    counts = np.diff(np.append(firsts, len(owners)))
    ranks[order] = np.arange(len(owners)) - np.repeat(firsts, counts)
    return ranks


def _value(cursor: RecordCursor, rows: Positions, tag: int) -> tuple[npt.NDArray[np.uint64], Positions]:
    """The number that is written behind a tag, or the places where bytes begin and end."""
    number, wire = tag >> 3, tag & 7
    nothing = np.zeros(len(rows), np.int64)
    if not 1 <= number <= _LAST_FIELD:
        cursor.refuse(rows, f"a field has the number {number}")
    elif wire == VARINT:
        return cursor.varints(rows), nothing
    elif wire in {SIZED, *WIDTHS}:
        sizes = cursor.varints(rows).view(np.int64) if wire == SIZED else np.full(len(rows), WIDTHS[wire])
        starts, ends = cursor.spans(rows, sizes)
        return starts.view(np.uint64), ends
    else:
        kind = "a group" if wire in _GROUPS else f"of the unknown type {wire}"
        cursor.refuse(rows, f"the field {number} is {kind}")
    return nothing.view(np.uint64), nothing
