"""Fills a decision in with names: the second and last pass over all tasks."""

from collections.abc import Iterable, Mapping, Sequence

from streamapp.placement.census import Census, Names
from streamapp.placement.decision import Decision


class Filling:
    """Tasks on processors up to their loads. Of tasks of one kind the first by name are kept.

    Owners come first, then locations, then whoever has room. The decision left just enough room for each.
    """

    def __init__(self, census: Census, decision: Decision, loads: Mapping[str, int]) -> None:
        self.processor_of: dict[str, str] = {}
        self._room = dict(loads)
        staying = {home: list(tasks) for home, tasks in census.homed.items()}
        leaving = list(census.free)
        for (home, owner), tasks in census.away.items():
            staying.setdefault(home, []).extend(self._keep(tasks, owner, decision.away[home, owner]))
        for owner, tasks in census.owned.items():
            leaving += self._keep(tasks, owner, decision.owned[owner])
        came_back = len(self.processor_of)
        for site in census.sites:
            for owner in site.processors:
                if site.location and owner in census.settled:
                    left = self._keep(census.settled[owner], owner, self._room[owner])
                    staying.setdefault(site.location, []).extend(left)
        self.on_processor = len(self.processor_of)
        for site in census.sites:
            if site.location in staying:
                leaving += self._deal(staying[site.location], site.processors)
        self.on_location = len(self.processor_of) - came_back
        self._deal(leaving, sorted(loads))

    def _keep(self, tasks: Names, owner: str, most: int) -> Names:
        """Give the first by name to their owner; the others are left."""
        kept, left = tasks, []
        if len(tasks) > most:
            ordered = sorted(tasks)
            kept, left = ordered[:most], ordered[most:]
        self.processor_of.update(dict.fromkeys(kept, owner))
        self._room[owner] -= len(kept)
        return left

    def _deal(self, tasks: Iterable[str], processors: Sequence[str]) -> Names:
        """Give one task after the other to each processor with room in turn; some can be left."""
        ordered = sorted(tasks)
        done = 0
        while done < len(ordered) and (open_to := [name for name in processors if self._room[name]]):
            turn = ordered[done : done + len(open_to)]
            done += len(turn)
            for task, name in zip(turn, open_to, strict=False):
                self.processor_of[task] = name
                self._room[name] -= 1
        return ordered[done:]
