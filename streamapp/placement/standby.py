"""Gives each task further copies of its state, away from its own location and from each other.

A copy goes to a known location that has none of the task yet. Where there is no such location it goes to a
processor whose location is unknown, which may or may not be another, and else to another processor of a
location that is used already; both are reported. Of all that will do the least laden processor is taken, so
copies spread, and copies of before stay where they are while that keeps them spread.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

from streamapp.placement.task_placement import TaskPlacement


@dataclass(frozen=True, slots=True)
class Standbys:
    """The copies of each task, and what of them cannot be had."""

    copies: Mapping[str, tuple[str, ...]]  # task -> processors
    exposed: tuple[str, ...]  # tasks with a copy that may be lost together with another, or with the task
    missing: Mapping[str, int]  # task -> how many copies found no processor at all

    @property
    def problem(self) -> str:
        """What cannot be had, in a sentence; empty where nothing is wanting."""
        found = []
        if self.exposed:
            found.append(
                f"{len(self.exposed)} tasks have copies that are not surely on locations of their own"
            )
        if self.missing:
            found.append(f"{sum(self.missing.values())} copies have no processor to be on")
        return f"{' and '.join(found)}; add processors at other locations, or ask for fewer" if found else ""


def place_standbys(
    placement: TaskPlacement, replicas: int, previous: Mapping[str, Collection[str]] | None = None
) -> Standbys:
    """So many copies of each task beside the one that runs; `previous` are the copies of before."""
    choice = _Choice(placement, replicas)
    tasks = sorted(placement.processor_of)
    # Those that `fill` moved to a newcomer are the last by name. They cannot have a copy there as well, so
    # they keep theirs first, and the newcomer's share of the copies falls to others.
    for task in reversed(tasks):
        for name in (previous or {}).get(task, ()):
            choice.keep(task, name)
    for task in tasks:
        choice.complete(task)
    wanting = {task: replicas - len(choice.copies[task]) for task in tasks}
    return Standbys(
        copies={task: tuple(choice.copies[task]) for task in tasks},
        exposed=tuple(task for task in tasks if choice.copies[task] and not choice.surely_apart(task)),
        missing={task: count for task, count in wanting.items() if count},
    )


class _Choice:
    """Copies as they are chosen, and how many each processor has."""

    def __init__(self, placement: TaskPlacement, replicas: int) -> None:
        self.copies: defaultdict[str, list[str]] = defaultdict(list)
        self._replicas = replicas
        self._runs = placement.processor_of
        self._location = placement.before.processor_locality
        self._laden = dict.fromkeys(sorted(placement.loads), 0)
        self._fair = -(-replicas * len(self._runs) // len(self._laden))
        at: defaultdict[str, list[str]] = defaultdict(list)
        unknown = []
        for name in self._laden:
            location = self._location[name]
            if location:
                at[location].append(name)
            else:
                unknown.append(name)
        load = self._laden.__getitem__
        self._at = {location: _LeastLaden(names, load) for location, names in at.items()}
        self._locations = _LeastLaden(at, lambda location: self._at[location].least())
        self._unknown = _LeastLaden(unknown, load)
        self._all = _LeastLaden(self._laden, load)

    def keep(self, task: str, name: str) -> None:
        """Leave a copy where it was, if that is still a good place."""
        location = self._location.get(name)
        good = name in self._laden and location and location not in self._used(task)
        if good and self._laden[name] < self._fair and len(self.copies[task]) < self._replicas:
            self._add(task, name)

    def complete(self, task: str) -> None:
        """Find a place for each copy that is still wanting."""
        while len(self.copies[task]) < self._replicas:
            location = self._locations.first(self._used(task))
            if location is not None:
                name = self._at[location].first()
            else:
                holders = {self._runs[task], *self.copies[task]}
                name = self._unknown.first(holders) or self._all.first(holders)
            if name is None:
                return
            self._add(task, name)

    def surely_apart(self, task: str) -> bool:
        """Whether the task and its copies are each at a known location of their own."""
        return len({location for location in self._used(task) if location}) == 1 + len(self.copies[task])

    def _used(self, task: str) -> set[str | None]:
        return {self._location[name] for name in (self._runs[task], *self.copies[task])}

    def _add(self, task: str, name: str) -> None:
        self.copies[task].append(name)
        self._laden[name] += 1


class _LeastLaden:
    """Names in order of a load that only grows, so that an old figure can wait until it comes up."""

    def __init__(self, names: Iterable[str], load: Callable[[str], int]) -> None:
        self._load = load
        self._queue = [(load(name), name) for name in names]
        heapify(self._queue)

    def first(self, refused: Container[str | None] = ()) -> str | None:
        """The least laden that is not refused; few are."""
        passed = []
        found = None
        while self._queue and found is None:
            load, name = self._queue[0]
            if load < self._load(name):
                heapreplace(self._queue, (self._load(name), name))
            elif name in refused:
                passed.append(heappop(self._queue))
            else:
                found = name
        for entry in passed:
            heappush(self._queue, entry)
        return found

    def least(self) -> int:
        """The load of the first; there has to be one."""
        self.first()
        return self._queue[0][0]
