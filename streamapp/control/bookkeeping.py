"""The books of control messages in a task's checkpoint: all that was heard, told and sent, or what changed.

Taken with the outputs of a batch, restored before the next: nothing is told or written twice, and no word
that was read is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from streamapp.control.control_reader import ControlReader
from streamapp.control.control_sender import LastSent
from streamapp.control.upstream import UpstreamProgress
from streamapp.tasks.partition import Partition

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """One task's books. What its partitions have heard goes with them to whichever task reads them next."""

    at: int  # when it was taken
    partitions: Mapping[Partition, UpstreamProgress] = field(default_factory=dict)
    emitted: Mapping[str, int] = field(default_factory=dict)  # stream -> watermark that the task was told
    sent: Mapping[str, LastSent] = field(default_factory=dict)  # intermediate stream -> what it wrote last
    whole: bool = True  # False: only what differs from the books before


def take_bookkeeping(reader: ControlReader, sent: Mapping[str, LastSent], now: int) -> Bookkeeping:
    """The books as they stand, apart from what changes from here on."""
    partitions = {
        Partition(name, index): upstream.copy()
        for name, stream in reader.streams.items()
        for index, upstream in stream.partitions.items()
    }
    emitted = {name: watermark for name, watermark in reader.watermarks().items() if watermark is not None}
    return Bookkeeping(now, partitions, emitted, dict(sent))


def bookkeeping_changes(before: Bookkeeping, after: Bookkeeping) -> Bookkeeping:
    """The entries that differ, or all of them where one is gone: that is so only after a new model."""
    gone = (
        before.partitions.keys() - after.partitions.keys()
        or before.emitted.keys() - after.emitted.keys()
        or before.sent.keys() - after.sent.keys()
    )
    if gone:
        return after
    partitions = {
        partition: _new_progress(before.partitions.get(partition), upstream)
        for partition, upstream in after.partitions.items()
        if upstream != before.partitions.get(partition)
    }
    emitted, sent = _differing(before.emitted, after.emitted), _differing(before.sent, after.sent)
    return Bookkeeping(after.at, partitions, emitted, sent, whole=False)


def merge_bookkeeping(before: Bookkeeping, later: Bookkeeping) -> Bookkeeping:
    """The books after changes to them."""
    if later.whole:
        return later
    partitions = {
        partition: _merged_progress(before.partitions.get(partition), upstream)
        for partition, upstream in later.partitions.items()
    }
    return replace(
        before,
        at=later.at,
        partitions={**before.partitions, **partitions},
        emitted={**before.emitted, **later.emitted},
        sent={**before.sent, **later.sent},
    )


def resume_bookkeeping(books: Bookkeeping, now: int) -> Bookkeeping:
    """The books after a pause in which nobody listened: it makes nobody idle."""
    pause = now - books.at
    partitions = {
        partition: replace(
            upstream,
            since=upstream.since + pause,
            spoken=None if upstream.spoken is None else upstream.spoken + pause,
            heard={task: at + pause for task, at in upstream.heard.items()},
        )
        for partition, upstream in books.partitions.items()
    }
    return replace(books, at=now, partitions=partitions)


def _same_model(one: UpstreamProgress, other: UpstreamProgress) -> bool:
    return (one.run, one.model) == (other.run, other.model)


def _new_progress(before: UpstreamProgress | None, after: UpstreamProgress) -> UpstreamProgress:
    """Within one model tasks only come; those that said nothing new are left out."""
    if before is None or not _same_model(before, after):
        return after
    new = _differing(before.reached, after.reached).keys() | _differing(before.heard, after.heard).keys()
    return replace(
        after,
        reached={task: after.reached[task] for task in new},
        heard={task: after.heard[task] for task in new},
    )


def _merged_progress(before: UpstreamProgress | None, later: UpstreamProgress) -> UpstreamProgress:
    if before is None or not _same_model(before, later):
        return later
    return replace(later, reached=before.reached | later.reached, heard=before.heard | later.heard)


def _differing(before: Mapping[K, V], after: Mapping[K, V]) -> dict[K, V]:
    return {key: value for key, value in after.items() if key not in before or before[key] != value}
