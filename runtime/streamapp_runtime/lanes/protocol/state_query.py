"""The queries of the state of a lane's tasks, and their answers: they travel with orders and reports.

A lane answers when its stores are at the checkpoints of its order and before it reads a record, so an answer
holds what was committed and nothing else.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from streamapp_runtime.lanes.protocol.sent_values import (
    sent_bytes,
    sent_flag,
    sent_list,
    sent_number,
    sent_text,
)

MOST_ANSWER_BYTES: Final = 1 << 20
"""So large is what one task answers to one query; an entry that is larger comes alone."""


@dataclass(frozen=True, slots=True)
class StateQuery:
    """Entries of one table, or of an operator's own state: those of some keys, or a range of them."""

    number: int  # of the query, for as long as the run continues
    table: str
    tasks: tuple[str, ...]  # of the lane: those whose entries are asked for
    keys: tuple[bytes, ...] = ()  # the keys of entries; empty for a range
    timed: bool = False  # whether each key is looked up behind every time that entries begin with
    start: bytes = b""  # of a range
    end: bytes | None = None
    limit: int = 0  # how many entries of a range each task gives at most
    snapshot: int = 0  # the number of the snapshot that is read; 0 for the state as it is
    begins: bool = False  # whether the snapshot is made now

    def fields(self) -> list[Any]:
        """As it travels."""
        keys, end = [_text(key) for key in self.keys], None if self.end is None else _text(self.end)
        entries = [keys, self.timed, _text(self.start), end, self.limit]
        return [self.number, self.table, self.tasks, *entries, self.snapshot, self.begins]

    @classmethod
    def of_fields(cls, fields: Sequence[Any]) -> "StateQuery":
        """As it was sent."""
        number, table, tasks, keys, timed, start, end, *others = fields
        keys, end = tuple(map(b64decode, keys)), None if end is None else b64decode(end)
        return cls(number, table, tuple(tasks), keys, timed, b64decode(start), end, *others)


@dataclass(frozen=True, slots=True)
class StateAnswer:
    """The entries of one task that a query asks for, in order of the key."""

    number: int  # of the query
    task: str
    entries: tuple[tuple[bytes, bytes], ...] = ()  # keys and values
    cut: bool = False  # whether the range continues behind the last entry
    missing: str = ""  # why the task cannot answer
    gone: bool = False  # whether it never can: the snapshot that is asked for is gone

    def fields(self) -> list[Any]:
        """As it travels."""
        entries = [[_text(key), _text(value)] for key, value in self.entries]
        return [self.number, self.task, entries, self.cut, self.missing, self.gone]

    @classmethod
    def of_fields(cls, fields: object) -> "StateAnswer":
        """As it was sent."""
        number, task, entries, cut, missing, gone = sent_list(fields)
        pairs = tuple((sent_bytes(key), sent_bytes(value)) for key, value in sent_list(entries))
        return cls(
            sent_number(number),
            sent_text(task),
            pairs,
            cut=sent_flag(cut),
            missing=sent_text(missing),
            gone=sent_flag(gone),
        )


def _text(data: bytes) -> str:
    return b64encode(data).decode()
