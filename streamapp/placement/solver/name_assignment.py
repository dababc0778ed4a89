"""Fills a decision in with names, writing down only what changes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from streamapp.placement.solver.extra_tasks import PlacementDecision
from streamapp.placement.solver.task_classes import Names, TaskClasses


@dataclass(frozen=True, slots=True)
class NamedAssignment:
    """Every task's processor, and how many tasks are where they were."""

    processor_of: Mapping[str, str]
    on_location: int
    on_processor: int


def assign_names(
    previous: Mapping[str, str], census: TaskClasses, decision: PlacementDecision, loads: Mapping[str, int]
) -> NamedAssignment:
    """Owners first, then locations, then whoever has room: the decision left just enough of it for each.

    `previous` holds no tasks but those that are placed. Of tasks of one kind the first by name are kept.
    """
    book = _Book(previous, loads)
    staying = {home: list(tasks) for home, tasks in census.homed.items()}
    leaving = list(census.free)
    for (home, owner), tasks in census.away.items():
        staying.setdefault(home, []).extend(book.keep(tasks, owner, decision.away[home, owner]))
    for owner, tasks in census.owned.items():
        leaving += book.keep(tasks, owner, decision.owned[owner])
    strangers = book.given
    for site in census.sites:
        for owner in site.processors:
            if site.location and owner in census.settled:
                left = book.keep(census.settled[owner], owner, book.room[owner])
                staying.setdefault(site.location, []).extend(left)
    on_processor = book.given
    for site in census.sites:
        if site.location in staying:
            leaving += book.deal(staying[site.location], site.processors)
    on_location = book.given - strangers
    book.deal(leaving, sorted(loads))
    return NamedAssignment(book.processor_of, on_location, on_processor)


class _Book:
    """Who has which task, and who still has room."""

    def __init__(self, previous: Mapping[str, str], loads: Mapping[str, int]) -> None:
        self.processor_of = dict(previous)
        self.room = dict(loads)
        self.given = 0

    def keep(self, tasks: Names, owner: str, most: int) -> Names:
        """Leave the first by name with their owner; returns the others."""
        kept = min(most, len(tasks))
        self.room[owner] -= kept
        self.given += kept
        return [] if kept == len(tasks) else sorted(tasks)[kept:]

    def deal(self, tasks: Iterable[str], processors: Sequence[str]) -> Names:
        """Give a task to each processor with room, over and over; returns what is left when all are full."""
        ordered = sorted(tasks)
        done = 0
        while done < len(ordered) and (takers := [name for name in processors if self.room[name]]):
            rounds = min(self.room[name] for name in takers)
            turn = ordered[done : done + rounds * len(takers)]
            self.processor_of.update(zip(turn, cycle(takers), strict=False))
            each, over = divmod(len(turn), len(takers))
            for number, name in enumerate(takers):
                self.room[name] -= each + (number < over)
            done += len(turn)
        self.given += done
        return ordered[done:]
