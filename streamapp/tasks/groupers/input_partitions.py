"""The partitions of today: those that one task owns, and those that every task reads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class InputPartitions:
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


def input_partitions(
    streams: Mapping[str, Sequence[int]], broadcast: Collection[str | Partition]
) -> InputPartitions:
    """The partitions of the streams, parted into keyed and broadcast ones."""
    keyed: dict[str, Sequence[int]] = {}
    counts: dict[str, int] = {}
    everywhere: list[Partition] = []
    whole = {name for name in broadcast if isinstance(name, str)}
    single = {one for one in broadcast if isinstance(one, Partition)}
    for stream in sorted(streams):
        indexes = _in_order(streams[stream])
        mine = {one.index for one in single if one.stream == stream}
        if stream in whole:
            mine.update(indexes)
        everywhere += [Partition(stream, index) for index in indexes if index in mine] if mine else []
        rest = [index for index in indexes if index not in mine] if mine else indexes
        if rest:
            keyed[stream] = rest
        counts[stream] = indexes[-1] + 1 if indexes else 0
    return InputPartitions(keyed, tuple(everywhere), counts)


def _in_order(indexes: Sequence[int]) -> Sequence[int]:
    return indexes if isinstance(indexes, range) and indexes.step == 1 else sorted(set(indexes))
