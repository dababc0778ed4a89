"""Short words for tests that form tasks: by counts, from an earlier assignment, as texts to compare."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.task_grouping import group_tasks
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal


def asked(
    streams: Mapping[str, int | Sequence[int]], after: Assignment | None = None, **settings: Any
) -> Assignment | Refusal:
    ranges = {name: range(count) if isinstance(count, int) else count for name, count in streams.items()}
    layout = settings.pop("layout", after.layout if after else None)
    return group_tasks(GroupingRequest(ranges, layout=layout, **{"stateful": True, **settings}))


def formed(
    streams: Mapping[str, int | Sequence[int]], after: Assignment | None = None, **settings: Any
) -> Assignment:
    found = asked(streams, after, **settings)
    assert isinstance(found, Assignment), found
    return found


def refused(
    streams: Mapping[str, int | Sequence[int]], after: Assignment | None = None, **settings: Any
) -> Refusal:
    found = asked(streams, after, **settings)
    assert isinstance(found, Refusal), found
    return found


def shown(assignment: Assignment) -> dict[str, str]:
    """Each task's partitions in one text: {"Partition 0": "views#0 views#4"}."""
    return {task: " ".join(map(str, assignment.partitions(task))) for task in assignment.tasks}


def owner(assignment: Assignment, stream: str, index: int) -> str:
    """The only task with a partition."""
    wanted = Partition(stream, index)
    (task,) = [task for task, partitions in assignment.tasks.items() if wanted in partitions]
    return task
