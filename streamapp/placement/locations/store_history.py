"""The places of tasks' stores: where each task runs and where it ran before, and the position of each store.

A position is counted in entries of the changelogs, added up over the stores of a task. What a task has to
restore at a location is then the difference between two such sums. Like all locality it only saves work: a
store that is not where it should be is restored as a whole.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

StorePositions = Mapping[str, Mapping[str, int]]
"""Task -> location -> how far its stores there are. A location that is not named has no store of the task."""

MOST_FORMER_PLACES: Final = 3
"""So many locations are remembered of a task, beside the one where it runs."""
MOST_PLACES: Final = 10_000
"""So many places of all tasks are written, so that they fit a ConfigMap: the tasks that moved last count."""
USABLE_SECONDS: Final = 20 * 3_600
"""A store that was left for longer is restored as a whole: changelogs keep deletions for a day only."""


class StorePlace(NamedTuple):
    """A location with stores of a task."""

    location: str
    position: int  # how far they are
    at: int  # when that was so, in seconds since the epoch


@dataclass(frozen=True, slots=True)
class StoreHistory:
    """The places of each task: first where it runs, then where it ran before, the latest first."""

    places: Mapping[str, tuple[StorePlace, ...]] = field(default_factory=dict)

    def positions(self, now: float) -> StorePositions:
        """The positions of stores from which a task could go on: an empty one is none, nor is an old one."""
        return {
            task: {
                place.location: place.position
                for number, place in enumerate(places)
                if number == 0 or (place.position and now - place.at <= USABLE_SECONDS)
            }
            for task, places in self.places.items()
        }

    def with_locations(
        self,
        locations: Mapping[str, str | None],
        positions: Mapping[str, int],
        restoring: Collection[str],
        now: float,
    ) -> Self:
        """The history after tasks came to these locations; what is unknown of a task leaves its places alone.

        `positions` are those of the checkpoints. The stores that a task had until now are as far, unless it
        was `restoring` them.
        """
        places = dict(self.places)
        for task, location in locations.items():
            here, *former = places.get(task) or (None,)
            if here is not None and task not in restoring:
                here = StorePlace(here.location, positions.get(task, 0), int(now))
            if here is None or (location and location != here.location):
                if not location:
                    continue
                left = [here, *former] if here is not None else []
                returned = next(
                    (
                        place.position
                        for place in left
                        if place.location == location and now - place.at <= USABLE_SECONDS
                    ),
                    0,
                )
                former = [place for place in left if place is not None and place.location != location]
                here = StorePlace(location, returned, int(now))
            places[task] = (here, *former[:MOST_FORMER_PLACES])
        return type(self)(places)

    def of_tasks(self, tasks: Collection[str]) -> Self:
        """The history of these tasks alone."""
        return type(self)({task: self.places[task] for task in tasks if task in self.places})

    def without_location(self, location: str, before: float) -> Self:
        """The history after a location lost the stores that were left there until then."""
        return type(self)(
            {
                task: (
                    places[0],
                    *(place for place in places[1:] if place.location != location or place.at > before),
                )
                for task, places in self.places.items()
            }
        )

    def bounded(self) -> Self:
        """The history as far as it is written: the tasks that left a location last, up to `MOST_PLACES`."""
        if sum(map(len, self.places.values())) <= MOST_PLACES:
            return self
        latest_first = sorted(
            self.places, key=lambda task: (-max((p.at for p in self.places[task][1:]), default=0), task)
        )
        bounded: dict[str, tuple[StorePlace, ...]] = {}
        count = 0
        for task in latest_first:
            count += len(self.places[task])
            if count > MOST_PLACES:
                break
            bounded[task] = self.places[task]
        return type(self)(bounded)
