"""Assigns the partitions of folded streams to the owners of the initial partitions."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

from streamapp.tasks.groupers.fixed_tasks import Fold
from streamapp.tasks.partition import Partition


def partitions_by_owner(
    keyed: Mapping[str, Sequence[int]],
    folds: Mapping[str, Fold],
    owners: Mapping[str, tuple[str | None, ...]],
) -> dict[str, tuple[Partition, ...]]:
    """The partitions of each task, sorted."""
    tasks: dict[str, tuple[Partition, ...]] = {}
    shares_of: dict[
        str, list[tuple[Partition, ...]]
    ] = {}  # of tasks that get from several initial partitions
    for stream, indexes in keyed.items():
        for task, share in zip(owners[stream], _shares(stream, indexes, folds[stream]), strict=True):
            if task is None or not share:
                continue
            if task in tasks:
                shares_of.setdefault(task, [tasks[task]]).append(share)
            else:
                tasks[task] = share
    for task, task_shares in shares_of.items():
        tasks[task] = tuple(sorted(chain.from_iterable(task_shares)))
    return tasks


def _shares(stream: str, indexes: Sequence[int], fold: Fold) -> Iterable[tuple[Partition, ...]]:
    """The partitions that follow each initial partition."""
    partitions = tuple(map(Partition, repeat(stream), indexes))
    if not fold.later and len(indexes) == len(fold.indexes):
        # One slice per owner: for 100,000 partitions a quarter faster than a loop over partitions.
        return (partitions[start :: fold.initial] for start in range(fold.initial))
    shares: list[list[Partition]] = [[] for _ in range(fold.initial)]
    for partition in partitions:
        shares[fold.indexes[partition.index]].append(partition)
    return map(tuple, shares)
