"""Assigns tasks to processors by name, as a decision on counts allows, and changes only what has to move."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from streamapp.placement.solver.extra_tasks import PlacementDecision
from streamapp.placement.solver.task_classes import Names, TaskClasses


@dataclass(frozen=True, slots=True)
class NamedAssignment:
    """Every task's processor, and how many tasks stay on their location and processor."""

    processor_of: Mapping[str, str]
    on_location: int
    on_processor: int


def assign_names(
    previous: Mapping[str, str],
    task_classes: TaskClasses,
    decision: PlacementDecision,
    loads: Mapping[str, int],
) -> NamedAssignment:
    """Assign by owner, then by location, then by free places; the decision leaves just enough for each step.

    `previous` holds only tasks that are placed. Of the tasks of one class the first by name stay.
    """
    assignment = _PartialAssignment(previous, loads)
    tasks_at_home = {home: list(tasks) for home, tasks in task_classes.home_only.items()}
    tasks_without_home = list(task_classes.unplaced)
    for (home, owner), tasks in task_classes.owner_elsewhere.items():
        tasks_at_home.setdefault(home, []).extend(
            assignment.keep(tasks, owner, decision.owner_elsewhere[home, owner])
        )
    for owner, tasks in task_classes.owner_only.items():
        tasks_without_home += assignment.keep(tasks, owner, decision.owner_only[owner])
    owner_only_count = assignment.placed_tasks
    for group in task_classes.location_groups:
        for owner in group.processors:
            if group.location and owner in task_classes.at_home:
                other_tasks = assignment.keep(
                    task_classes.at_home[owner], owner, assignment.free_places[owner]
                )
                tasks_at_home.setdefault(group.location, []).extend(other_tasks)
    on_processor = assignment.placed_tasks
    for group in task_classes.location_groups:
        if group.location in tasks_at_home:
            tasks_without_home += assignment.deal(tasks_at_home[group.location], group.processors)
    on_location = assignment.placed_tasks - owner_only_count
    assignment.deal(tasks_without_home, sorted(loads))
    return NamedAssignment(assignment.processor_of, on_location, on_processor)


class _PartialAssignment:
    """The processor of each task so far, and the free places of each processor."""

    def __init__(self, previous: Mapping[str, str], loads: Mapping[str, int]) -> None:
        self.processor_of = dict(previous)
        self.free_places = dict(loads)
        self.placed_tasks = 0

    def keep(self, tasks: Names, owner: str, most_tasks: int) -> Names:
        """Leave the first tasks by name with their owner; returns the others."""
        kept_count = min(most_tasks, len(tasks))
        self.free_places[owner] -= kept_count
        self.placed_tasks += kept_count
        return [] if kept_count == len(tasks) else sorted(tasks)[kept_count:]

    def deal(self, tasks: Iterable[str], processors: Sequence[str]) -> Names:
        """Deal tasks to processors with free places in rounds; returns the tasks left when all are full."""
        ordered_tasks = sorted(tasks)
        dealt_count = 0
        while dealt_count < len(ordered_tasks) and (
            free_processors := [name for name in processors if self.free_places[name]]
        ):
            rounds = min(self.free_places[name] for name in free_processors)
            dealt_tasks = ordered_tasks[dealt_count : dealt_count + rounds * len(free_processors)]
            self.processor_of.update(zip(dealt_tasks, cycle(free_processors), strict=False))
            per_processor, remainder = divmod(len(dealt_tasks), len(free_processors))
            for number, name in enumerate(free_processors):
                self.free_places[name] -= per_processor + (number < remainder)
            dealt_count += len(dealt_tasks)
        self.placed_tasks += dealt_count
        return ordered_tasks[dealt_count:]
