"""The order in which the partitions of a grown stream fill a recreated table.

A key that moved with the growth has its older records in an older partition. If the newer partition were
read first, an old value would remain.
"""

from collections.abc import Collection, Mapping

from streamapp.tasks.partition import Partition


def waits_for_older(
    partition: Partition,
    ends: Mapping[Partition, int],
    contained: Mapping[Partition, int],
    initial_count: int,
    ahead: Collection[str] = (),
) -> bool:
    """True if a partition waits for an older partition that has not reached its end at the start.

    `initial_count` is the stream's first partition count: these partitions never wait. `contained` holds the
    positions of one task. A partition `ahead` is not read until the others have ended their version.
    """
    older_partitions = (p for p in contained if p.stream == partition.stream and p.index < partition.index)
    unfinished = (p for p in older_partitions if contained[p] < ends.get(p, 0) and str(p) not in ahead)
    return partition.index >= initial_count and any(unfinished)
