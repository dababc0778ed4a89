"""Tells what a change from one assignment to another moves, and who need not notice."""

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
    location_moves: tuple[str, ...]  # tasks, moved or not, that find their stores left at another location
    begun: tuple[str, ...]  # tasks that were not there before
    ended: tuple[str, ...]  # tasks that are not there any more
    untouched: tuple[str, ...]  # processors with the same tasks and location: they need no restart
    touched: tuple[str, ...]  # processors that were there before and get other tasks or another location
    joined: tuple[str, ...]
    gone: tuple[str, ...]


def movement(
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    locations_before: Locations = _UNKNOWN_TO_ALL,
    locations_after: Locations = _UNKNOWN_TO_ALL,
) -> Movement:
    """From two maps of task to processor, each with the locations of its processors, idle ones too."""
    was = _by_processor(before, locations_before)
    now = _by_processor(after, locations_after)
    both = sorted(was.keys() & now.keys())
    relocated = {name for name in both if _relocated(locations_before.get(name), locations_after.get(name))}
    whole = {name for name in both if was[name] == now[name] and name not in relocated}
    common = sorted(before.keys() & after.keys())
    moved = tuple(Move(task, before[task], after[task]) for task in common if before[task] != after[task])
    stayed = tuple(task for task in common if before[task] == after[task])
    left = [task for task in stayed if after[task] in relocated]
    left += [
        task
        for task, source, target in moved
        if not same_location(locations_before.get(source), locations_after.get(target))
    ]
    return Movement(
        moved=moved,
        stayed=stayed,
        location_moves=tuple(sorted(left)),
        begun=tuple(sorted(after.keys() - before.keys())),
        ended=tuple(sorted(before.keys() - after.keys())),
        untouched=tuple(name for name in both if name in whole),
        touched=tuple(name for name in both if name not in whole),
        joined=tuple(sorted(now.keys() - was.keys())),
        gone=tuple(sorted(was.keys() - now.keys())),
    )


def _by_processor(processor_of: Mapping[str, str], locations: Locations) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for task, name in processor_of.items():
        found[name].add(task)
    return {name: found.get(name, set()) for name in found.keys() | locations.keys()}


def _relocated(one: str | None, other: str | None) -> bool:
    """A processor that is the same is elsewhere only if both places are known: being unknown is no move."""
    return bool(one) and bool(other) and one != other
