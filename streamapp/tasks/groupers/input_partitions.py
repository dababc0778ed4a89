"""The current partitions: keyed ones, which one task owns, and broadcast ones, which every task reads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class InputPartitions:
    """The partitions to read, in order of streams and indexes."""

    keyed: Mapping[str, Sequence[int]]  # by stream; only streams with keyed partitions
    broadcast: tuple[Partition, ...]
    counts: Mapping[str, int]  # of all streams: the highest index + 1, so that gaps count

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
    """The partitions of the streams, divided into keyed and broadcast ones."""
    keyed: dict[str, Sequence[int]] = {}
    counts: dict[str, int] = {}
    broadcast_partitions: list[Partition] = []
    broadcast_streams = {name for name in broadcast if isinstance(name, str)}
    broadcast_single = {partition for partition in broadcast if isinstance(partition, Partition)}
    for stream in sorted(streams):
        indexes = _sorted_indexes(streams[stream])
        broadcast_indexes = {partition.index for partition in broadcast_single if partition.stream == stream}
        if stream in broadcast_streams:
            broadcast_indexes.update(indexes)
        broadcast_partitions += (
            [Partition(stream, index) for index in indexes if index in broadcast_indexes]
            if broadcast_indexes
            else []
        )
        keyed_indexes = (
            [index for index in indexes if index not in broadcast_indexes] if broadcast_indexes else indexes
        )
        if keyed_indexes:
            keyed[stream] = keyed_indexes
        counts[stream] = indexes[-1] + 1 if indexes else 0
    return InputPartitions(keyed, tuple(broadcast_partitions), counts)


def _sorted_indexes(indexes: Sequence[int]) -> Sequence[int]:
    return indexes if isinstance(indexes, range) and indexes.step == 1 else sorted(set(indexes))
