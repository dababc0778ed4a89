"""Keeps the order of keys across the growth of a stream: what came with it opens when the older is read.

Until producers have settled on the new count nobody knows where the older records of a key end. Then the
ends of the old partitions are taken and written with the state, and a new partition is read as soon as its
task is past them.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from streamapp.tasks.expansion.split_waits import SplitWait, split_waits
from streamapp.tasks.layouts.split import Split, is_split_due, settle_split
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.inputs.unread_partitions import UNREAD_SECONDS, UnreadPartition
from streamapp_runtime.systems.app_systems import Systems


def settle_splits(
    ledger: CheckpointStream, systems: Systems, now: float, delay: float, silent: Collection[str] = ()
) -> tuple[Split, ...]:
    """Take the ends of old partitions whose time has come, none of `silent` streams; all splits."""
    layout = ledger.layout
    if layout is None or not layout.splits:
        return ()
    due = [one for one in layout.splits if one.stream not in silent and is_split_due(one, now, delay)]
    if due:
        known = {split: settle_split(split, _ends(split, systems)) for split in due}
        ledger.remember(replace(layout, splits=tuple(known.get(one, one) for one in layout.splits)))
    return ledger.layout.splits if ledger.layout else ()


def closed_partitions(
    pending: Iterable[PendingRange],
    tasks: Mapping[str, tuple[Partition, ...]],
    positions: Mapping[tuple[str, Partition], int],
    splits: tuple[Split, ...],
) -> dict[tuple[str, Partition], tuple[SplitWait, ...]]:
    """The partitions that may not be read yet, by task: what has to be read before."""
    if not splits:
        return {}
    read: dict[str, dict[Partition, int]] = {}
    for (task, partition), position in positions.items():
        read.setdefault(task, {})[partition] = position
    waits = {
        (one.task, one.partition): split_waits(one.partition, tasks[one.task], splits, read.get(one.task, {}))
        for one in pending
    }
    return {reader: of_reader for reader, of_reader in waits.items() if of_reader}


def endless_waits(
    closed: Mapping[tuple[str, Partition], tuple[SplitWait, ...]],
    pending: Iterable[PendingRange],
    splits: Iterable[Split],
    now: float,
    delay: float,
) -> list[UnreadPartition]:
    """The closed partitions that nothing opens: what they wait for has no records left, or is never known."""
    readers = {(one.task, one.partition) for one in pending}
    settling = {
        split.stream for split in splits if split.seen_at <= now <= split.seen_at + delay + UNREAD_SECONDS
    }
    return [
        UnreadPartition(task, partition, _wait_text(endless[0]))
        for (task, partition), waits in closed.items()
        if (
            endless := [
                wait
                for wait in waits
                if (
                    partition.stream not in settling
                    if wait.until is None
                    else (task, wait.partition) not in readers
                )
            ]
        )
    ]


def _wait_text(wait: SplitWait) -> str:
    if wait.until is None:
        return f"waits for where {wait.partition} ended when {wait.partition.stream} grew"
    return f"waits for {wait.partition} to be read up to {wait.until}, and it ends before that"


def _ends(split: Split, systems: Systems) -> dict[Partition, int]:
    before = [Partition(split.stream, index) for index in range(split.before)]
    return {partition: span.end for partition, span in systems.spans(before).items()}
