"""A partition's address, the word that plans, tasks, models and checkpoints share, and what it holds."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Partition(NamedTuple):
    """`views#3` is partition 3 of the stream `views`. Sorts by stream, then by number."""

    stream: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an address

    def __str__(self) -> str:
        return f"{self.stream}#{self.index}"

    @classmethod
    def parse(cls, text: str) -> "Partition":
        """Read `views#3`; anything else is a ValueError that says so."""
        stream, mark, index = text.rpartition("#")
        if not (mark and stream and index.isascii() and index.isdecimal()):
            raise ValueError(f"{text!r} is no partition; it is written stream#number, such as views#3")
        return cls(stream, int(index))


@dataclass(frozen=True, slots=True)
class OffsetSpan:
    """The offsets that a partition holds: from `oldest` up to, and without, `end`."""

    oldest: int
    end: int
    epoch: int = field(default=-1, compare=False)  # of the leader that says so, where its system has leaders
