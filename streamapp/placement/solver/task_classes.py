"""Sorts tasks into classes by home and owner, so that the solver works on classes and not on tasks.

A task's home is its recorded location, if a processor is there. Its owner is its previous processor, if that
processor still exists. A location without processors and a removed processor keep no task.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

Names = list[str]


@dataclass(frozen=True, slots=True, eq=False)
class LocationGroup:
    """The processors that share a location. One whose location is unknown is alone, and no task's home."""

    processors: tuple[str, ...]  # by name
    location: str | None = None
    tasks: int = 0  # number of tasks whose home this location is


@dataclass(frozen=True, slots=True, eq=False)
class TaskClasses:
    """The location groups, and the tasks by home and owner; each list is in no particular order."""

    location_groups: tuple[LocationGroup, ...]
    at_home: Mapping[str, Names]  # by owner; the owner is at the tasks' home
    owner_only: Mapping[str, Names]  # by owner; the tasks have no home
    owner_elsewhere: Mapping[tuple[str, str], Names]  # by home and owner; the owner is elsewhere
    home_only: Mapping[str, Names]  # by home; the tasks have no owner
    unplaced: Names  # neither home nor owner
    with_location: int  # number of tasks with a recorded location, removed ones included
    with_owner: int  # number of tasks with a previous processor, removed ones included


def classify_tasks(
    tasks: Collection[str],
    task_locality: Mapping[str, str | None],
    processor_locality: Mapping[str, str | None],
    previous: Mapping[str, str],
) -> TaskClasses:
    """Classify all tasks in one pass; only the name assignment passes over all tasks again."""
    locations = list(map(task_locality.get, tasks))
    owners = list(map(previous.get, tasks))
    classes: defaultdict[tuple[str | None, str | None], Names] = defaultdict(list)
    for task, location, owner in zip(tasks, locations, owners, strict=True):
        classes[location, owner].append(task)

    live_locations = {location for location in processor_locality.values() if location}
    at_home: defaultdict[str, Names] = defaultdict(list)
    owner_only: defaultdict[str, Names] = defaultdict(list)
    owner_elsewhere: defaultdict[tuple[str, str], Names] = defaultdict(list)
    home_only: defaultdict[str, Names] = defaultdict(list)
    unplaced: Names = []
    home_counts: Counter[str] = Counter()
    with_location = with_owner = 0
    for (home, previous_owner), names in classes.items():
        with_location += len(names) if home else 0
        with_owner += len(names) if previous_owner is not None else 0
        owner = previous_owner if previous_owner in processor_locality else None
        if home and home in live_locations:
            home_counts[home] += len(names)
            if owner is None:
                home_only[home] += names
            elif processor_locality[owner] == home:
                at_home[owner] += names
            else:
                owner_elsewhere[home, owner] += names
        elif owner is None:
            unplaced += names
        else:
            owner_only[owner] += names
    return TaskClasses(
        _location_groups(processor_locality, home_counts),
        at_home,
        owner_only,
        owner_elsewhere,
        home_only,
        unplaced,
        with_location,
        with_owner,
    )


def _location_groups(
    processor_locality: Mapping[str, str | None], home_counts: Mapping[str, int]
) -> tuple[LocationGroup, ...]:
    processors_at: defaultdict[str, Names] = defaultdict(list)
    without_location = []
    for name in sorted(processor_locality):
        location = processor_locality[name]
        if location:
            processors_at[location].append(name)
        else:
            without_location.append(LocationGroup((name,)))
    shared = [
        LocationGroup(tuple(processors_at[location]), location, home_counts.get(location, 0))
        for location in sorted(processors_at)
    ]
    return (*shared, *without_location)
