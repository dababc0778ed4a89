"""Conflicts of a model with the state that it would run over. The layout beside the state is right."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from streamapp.spec.reasons import Reason
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

_SHOWN = 5


def layout_conflict(
    stored_layout: Layout | None,
    proposed: Layout,
    tasks: Mapping[str, Collection[Partition]],
    broadcast: Collection[Partition] = (),
) -> Refusal | None:
    """Why a model with this layout and these tasks contradicts the layout kept with the state, if it does."""
    contradictions = _follows(proposed, tasks, frozenset(broadcast))
    if stored_layout is not None:
        contradictions = _chained(_extends(stored_layout, proposed), contradictions)
    first_contradictions = list(islice(contradictions, _SHOWN + 1))
    if not first_contradictions:
        return None
    more = "; and more" if len(first_contradictions) > _SHOWN else ""
    return Refusal(
        Reason.LAYOUT_CONFLICT,
        "jobModel",
        f"the model contradicts the state: {'; '.join(first_contradictions[:_SHOWN])}{more}",
        "run the model that goes with this state, or raise resetNonce to give the state up",
    )


def _chained(*several: Iterable[str]) -> Iterator[str]:
    for differences in several:
        yield from differences


def _extends(stored_layout: Layout, proposed: Layout) -> Iterator[str]:
    """The points in which the proposed layout contradicts the kept one; it may say more."""
    if stored_layout.run != proposed.run:
        yield f"the state is of run {stored_layout.run} and the model of run {proposed.run}"
    if stored_layout.has_state and stored_layout.grouper != proposed.grouper:
        yield f"tasks were formed by {stored_layout.grouper} and are now formed by {proposed.grouper}"
    for stream, stored_stream in sorted(stored_layout.streams.items()):
        if stored_stream.initial:
            yield from _stream_differences(stream, stored_stream, proposed.streams.get(stream))
    for task, number in stored_layout.changelog.items():
        other = proposed.changelog.get(task)
        if other != number:
            yield f"task {task} has changelog partition {number} and would get {_or_none(other)}"


def _stream_differences(
    stream: str, stored_stream: StreamLayout, other: StreamLayout | None
) -> Iterator[str]:
    if other is None or not other.initial:
        yield f"stream {stream} is forgotten"
        return
    if other.initial != stored_stream.initial:
        yield f"{stream} had {stored_stream.initial} partitions when its state began, not {other.initial}"
        return
    if other.last < stored_stream.last:
        yield f"{stream} had {stored_stream.last} partitions and would have {other.last}"
        return
    if (other.owners, other.folds[: len(stored_stream.folds)]) == (stored_stream.owners, stored_stream.folds):
        return
    for index in range(stored_stream.last):
        mine, theirs = stored_stream.owner(index), other.owner(index)
        if mine is not None and mine != theirs:
            yield f"the state of {stream}#{index} is with task {mine}, not with {_or_none(theirs)}"


def _follows(
    layout: Layout, tasks: Mapping[str, Collection[Partition]], broadcast: frozenset[Partition]
) -> Iterator[str]:
    """The assignments that give a task partitions whose state is elsewhere."""
    for task, partitions in tasks.items():
        if task not in layout.changelog:
            yield f"task {task} has no changelog partition"
        for partition in partitions:
            known = layout.streams.get(partition.stream)
            if known is None or partition in broadcast or not known.initial or layout.everywhere:
                continue
            owner = known.owner(partition.index)
            if owner != task:
                yield f"{partition} is given to task {task}, and its state is with {_or_none(owner)}"


def _or_none(value: object) -> str:
    return "none" if value is None else str(value)
