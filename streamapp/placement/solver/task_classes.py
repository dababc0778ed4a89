"""Sorts tasks into kinds by what is known of where they were: what follows reasons about kinds, not tasks.

A task's home is its recorded location, if a processor is there. Its owner is its previous processor, if
that is still there. A location that nobody is at and a processor that is gone keep no task.
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
    tasks: int = 0  # how many have their home here


@dataclass(frozen=True, slots=True, eq=False)
class TaskClasses:
    """Sites, and the tasks by home and owner; each list is in no particular order."""

    sites: tuple[LocationGroup, ...]
    settled: Mapping[str, Names]  # by owner, who is at their home
    owned: Mapping[str, Names]  # by owner; no home
    away: Mapping[tuple[str, str], Names]  # by home and owner, who is elsewhere
    homed: Mapping[str, Names]  # by home; no owner
    free: Names  # neither
    located: int  # how many tasks have a recorded location, gone ones too
    had: int  # how many tasks have a previous processor, gone ones too


def classify_tasks(
    tasks: Collection[str],
    task_locality: Mapping[str, str | None],
    processor_locality: Mapping[str, str | None],
    previous: Mapping[str, str],
) -> TaskClasses:
    """The only pass over all tasks but the one that writes the answer down."""
    locations = list(map(task_locality.get, tasks))
    owners = list(map(previous.get, tasks))
    kinds: defaultdict[tuple[str | None, str | None], Names] = defaultdict(list)
    for task, location, owner in zip(tasks, locations, owners, strict=True):
        kinds[location, owner].append(task)

    places = {location for location in processor_locality.values() if location}
    settled: defaultdict[str, Names] = defaultdict(list)
    owned: defaultdict[str, Names] = defaultdict(list)
    away: defaultdict[tuple[str, str], Names] = defaultdict(list)
    homed: defaultdict[str, Names] = defaultdict(list)
    free: Names = []
    at_home: Counter[str] = Counter()
    located = had = 0
    for (home, last), names in kinds.items():
        located += len(names) if home else 0
        had += len(names) if last is not None else 0
        owner = last if last in processor_locality else None
        if home and home in places:
            at_home[home] += len(names)
            if owner is None:
                homed[home] += names
            elif processor_locality[owner] == home:
                settled[owner] += names
            else:
                away[home, owner] += names
        elif owner is None:
            free += names
        else:
            owned[owner] += names
    return TaskClasses(_sites(processor_locality, at_home), settled, owned, away, homed, free, located, had)


def _sites(
    processor_locality: Mapping[str, str | None], at_home: Mapping[str, int]
) -> tuple[LocationGroup, ...]:
    together: defaultdict[str, Names] = defaultdict(list)
    alone = []
    for name in sorted(processor_locality):
        location = processor_locality[name]
        if location:
            together[location].append(name)
        else:
            alone.append(LocationGroup((name,)))
    shared = [LocationGroup(tuple(together[at]), at, at_home.get(at, 0)) for at in sorted(together)]
    return (*shared, *alone)
