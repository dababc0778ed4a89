"""Event time that tasks take over from others, and new partitions from those that they were split from.

A task's own checkpoint says what its partitions have heard. Where another task has read a partition
further, or a stream has grown, its books come from there: no watermark goes back because tasks were formed
again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from streamapp.control.bookkeeping import Bookkeeping
from streamapp.control.bookkeeping_codec import decode_bookkeeping, encode_bookkeeping
from streamapp.control.upstream import UpstreamProgress
from streamapp.tasks.expansion.split_waits import watermark_source
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import Split
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.checkpoint import Checkpoint, CheckpointUnreadableError


def inherited_bookkeeping(
    tasks: Mapping[str, Collection[Partition]],
    checkpoints: Mapping[str, Checkpoint],
    shared: Collection[Partition],
    layout: Layout | None,
    turn: int,
) -> dict[str, str]:
    """The books that tasks do not have themselves, by task, as they travel; none for most."""
    known = _KnownBookkeeping(checkpoints, turn)
    inherited = {}
    for task, partitions in tasks.items():
        books: dict[Partition, UpstreamProgress] = {}
        for partition in partitions:
            if partition in shared:
                continue
            upstream = known.by_another(task, partition)
            if upstream is None:
                upstream = known.of_parent(partition, partitions, layout.splits if layout else ())
            if upstream is not None:
                books[partition] = upstream
        if books:
            inherited[task] = encode_bookkeeping(Bookkeeping(known.at, books))
    return inherited


class _KnownBookkeeping:
    """The books of all tasks on their partitions in a turn, and the task that has heard most of each."""

    def __init__(self, checkpoints: Mapping[str, Checkpoint], turn: int) -> None:
        self.books = {
            task: _decode_books(task, checkpoint.reached.heard)
            for task, checkpoint in checkpoints.items()
            if checkpoint.reached and checkpoint.reached.turn == turn and checkpoint.reached.heard
        }
        self.at = max((books.at for books in self.books.values()), default=0)
        self._positions = {task: checkpoints[task].positions for task in self.books}
        self._furthest: dict[Partition, str] = {}
        for task, books in sorted(self.books.items()):
            for partition in books.partitions:
                other = self._furthest.get(partition)
                if other is None or self._position(task, partition) > self._position(other, partition):
                    self._furthest[partition] = task
        self._watermarks = {
            one: self.books[owner].partitions[one].watermark for one, owner in self._furthest.items()
        }

    def by_another(self, task: str, partition: Partition) -> UpstreamProgress | None:
        """Progress of a partition to take over; None where the task knows all itself, or nobody anything."""
        owner = self._furthest.get(partition)
        if owner is None:
            return None
        mine = task in self.books and partition in self.books[task].partitions
        if mine and self._position(task, partition) >= self._position(owner, partition):
            return None
        return self.books[owner].partitions[partition]

    def of_parent(
        self, partition: Partition, of_task: Collection[Partition], splits: Sequence[Split]
    ) -> UpstreamProgress | None:
        """The progress with which an unread partition starts; None where it was not split off."""
        source = watermark_source(partition, of_task, splits, self._watermarks)
        if source is None or source == partition:
            return None
        # It has said nothing itself, and continues from where the one stands that it was split from.
        upstream = self.books[self._furthest[source]].partitions[source]
        return replace(upstream.copy(), spoken=None, reached={}, heard={})

    def _position(self, task: str, partition: Partition) -> int:
        return self._positions[task].get(partition, -1)


def _decode_books(task: str, text: str) -> Bookkeeping:
    books = decode_bookkeeping(text)
    if isinstance(books, Refusal):
        raise CheckpointUnreadableError(f"the checkpoint of task {task} cannot be read: {books}")
    return books
