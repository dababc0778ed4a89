"""Keeps the order of keys across the growth of a stream: what came with it opens when the older is read.

Until producers have settled on the new count nobody knows where the older records of a key end. Then the
ends of the old partitions are taken and written with the state, and a new partition is read as soon as its
task is past them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from streamapp.tasks.expansion.split_waits import split_waits
from streamapp.tasks.layouts.split import Split, is_split_due, settle_split
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.systems.stream_system import StreamSystem


def settle_splits(
    ledger: CheckpointStream, system: StreamSystem, topics: Mapping[str, str], now: float, delay: float
) -> tuple[Split, ...]:
    """Take the ends of old partitions whose time has come; all splits that there are."""
    layout = ledger.layout
    if layout is None or not layout.splits:
        return ()
    due = [split for split in layout.splits if is_split_due(split, now, delay)]
    if due:
        known = {split: settle_split(split, _ends(split, system, topics)) for split in due}
        ledger.remember(replace(layout, splits=tuple(known.get(one, one) for one in layout.splits)))
    return ledger.layout.splits if ledger.layout else ()


def past_splits(
    pending: Iterable[PendingRange],
    tasks: Mapping[str, tuple[Partition, ...]],
    positions: Mapping[tuple[str, Partition], int],
    splits: tuple[Split, ...],
) -> list[PendingRange]:
    """The demands of partitions that may be read: their task is past all that has to come before."""
    if not splits:
        return list(pending)
    read: dict[str, dict[Partition, int]] = {}
    for (task, partition), position in positions.items():
        read.setdefault(task, {})[partition] = position
    return [
        demand
        for demand in pending
        if not split_waits(demand.partition, tasks[demand.task], splits, read.get(demand.task, {}))
    ]


def _ends(split: Split, system: StreamSystem, topics: Mapping[str, str]) -> dict[Partition, int]:
    asked = {
        Partition(topics.get(split.stream, split.stream), index): Partition(split.stream, index)
        for index in range(split.before)
    }
    return {asked[partition]: span.end for partition, span in system.spans(asked).items()}
