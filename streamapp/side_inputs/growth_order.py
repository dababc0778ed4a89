"""In which order the partitions of a grown stream fill a table that is made anew.

A key that moved with the growth has its older records in an older partition: were the newer one read first,
an old value would stay.
"""

from collections.abc import Collection, Mapping

from streamapp.tasks.partition import Partition


def waits_for_older(
    partition: Partition,
    ends: Mapping[Partition, int],
    contained: Mapping[Partition, int],
    first: int,
    ahead: Collection[str] = (),
) -> bool:
    """Whether a partition is not read yet, since an older one has not reached its end at the start.

    `first` is how many partitions the stream had at first: those never wait. `contained` is of one task.
    Who is `ahead` of its version is itself not read on until the others have ended theirs.
    """
    older = (p for p in contained if p.stream == partition.stream and p.index < partition.index)
    behind = (p for p in older if contained[p] < ends.get(p, 0) and str(p) not in ahead)
    return partition.index >= first and any(behind)
