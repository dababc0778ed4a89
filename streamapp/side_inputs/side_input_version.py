"""Versions of a bounded data set: the version that is being filled, and when the version is complete.

A version is complete when its end has come in every partition. A partition whose end has come is not read
until then: its next records belong to the next version.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from streamapp.durable_forms import SIDE_INPUT_VERSION, VersionRefusal
from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class EndOfVersion:
    """The end of a version in a partition, sent by one of `upstreams` upstream tasks."""

    upstream: str = ""
    upstreams: int = 1
    is_abandoned: bool = False  # the version is a part of one, which nobody is to see


@dataclass(frozen=True, slots=True)
class SideInputVersion:
    """The version that is being filled. Rows see the previous version, if there is one."""

    number: int = 1
    ended_upstreams: Mapping[Partition, frozenset[str]] = field(
        default_factory=dict
    )  # upstream tasks that sent the end
    ended: frozenset[Partition] = frozenset()
    is_abandoned: bool = False  # its rows go when it is complete, and the previous version stays

    @property
    def sealed(self) -> int:
        """The number of the visible version; 0 before there is one."""
        return self.number - 1

    def with_end(self, partition: Partition, end_of_version: EndOfVersion) -> "SideInputVersion":
        """The version after the end of a partition from one more upstream task."""
        upstreams = self.ended_upstreams.get(partition, frozenset()) | {end_of_version.upstream}
        ended_partitions = (
            self.ended | {partition} if len(upstreams) >= end_of_version.upstreams else self.ended
        )
        ended_upstreams = {**self.ended_upstreams, partition: upstreams}
        is_abandoned = self.is_abandoned or end_of_version.is_abandoned
        return SideInputVersion(self.number, ended_upstreams, ended_partitions, is_abandoned)

    def whole(self, partitions: Collection[Partition]) -> bool:
        """True if the version has ended in all partitions."""
        return bool(partitions) and self.ended.issuperset(partitions)

    def following(self) -> "SideInputVersion":
        """The next version, still empty: of one that was abandoned the same again."""
        return SideInputVersion(self.number if self.is_abandoned else self.number + 1)

    def text(self) -> str:
        """The text that a store's mark holds."""
        ended_upstreams = {
            str(partition): sorted(names) for partition, names in sorted(self.ended_upstreams.items())
        }
        ended_partitions = [str(partition) for partition in sorted(self.ended)]
        fields = {"number": self.number, "said": ended_upstreams, "ended": ended_partitions}
        return json.dumps(fields | ({"abandoned": True} if self.is_abandoned else {}))

    @classmethod
    def parse(cls, text: str) -> "SideInputVersion | None":
        """The version from the text of a mark; the first for an empty text, None for an unreadable one.

        A later program's text has a format. What cannot be read is filled again, and never guessed.
        """
        if not text:
            return cls()
        try:
            fields = json.loads(text)
            version = SIDE_INPUT_VERSION.version_within(fields.get("format"))
            if isinstance(version, VersionRefusal):
                return None
            ended_upstreams = {
                Partition.parse(name): frozenset(names) for name, names in fields["said"].items()
            }
            ended_partitions = frozenset(map(Partition.parse, fields["ended"]))
            is_abandoned = bool(fields.get("abandoned", False))
            return cls(int(fields["number"]), ended_upstreams, ended_partitions, is_abandoned)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None
