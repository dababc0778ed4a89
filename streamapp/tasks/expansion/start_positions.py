"""From where a task reads a partition, whoever read it before.

Positions are looked up by partition over the checkpoints of all tasks of the run, so that tasks of an app
without state can be formed anew without reading anything twice or not at all.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition


class ReadMark(NamedTuple):
    """How far a partition was read: the next position, and the watermark reached."""

    position: int
    watermark: int | None = None


class StartOrigin(StrEnum):
    """Where reading begins when nobody has read a partition yet."""

    OLDEST = "oldest"
    AS_SET = "asSet"  # what the stream's start setting says


@dataclass(frozen=True, slots=True)
class StartPosition:
    """Where a task begins to read a partition: at a mark, or else at an origin."""

    mark: ReadMark | None
    origin: StartOrigin


def newest_marks(checkpoints: Mapping[str, Mapping[Partition, ReadMark]]) -> dict[Partition, ReadMark]:
    """How far each partition was read by whoever owned it last.

    Several tasks name one partition when it moved between them: each owner began where the one before had
    stopped, so the highest position is the newest.
    """
    newest: dict[Partition, ReadMark] = {}
    for marks in checkpoints.values():
        for partition, mark in marks.items():
            known = newest.get(partition)
            if known is None or _age(mark) > _age(known):
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
    newest = newest_marks(checkpoints)
    return {
        task: {
            **{one: StartPosition(newest.get(one), start_origin(one, layout)) for one in owned},
            **{
                one: StartPosition(checkpoints.get(task, {}).get(one), start_origin(one, layout))
                for one in broadcast
            },
        }
        for task, owned in tasks.items()
    }


def start_origin(partition: Partition, layout: Layout) -> StartOrigin:
    """A partition that came with a growth is read whole: the app was there before its first record."""
    known = layout.streams.get(partition.stream)
    return StartOrigin.OLDEST if known is not None and partition.index >= known.first else StartOrigin.AS_SET


def _age(mark: ReadMark) -> tuple[int, bool, int]:
    return mark.position, mark.watermark is not None, mark.watermark or 0
