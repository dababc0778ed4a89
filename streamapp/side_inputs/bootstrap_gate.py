"""The bootstrap gate: main inputs wait until a table contains what its streams held at the app's start."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class BootstrapGate:
    """The position that a table has to reach, by partition of the streams with `bootstrap`.

    The gate compares positions and counts no records: the last offset may be a gap or a marker, and records
    written after the start do not move the gate.
    """

    ends: Mapping[Partition, int]

    def waits(self, contained: Mapping[Partition, int], ahead: Collection[str] = ()) -> bool:
        """True if the main inputs have to wait for a store that contains the positions `contained`.

        Partitions `ahead` are not read until the other partitions end their version, which may be never.
        """
        return any(
            contained.get(partition, -1) < end
            for partition, end in self.ends.items()
            if str(partition) not in ahead
        )

    def remaining(self, contained: Mapping[Partition, int], ahead: Collection[str] = ()) -> int:
        """An upper bound of the positions that are still to be passed."""
        return sum(
            max(0, end - contained.get(partition, 0))
            for partition, end in self.ends.items()
            if str(partition) not in ahead
        )


def bootstrap_gate(
    ends_at_start: Mapping[Partition, int], contained: Mapping[Partition, int]
) -> BootstrapGate:
    """The gate of one store: the ends at the start, or the checkpoint's positions where these are greater.

    So a recreated store never shows rows an older state than earlier rows have seen.
    """
    return BootstrapGate({p: max(end, contained.get(p, 0)) for p, end in ends_at_start.items()})
