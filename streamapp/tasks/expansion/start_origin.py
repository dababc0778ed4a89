"""The position at which reading begins in a partition of which no task has read anything."""

from enum import StrEnum

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition


class StartOrigin(StrEnum):
    """The position at which reading begins in a partition that was never read."""

    OLDEST = "oldest"
    AS_SET = "asSet"  # what the stream's start setting says


def start_origin(partition: Partition, layout: Layout) -> StartOrigin:
    """The origin of a partition; a partition of a growth is read from its oldest record."""
    stream_layout = layout.streams.get(partition.stream)
    return (
        StartOrigin.OLDEST
        if stream_layout is not None and partition.index >= stream_layout.first
        else StartOrigin.AS_SET
    )
