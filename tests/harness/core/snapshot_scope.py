"""Over what a table is one snapshot of its streams."""

from enum import StrEnum


class SnapshotScope(StrEnum):
    """Rows that see the same state of a table."""

    CONTAINER = "container"  # all rows of a processor
    TASK = "task"  # the rows of one task


def snapshot_scope(streams: int) -> SnapshotScope:
    """One stream is read in its order. Of several, each task has its own parts, at its own pace."""
    return SnapshotScope.CONTAINER if streams == 1 else SnapshotScope.TASK
