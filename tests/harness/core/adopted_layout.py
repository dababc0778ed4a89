"""A layout for tasks that were formed elsewhere and of which only the partitions are known."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from streamapp.tasks.groupers.grouper import SINGLE_TASK, Grouper
from streamapp.tasks.groupers.input_partitions import input_partitions
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.partition import Partition


def adopted_layout(
    tasks: Mapping[str, Collection[Partition]],
    grouper: Grouper,
    broadcast: Collection[str | Partition] = (),
    changelog: Mapping[str, int] | None = None,
    run: str = "",
) -> Layout:
    """The layout under which these tasks hold their state; their names are kept as they are."""
    owners = {partition: task for task, partitions in tasks.items() for partition in partitions}
    indexes_by_stream: defaultdict[str, list[int]] = defaultdict(list)
    for partition in owners:
        indexes_by_stream[partition.stream].append(partition.index)
    inputs = input_partitions(indexes_by_stream, broadcast)
    is_single_task = grouper == SINGLE_TASK
    streams: dict[str, StreamLayout] = {}
    for stream, count in inputs.counts.items():
        if stream not in inputs.keyed:
            streams[stream] = StreamLayout(first=count, last=count)
        elif is_single_task:
            streams[stream] = StreamLayout(first=count, last=count, initial=count)
        else:
            keyed = {index: owners[Partition(stream, index)] for index in inputs.keyed[stream]}
            initial = _initial(keyed, count)
            of_initial = tuple(keyed.get(index) for index in range(initial))
            streams[stream] = StreamLayout(initial, count, initial, of_initial)
    task_names = tuple(tasks) if is_single_task else ()
    return Layout(run, grouper.name, streams, dict(changelog or {}), task_names)


def _initial(owners: Mapping[int, str], count: int) -> int:
    """A stream that has grown already shows it: it has fewer tasks than partitions, in turns."""
    tasks = len(set(owners.values()))
    in_turns = all(owners.get(index % tasks) == task for index, task in owners.items())
    return tasks if count % tasks == 0 and in_turns else count
