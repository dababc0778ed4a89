"""Forms tasks: who owns which partition today, given what is remembered. A refusal changes nothing."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from streamapp.spec.reasons import Reason
from streamapp.tasks.expansion.stream_growth import stream_growths
from streamapp.tasks.groupers.changelog_partitions import changelog_numbers
from streamapp.tasks.groupers.colocation import join_across_tasks
from streamapp.tasks.groupers.first_owners import first_owners
from streamapp.tasks.groupers.fixed_tasks import Fold, fold_streams, remembered_layout, unfolded_stream
from streamapp.tasks.groupers.grouper import SINGLE_TASK
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.input_partitions import InputPartitions, input_partitions
from streamapp.tasks.groupers.partition_shares import partitions_by_owner
from streamapp.tasks.groupers.single_task import single_task
from streamapp.tasks.layouts.layout import Layout, StreamLayout, owners_of
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal


def group_tasks(request: GroupingRequest) -> Assignment | Refusal:
    """The tasks of today and the layout to remember, or why there are none."""
    layout = request.layout or Layout(request.run, request.grouper.name)
    if request.stateful and layout.has_state and layout.grouper != request.grouper.name:
        return Refusal(
            Reason.GROUPER_CHANGED,
            "spec.grouper",
            f"tasks with state were formed by {layout.grouper}, and {request.grouper.name} would form others",
            f"go back to {layout.grouper}, or raise resetNonce to give the state up",
        )
    if not layout.has_state:
        layout = replace(layout, grouper=request.grouper.name)
    found = input_partitions(request.streams, request.broadcast)
    layout = replace(layout, streams=_seen(layout.streams, found.counts))
    if request.grouper == SINGLE_TASK:
        return single_task(request, layout, found)
    return _stateful(request, layout, found) if request.stateful else _stateless(request, layout, found)


def _stateless(request: GroupingRequest, layout: Layout, found: InputPartitions) -> Assignment | Refusal:
    """Keys are tied to nothing: the grouper decides anew every time."""
    folds = {stream: unfolded_stream(count) for stream, count in found.keyed_counts.items()}
    owners = _owners(request, {}, found, folds)
    if isinstance(owners, Refusal):
        return owners
    tasks = partitions_by_owner(found.keyed, folds, owners)
    return Assignment(tasks, found.broadcast, _with_changelog(layout, tasks))


def _stateful(request: GroupingRequest, layout: Layout, found: InputPartitions) -> Assignment | Refusal:
    """Keys are tied to tasks: what is remembered decides, and the grouper only about the rest."""
    folds = fold_streams(request, layout, found.keyed_counts)
    if isinstance(folds, Refusal):
        return folds
    owners = _owners(request, layout.streams, found, folds)
    if isinstance(owners, Refusal):
        return owners
    kept = {
        stream: remembered_layout(layout.streams[stream], fold, owners[stream])
        for stream, fold in folds.items()
    }
    refusal = join_across_tasks(request.copartition_groups, kept)
    if refusal:
        return refusal
    tasks = partitions_by_owner(found.keyed, folds, owners)
    grown = stream_growths(layout, found.keyed_counts, request.algorithm, request.now)
    layout = replace(layout, streams={**layout.streams, **kept}, splits=layout.splits + grown)
    return Assignment(tasks, found.broadcast, _with_changelog(layout, tasks), grown)


def _owners(
    request: GroupingRequest,
    known: Mapping[str, StreamLayout],
    found: InputPartitions,
    folds: Mapping[str, Fold],
) -> dict[str, tuple[str | None, ...]] | Refusal:
    """The task of each initial partition in use, by stream: the remembered one or else the grouper's."""
    own = request.grouper.own is not None
    asked = [
        Partition(stream, initial)
        for stream, indexes in found.keyed.items()
        for initial in _in_use(indexes, folds[stream])
        if own or folds[stream].owners[initial] is None
    ]
    given = first_owners(request.grouper, asked, owners_of(known) if own else {})
    if isinstance(given, Refusal):
        return given
    missing: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for (stream, index), task in given.items():
        missing[stream][index] = task
    return {stream: _completed(fold.owners, missing.get(stream, {})) for stream, fold in folds.items()}


def _in_use(indexes: Sequence[int], fold: Fold) -> Sequence[int]:
    if len(indexes) == len(fold.indexes):
        return range(fold.initial)
    return sorted({fold.indexes[index] for index in indexes})


def _completed(owners: tuple[str | None, ...], given: Mapping[int, str]) -> tuple[str | None, ...]:
    if not given:
        return owners
    return tuple(given.get(index) if owner is None else owner for index, owner in enumerate(owners))


def _seen(streams: Mapping[str, StreamLayout], counts: Mapping[str, int]) -> dict[str, StreamLayout]:
    """What is remembered, with the counts of today for streams on which no state depends."""
    seen = dict(streams)
    for stream, count in counts.items():
        known = seen.get(stream, StreamLayout(first=count, last=count))
        seen[stream] = known if known.initial else replace(known, last=count)
    return seen


def _with_changelog(layout: Layout, tasks: Collection[str]) -> Layout:
    return replace(layout, changelog=changelog_numbers(layout.changelog, tasks))
