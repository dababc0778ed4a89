"""Gives each task further copies of its state, away from its own location and from each other.

A copy goes to a known location that holds neither the task nor another copy of the task. Where there is no
such location, the copy goes to a processor of unknown location, and else to another processor of a location
in use; both cases are reported. Among the candidates the processor with the fewest copies is taken, so that
copies spread. Previous copies stay where they are as long as the copies stay spread.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

from streamapp.placement.task_placement import TaskPlacement


@dataclass(frozen=True, slots=True)
class Standbys:
    """The copies of each task, and the copies that could not be placed as required."""

    copies: Mapping[str, tuple[str, ...]]  # task -> processors
    exposed: tuple[str, ...]  # tasks with a copy that may share a location with the task or another copy
    missing: Mapping[str, int]  # task -> number of copies without a processor

    @property
    def problem(self) -> str:
        """The unmet requirements in a sentence; empty where all are met."""
        phrases = []
        if self.exposed:
            phrases.append(f"{len(self.exposed)} tasks have copies that may share a location")
        if self.missing:
            phrases.append(f"{sum(self.missing.values())} copies have no processor to be on")
        return (
            f"{' and '.join(phrases)}; add processors at other locations, or ask for fewer" if phrases else ""
        )


def place_standbys(
    placement: TaskPlacement, replicas: int, previous: Mapping[str, Collection[str]] | None = None
) -> Standbys:
    """Place `replicas` copies of each task beside the running task; `previous` are the former copies."""
    chosen_copies = _ChosenCopies(placement, replicas)
    tasks = sorted(placement.processor_of)
    # Tasks that the name assignment moved to a new processor are the last by name. Such a task cannot have a
    # copy there as well, so it keeps its copies first, and the new processor takes copies of other tasks.
    for task in reversed(tasks):
        for name in (previous or {}).get(task, ()):
            chosen_copies.keep(task, name)
    for task in tasks:
        chosen_copies.complete(task)
    missing_copies = {task: replicas - len(chosen_copies.copies[task]) for task in tasks}
    return Standbys(
        copies={task: tuple(chosen_copies.copies[task]) for task in tasks},
        exposed=tuple(
            task for task in tasks if chosen_copies.copies[task] and not chosen_copies.is_surely_apart(task)
        ),
        missing={task: count for task, count in missing_copies.items() if count},
    )


class _ChosenCopies:
    """The copies chosen so far, and how many each processor has."""

    def __init__(self, placement: TaskPlacement, replicas: int) -> None:
        self.copies: defaultdict[str, list[str]] = defaultdict(list)
        self._replicas = replicas
        self._processor_of = placement.processor_of
        self._location_of = placement.prior_locality.processor_locality
        self._copy_count = dict.fromkeys(sorted(placement.loads), 0)
        self._fair_share = -(-replicas * len(self._processor_of) // len(self._copy_count))
        processors_at: defaultdict[str, list[str]] = defaultdict(list)
        unknown_processors = []
        for processor in self._copy_count:
            location = self._location_of[processor]
            if location:
                processors_at[location].append(processor)
            else:
                unknown_processors.append(processor)
        load = self._copy_count.__getitem__
        self._queue_at = {location: _LeastLaden(names, load) for location, names in processors_at.items()}
        self._location_queue = _LeastLaden(processors_at, lambda location: self._queue_at[location].least())
        self._unknown_queue = _LeastLaden(unknown_processors, load)
        self._queue_of_all = _LeastLaden(self._copy_count, load)

    def keep(self, task: str, processor: str) -> None:
        """Leave a previous copy on its processor, if its location is still apart from the others."""
        location = self._location_of.get(processor)
        is_apart = processor in self._copy_count and location and location not in self._used_locations(task)
        if (
            is_apart
            and self._copy_count[processor] < self._fair_share
            and len(self.copies[task]) < self._replicas
        ):
            self._add_copy(task, processor)

    def complete(self, task: str) -> None:
        """Choose a processor for each missing copy."""
        while len(self.copies[task]) < self._replicas:
            location = self._location_queue.first(self._used_locations(task))
            if location is not None:
                processor = self._queue_at[location].first()
            else:
                holders = {self._processor_of[task], *self.copies[task]}
                processor = self._unknown_queue.first(holders) or self._queue_of_all.first(holders)
            if processor is None:
                return
            self._add_copy(task, processor)

    def is_surely_apart(self, task: str) -> bool:
        """True if the task and all of its copies are at known, different locations."""
        return len({location for location in self._used_locations(task) if location}) == 1 + len(
            self.copies[task]
        )

    def _used_locations(self, task: str) -> set[str | None]:
        return {self._location_of[processor] for processor in (self._processor_of[task], *self.copies[task])}

    def _add_copy(self, task: str, processor: str) -> None:
        self.copies[task].append(processor)
        self._copy_count[processor] += 1


class _LeastLaden:
    """A queue of names by load. Loads only grow, so an outdated entry is corrected when it comes first."""

    def __init__(self, names: Iterable[str], load: Callable[[str], int]) -> None:
        self._load = load
        self._queue = [(load(processor), processor) for processor in names]
        heapify(self._queue)

    def first(self, refused: Container[str | None] = ()) -> str | None:
        """The name with the least load that is not among the few refused ones."""
        refused_entries = []
        first_name = None
        while self._queue and first_name is None:
            load, name = self._queue[0]
            if load < self._load(name):
                heapreplace(self._queue, (self._load(name), name))
            elif name in refused:
                refused_entries.append(heappop(self._queue))
            else:
                first_name = name
        for entry in refused_entries:
            heappush(self._queue, entry)
        return first_name

    def least(self) -> int:
        """The least load; the queue must not be empty."""
        self.first()
        return self._queue[0][0]
