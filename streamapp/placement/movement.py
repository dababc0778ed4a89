"""The moves from one assignment to another, and the processors that they leave alone."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from streamapp.placement.locations.location_id import same_location

Locations = Mapping[str, str | None]

_UNKNOWN_TO_ALL: Locations = MappingProxyType({})


class Move(NamedTuple):
    """A task that changes its processor."""

    task: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Movement:
    """The difference between two assignments; everything is in order of names."""

    moved: tuple[Move, ...]
    stayed: tuple[str, ...]  # tasks whose processor is the same
    location_moves: tuple[str, ...]  # tasks, moved or not, whose stores are left at another location
    added_tasks: tuple[str, ...]  # tasks of the second assignment only
    removed_tasks: tuple[str, ...]  # tasks of the first assignment only
    untouched: tuple[str, ...]  # processors with the same tasks and location: they need no restart
    touched: tuple[str, ...]  # processors of both assignments with other tasks or another location
    added_processors: tuple[str, ...]
    removed_processors: tuple[str, ...]


def movement(
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    locations_before: Locations = _UNKNOWN_TO_ALL,
    locations_after: Locations = _UNKNOWN_TO_ALL,
) -> Movement:
    """The movement between two assignments; the locations include those of idle processors."""
    tasks_before = _tasks_by_processor(before, locations_before)
    tasks_after = _tasks_by_processor(after, locations_after)
    remaining_processors = sorted(tasks_before.keys() & tasks_after.keys())
    relocated = {
        name
        for name in remaining_processors
        if _is_relocated(locations_before.get(name), locations_after.get(name))
    }
    unchanged_processors = {
        name
        for name in remaining_processors
        if tasks_before[name] == tasks_after[name] and name not in relocated
    }
    common_tasks = sorted(before.keys() & after.keys())
    moved = tuple(
        Move(task, before[task], after[task]) for task in common_tasks if before[task] != after[task]
    )
    stayed = tuple(task for task in common_tasks if before[task] == after[task])
    location_moves = [task for task in stayed if after[task] in relocated]
    location_moves += [
        task
        for task, source, target in moved
        if not same_location(locations_before.get(source), locations_after.get(target))
    ]
    return Movement(
        moved=moved,
        stayed=stayed,
        location_moves=tuple(sorted(location_moves)),
        added_tasks=tuple(sorted(after.keys() - before.keys())),
        removed_tasks=tuple(sorted(before.keys() - after.keys())),
        untouched=tuple(name for name in remaining_processors if name in unchanged_processors),
        touched=tuple(name for name in remaining_processors if name not in unchanged_processors),
        added_processors=tuple(sorted(tasks_after.keys() - tasks_before.keys())),
        removed_processors=tuple(sorted(tasks_before.keys() - tasks_after.keys())),
    )


def _tasks_by_processor(processor_of: Mapping[str, str], locations: Locations) -> dict[str, set[str]]:
    tasks_of: defaultdict[str, set[str]] = defaultdict(set)
    for task, name in processor_of.items():
        tasks_of[name].add(task)
    return {name: tasks_of.get(name, set()) for name in tasks_of.keys() | locations.keys()}


def _is_relocated(location_before: str | None, location_after: str | None) -> bool:
    """True if a processor changed its location; both locations have to be known."""
    return bool(location_before) and bool(location_after) and location_before != location_after
