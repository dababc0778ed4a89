"""The partitions of today: those that one task owns, and those that every task reads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class Inputs:
    """What there is to read, in the order of streams and indexes."""

    keyed: Mapping[str, Sequence[int]]  # by stream; streams without such partitions are not here
    broadcast: tuple[Partition, ...]
    counts: Mapping[str, int]  # of all streams: up to the highest index, so that a hole counts

    @property
    def partitions(self) -> list[Partition]:
        """The keyed partitions."""
        return [Partition(stream, index) for stream, indexes in self.keyed.items() for index in indexes]

    @property
    def keyed_counts(self) -> dict[str, int]:
        """The counts of streams with keyed partitions."""
        return {stream: self.counts[stream] for stream in self.keyed}


def inputs(streams: Mapping[str, Sequence[int]], broadcast: Collection[str | Partition]) -> Inputs:
    """The partitions of the streams, parted into keyed and broadcast ones."""
    keyed: dict[str, Sequence[int]] = {}
    everywhere: list[Partition] = []
    whole = {name for name in broadcast if isinstance(name, str)}
    single = {one for one in broadcast if isinstance(one, Partition)}
    for stream in sorted(streams):
        indexes = sorted(set(streams[stream]))
        mine = {one.index for one in single if one.stream == stream}
        spread = indexes if stream in whole else [index for index in indexes if index in mine]
        everywhere += [Partition(stream, index) for index in spread]
        rest = [index for index in indexes if index not in mine] if mine else indexes
        if rest and stream not in whole:
            keyed[stream] = rest
    counts = {stream: max(indexes, default=-1) + 1 for stream, indexes in streams.items()}
    return Inputs(keyed, tuple(everywhere), counts)
