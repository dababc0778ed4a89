"""Start positions: where a task begins to read a partition, whichever task read it before.

Positions are looked up by partition over the checkpoints of all tasks of the run. So an app without state can
form new tasks without reading a record twice or skipping one.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition


class ReadMark(NamedTuple):
    """How far a partition was read: the next position and the watermark."""

    position: int
    watermark: int | None = None


class StartOrigin(StrEnum):
    """Where reading begins for a partition that was never read."""

    OLDEST = "oldest"
    AS_SET = "asSet"  # what the stream's start setting says


@dataclass(frozen=True, slots=True)
class StartPosition:
    """Where a task begins to read a partition: at a mark, or else at an origin."""

    mark: ReadMark | None
    origin: StartOrigin


def newest_marks(checkpoints: Mapping[str, Mapping[Partition, ReadMark]]) -> dict[Partition, ReadMark]:
    """How far each partition was read by its last owner.

    Several checkpoints have a partition that moved between tasks. Each owner began where its predecessor had
    stopped, so the highest position is the newest.
    """
    newest: dict[Partition, ReadMark] = {}
    for marks in checkpoints.values():
        for partition, mark in marks.items():
            previous = newest.get(partition)
            if previous is None or _progress(mark) > _progress(previous):
                newest[partition] = mark
    return newest


def start_positions(
    tasks: Mapping[str, Collection[Partition]],
    broadcast: Collection[Partition],
    checkpoints: Mapping[str, Mapping[Partition, ReadMark]],
    layout: Layout,
) -> dict[str, dict[Partition, StartPosition]]:
    """Where each task begins with each of its partitions.

    A broadcast partition is read by every task for itself, so only the task's own checkpoint counts.
    """
    newest_of = newest_marks(checkpoints)
    return {
        task: {
            **{
                partition: StartPosition(newest_of.get(partition), start_origin(partition, layout))
                for partition in owned
            },
            **{
                partition: StartPosition(
                    checkpoints.get(task, {}).get(partition), start_origin(partition, layout)
                )
                for partition in broadcast
            },
        }
        for task, owned in tasks.items()
    }


def start_origin(partition: Partition, layout: Layout) -> StartOrigin:
    """The origin of a partition; a partition of a growth is read from its oldest record."""
    stream_layout = layout.streams.get(partition.stream)
    return (
        StartOrigin.OLDEST
        if stream_layout is not None and partition.index >= stream_layout.first
        else StartOrigin.AS_SET
    )


def _progress(mark: ReadMark) -> tuple[int, bool, int]:
    return mark.position, mark.watermark is not None, mark.watermark or 0
