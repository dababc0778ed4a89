"""Forms tasks from the current partitions and the remembered layout. A refusal changes nothing."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, repeat

from streamapp.spec.reasons import Reason
from streamapp.tasks.expansion.expansion_algorithm import modulo, shrunk_stream_refusal
from streamapp.tasks.expansion.stream_growth import stream_growths
from streamapp.tasks.groupers import task_names
from streamapp.tasks.groupers.changelog_partitions import changelog_numbers
from streamapp.tasks.groupers.first_owners import first_owners
from streamapp.tasks.groupers.fixed_tasks import Fold, fold_streams, remembered_layout, unfolded_stream
from streamapp.tasks.groupers.grouper import SINGLE_TASK
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.input_partitions import InputPartitions, input_partitions
from streamapp.tasks.layouts.layout import Layout, StreamLayout, owners_of
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

_ONE_PROCESSOR = ("0",)


def single_task(request: GroupingRequest, layout: Layout, inputs: InputPartitions) -> Assignment | Refusal:
    """The only task or, where processors are named, one task for each."""
    processors = _ONE_PROCESSOR if request.processors is None else request.processors
    if not processors:
        return Refusal(
            Reason.NO_PROCESSORS, "processors", "a task for each processor was asked for, and there are none"
        )
    if request.stateful and request.processors is None and len(layout.everywhere) > 1:
        return _several_with_state(layout)
    streams = dict(layout.streams)
    for stream, count in inputs.keyed_counts.items() if request.stateful else ():
        stream_layout = streams[stream]
        if stream_layout.initial and count < stream_layout.last:
            return shrunk_stream_refusal(stream, stream_layout.last, count)
        streams[stream] = StreamLayout(stream_layout.first, count, stream_layout.initial or count)
    grown = stream_growths(layout, inputs.keyed_counts, modulo, request.now) if request.stateful else ()
    task_ids = _task_names(request, layout, processors) if inputs.keyed else ()
    partitions = tuple(inputs.partitions)
    is_only_task = len(task_ids) == 1
    return Assignment(
        tasks=dict.fromkeys(task_ids, partitions if is_only_task else ()),
        broadcast=inputs.broadcast if is_only_task else tuple(sorted((*partitions, *inputs.broadcast))),
        layout=replace(
            layout,
            streams=streams,
            everywhere=task_ids if request.stateful else layout.everywhere,
            splits=layout.splits + grown,
            changelog=changelog_numbers(layout.changelog, task_ids),
        ),
        grown=grown,
    )


def _several_with_state(layout: Layout) -> Refusal:
    """The refusal of state that was formed by a task for each processor: its rows came out several times."""
    return Refusal(
        Reason.GROUPER_CHANGED,
        "spec.grouper",
        f"its state was formed by {len(layout.everywhere)} tasks that each read everything, and wrote every "
        f"row {len(layout.everywhere)} times; one task is formed now",
        "raise resetNonce to give the state up",
    )


def _task_names(request: GroupingRequest, layout: Layout, processors: tuple[str, ...]) -> tuple[str, ...]:
    """The remembered names if their number fits, since a name is the address of state; else new ones."""
    if request.stateful and len(layout.everywhere) == len(processors):
        return layout.everywhere
    return tuple(task_names.of_processor(processor) for processor in processors)


def partitions_by_owner(
    keyed: Mapping[str, Sequence[int]],
    folds: Mapping[str, Fold],
    owners: Mapping[str, tuple[str | None, ...]],
) -> dict[str, tuple[Partition, ...]]:
    """The partitions of each task, sorted."""
    tasks: dict[str, tuple[Partition, ...]] = {}
    shares_of: dict[
        str, list[tuple[Partition, ...]]
    ] = {}  # of tasks that get from several initial partitions
    for stream, indexes in keyed.items():
        for task, share in zip(owners[stream], _shares(stream, indexes, folds[stream]), strict=True):
            if task is None or not share:
                continue
            if task in tasks:
                shares_of.setdefault(task, [tasks[task]]).append(share)
            else:
                tasks[task] = share
    for task, task_shares in shares_of.items():
        tasks[task] = tuple(sorted(chain.from_iterable(task_shares)))
    return tasks


def _shares(stream: str, indexes: Sequence[int], fold: Fold) -> Iterable[tuple[Partition, ...]]:
    """The partitions that follow each initial partition."""
    partitions = tuple(map(Partition, repeat(stream), indexes))
    if not fold.later and len(indexes) == len(fold.indexes):
        # One slice per owner: for 100,000 partitions a quarter faster than a loop over partitions.
        return (partitions[start :: fold.initial] for start in range(fold.initial))
    shares: list[list[Partition]] = [[] for _ in range(fold.initial)]
    for partition in partitions:
        shares[fold.indexes[partition.index]].append(partition)
    return map(tuple, shares)


def join_across_tasks(
    copartition_groups: Collection[Collection[str]], streams: Mapping[str, StreamLayout]
) -> Refusal | None:
    """A refusal of the first two joined streams whose keys belong to different tasks."""
    for group in copartition_groups:
        joined_streams = sorted(stream for stream in group if stream in streams)
        for first, second in pairwise(joined_streams):
            difference = _owner_difference(first, streams[first], second, streams[second])
            if difference:
                return Refusal(
                    Reason.JOIN_PARTITION_MISMATCH,
                    second,
                    f"it is joined with {first}, and {difference}, so their keys would not meet",
                    f"repartition {second} by the join's key first",
                )
    return None


def _owner_difference(
    first: str, first_layout: StreamLayout, second: str, second_layout: StreamLayout
) -> str | None:
    if first_layout.initial != second_layout.initial:
        second_count, first_count = second_layout.initial, first_layout.initial
        return f"keys are spread over {second_count} tasks' partitions here and over {first_count} there"
    for index, (first_owner, second_owner) in enumerate(
        zip(first_layout.owners, second_layout.owners, strict=True)
    ):
        # A partition without an owner yet, broadcast or absent, separates no keys.
        if first_owner != second_owner and first_owner is not None and second_owner is not None:
            return f"{first}#{index} belongs to {first_owner} and {second}#{index} to {second_owner}"
    return None


def group_tasks(request: GroupingRequest) -> Assignment | Refusal:
    """The current tasks and the layout to remember, or the refusal."""
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
    inputs = input_partitions(request.streams, request.broadcast)
    if inputs.broadcast and not inputs.keyed:
        return _no_tasks(inputs)
    layout = replace(layout, streams=_seen_layouts(layout.streams, inputs.counts))
    if request.grouper == SINGLE_TASK:
        return single_task(request, layout, inputs)
    return (
        _group_stateful(request, layout, inputs)
        if request.stateful
        else _group_stateless(request, layout, inputs)
    )


def _no_tasks(inputs: InputPartitions) -> Refusal:
    """The refusal of inputs that all go to every task: a task is formed for the partitions that it owns."""
    return Refusal(
        Reason.NO_TASKS,
        "spec.broadcastInputs",
        f"all inputs ({', '.join(sorted(inputs.counts))}) go to every task, and no task has "
        "its own partition, so there would be no task at all",
        "leave an input out that can be divided among tasks",
    )


def _group_stateless(
    request: GroupingRequest, layout: Layout, inputs: InputPartitions
) -> Assignment | Refusal:
    """Form tasks without state: no key is tied to a task, so the grouper decides on all partitions."""
    folds = {stream: unfolded_stream(count) for stream, count in inputs.keyed_counts.items()}
    owners = _owners(request, {}, inputs, folds)
    if isinstance(owners, Refusal):
        return owners
    tasks = partitions_by_owner(inputs.keyed, folds, owners)
    return Assignment(tasks, inputs.broadcast, _with_changelog(layout, tasks))


def _group_stateful(
    request: GroupingRequest, layout: Layout, inputs: InputPartitions
) -> Assignment | Refusal:
    """Form tasks with state: the layout decides, and the grouper only on partitions without an owner."""
    folds = fold_streams(request, layout, inputs.keyed_counts)
    if isinstance(folds, Refusal):
        return folds
    owners = _owners(request, layout.streams, inputs, folds)
    if isinstance(owners, Refusal):
        return owners
    remembered = {
        stream: remembered_layout(layout.streams[stream], fold, owners[stream])
        for stream, fold in folds.items()
    }
    refusal = join_across_tasks(request.copartition_groups, remembered)
    if refusal:
        return refusal
    tasks = partitions_by_owner(inputs.keyed, folds, owners)
    grown = stream_growths(layout, inputs.keyed_counts, request.algorithm, request.now)
    layout = replace(layout, streams={**layout.streams, **remembered}, splits=layout.splits + grown)
    return Assignment(tasks, inputs.broadcast, _with_changelog(layout, tasks), grown)


def _owners(
    request: GroupingRequest,
    stream_layouts: Mapping[str, StreamLayout],
    inputs: InputPartitions,
    folds: Mapping[str, Fold],
) -> dict[str, tuple[str | None, ...]] | Refusal:
    """The task of each initial partition in use, by stream: the remembered task, else the grouper's."""
    has_user_grouper = request.grouper.user_function is not None
    unowned = [
        Partition(stream, initial)
        for stream, indexes in inputs.keyed.items()
        for initial in _initial_indexes_in_use(indexes, folds[stream])
        if has_user_grouper or folds[stream].owners[initial] is None
    ]
    new_owners = first_owners(request.grouper, unowned, owners_of(stream_layouts) if has_user_grouper else {})
    if isinstance(new_owners, Refusal):
        return new_owners
    new_owners_by_stream: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for (stream, index), task in new_owners.items():
        new_owners_by_stream[stream][index] = task
    return {
        stream: _completed_owners(fold.owners, new_owners_by_stream.get(stream, {}))
        for stream, fold in folds.items()
    }


def _initial_indexes_in_use(indexes: Sequence[int], fold: Fold) -> Sequence[int]:
    if len(indexes) == len(fold.indexes):
        return range(fold.initial)
    return sorted({fold.indexes[index] for index in indexes})


def _completed_owners(
    owners: tuple[str | None, ...], new_owners: Mapping[int, str]
) -> tuple[str | None, ...]:
    if not new_owners:
        return owners
    return tuple(new_owners.get(index) if owner is None else owner for index, owner in enumerate(owners))


def _seen_layouts(streams: Mapping[str, StreamLayout], counts: Mapping[str, int]) -> dict[str, StreamLayout]:
    """The remembered layouts, with the current counts of streams on which no state depends."""
    seen_layouts = dict(streams)
    for stream, count in counts.items():
        stream_layout = seen_layouts.get(stream, StreamLayout(first=count, last=count))
        seen_layouts[stream] = stream_layout if stream_layout.initial else replace(stream_layout, last=count)
    return seen_layouts


def _with_changelog(layout: Layout, tasks: Collection[str]) -> Layout:
    return replace(layout, changelog=changelog_numbers(layout.changelog, tasks))
