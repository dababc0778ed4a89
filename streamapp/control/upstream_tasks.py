"""The tasks that write to an intermediate stream: those that own a partition of a source that reaches it."""

from collections.abc import Collection, Iterable, Mapping

from streamapp.tasks.partition import Partition


def reading_tasks(assignment: Mapping[str, Iterable[Partition]]) -> dict[str, set[str]]:
    """For each stream the tasks that own a partition of it, broadcast ones included."""
    tasks_by_stream: dict[str, set[str]] = {}
    for task, partitions in assignment.items():
        for partition in partitions:
            tasks_by_stream.setdefault(partition.stream, set()).add(task)
    return tasks_by_stream


def upstream_tasks(
    reaching: Mapping[str, Collection[str]], readers: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    """For each intermediate stream its upstream tasks, each of which writes to all of its partitions."""
    return {
        stream: tuple(sorted({task for source in sources for task in readers.get(source, ())}))
        for stream, sources in reaching.items()
    }
