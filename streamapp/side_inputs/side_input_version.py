"""Versions of a bounded data set: which one is being filled, and when it is whole.

A version is whole when the end of it has come in every partition. Where the end came, nothing more is read
until then: what follows belongs to the next version.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class EndOfVersion:
    """The end of a version in a partition, as one of those says it who have to."""

    speaker: str = ""
    speakers: int = 1


@dataclass(frozen=True, slots=True)
class SideInputVersion:
    """The version that is being filled. The one before it, if any, is what is seen."""

    number: int = 1
    said: Mapping[Partition, frozenset[str]] = field(default_factory=dict)  # who said that the end came
    ended: frozenset[Partition] = frozenset()

    @property
    def sealed(self) -> int:
        """The version that is seen; 0 before there is one."""
        return self.number - 1

    def hear(self, partition: Partition, seal: EndOfVersion) -> "SideInputVersion":
        """The same after one more has said that the end came in a partition."""
        spoken = self.said.get(partition, frozenset()) | {seal.speaker}
        ended = self.ended | {partition} if len(spoken) >= seal.speakers else self.ended
        return SideInputVersion(self.number, {**self.said, partition: spoken}, ended)

    def whole(self, partitions: Collection[Partition]) -> bool:
        """Whether nothing of it is still to come."""
        return bool(partitions) and self.ended.issuperset(partitions)

    def following(self) -> "SideInputVersion":
        """The next version, of which nothing has come."""
        return SideInputVersion(self.number + 1)

    def text(self) -> str:
        """As a store's mark keeps it."""
        said = {str(partition): sorted(names) for partition, names in sorted(self.said.items())}
        ended = [str(partition) for partition in sorted(self.ended)]
        return json.dumps({"number": self.number, "said": said, "ended": ended})

    @classmethod
    def parse(cls, text: str) -> "SideInputVersion":
        """As it was kept; the first version where nothing was."""
        if not text:
            return cls()
        kept = json.loads(text)
        said = {Partition.parse(name): frozenset(names) for name, names in kept["said"].items()}
        return cls(int(kept["number"]), said, frozenset(map(Partition.parse, kept["ended"])))
