"""What main inputs wait for: that a table contains what its streams held when the app started."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class BootstrapGate:
    """The position that a table has to have reached, by partition of the streams that say bootstrap.

    It goes by positions and never by records seen: the last offset may be a hole or a marker, and what is
    written meanwhile does not move it.
    """

    ends: Mapping[Partition, int]

    def waits(self, contained: Mapping[Partition, int], ahead: Collection[str] = ()) -> bool:
        """Whether the main inputs have to wait for a store that contains so much.

        Partitions that are `ahead` are not read on until others end their version, which may be never.
        """
        return any(contained.get(p, -1) < end for p, end in self.ends.items() if str(p) not in ahead)

    def left(self, contained: Mapping[Partition, int], ahead: Collection[str] = ()) -> int:
        """How many positions are still to be passed, at most."""
        return sum(max(0, end - contained.get(p, 0)) for p, end in self.ends.items() if str(p) not in ahead)


def bootstrap_gate(ends_at_start: Mapping[Partition, int], known: Mapping[Partition, int]) -> BootstrapGate:
    """The gate of one store: the ends at the start, or what the checkpoint says of it where that is more.

    So a store that is made again never shows rows what is older than what rows before them have seen.
    """
    return BootstrapGate({p: max(end, known.get(p, 0)) for p, end in ends_at_start.items()})
