"""The result of a placement: the assignment, its quality, and the reason for each task's processor."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.placement.locations.location_id import same_location
from streamapp.placement.locations.store_history import StorePositions
from streamapp.placement.placement_reason import PlacementReason, placement_reason


@dataclass(frozen=True, slots=True)
class PriorLocality:
    """The locality of tasks and processors before the placement."""

    task_locality: Mapping[str, str | None]
    processor_locality: Mapping[str, str | None]
    previous: Mapping[str, str]
    stores: StorePositions = field(default_factory=dict)

    def why(self, task: str, processor: str) -> PlacementReason:
        """Why the task is on this processor."""
        return placement_reason(
            processor,
            self.task_locality.get(task),
            self.previous.get(task),
            self.processor_locality,
            self.stores.get(task, {}),
        )

    def reasons(self, processor_of: Mapping[str, str]) -> dict[str, PlacementReason]:
        """Why each task is on its processor."""
        return {task: self.why(task, processor) for task, processor in processor_of.items()}


@dataclass(frozen=True, slots=True)
class TaskPlacement:
    """Every task on exactly one processor. Two placements are equal when their tasks and counts are."""

    processor_of: Mapping[str, str]
    loads: Mapping[str, int]  # processor -> how many tasks; 0 for idle ones
    on_location: int  # tasks on their recorded location
    on_processor: int  # tasks on their previous processor
    location_moves: int  # tasks with a recorded location that are now at another
    processor_moves: int  # tasks with another previous processor, which may be gone
    most_on_location: int  # the proven optimum for these loads
    prior_locality: PriorLocality = field(compare=False, repr=False)

    @property
    def optimal(self) -> bool:
        """True if no assignment with balanced loads keeps more tasks on their location."""
        return self.on_location == self.most_on_location

    @property
    def idle(self) -> tuple[str, ...]:
        """The processors without tasks, by name."""
        return tuple(sorted(name for name, load in self.loads.items() if not load))

    def tasks_of(self) -> dict[str, tuple[str, ...]]:
        """Processor -> its tasks, both by name."""
        tasks_of_processor: dict[str, list[str]] = {name: [] for name in sorted(self.loads)}
        for task, name in self.processor_of.items():
            tasks_of_processor[name].append(task)
        return {name: tuple(sorted(tasks)) for name, tasks in tasks_of_processor.items()}

    @property
    def to_restore(self) -> int:
        """Changelog entries that stores lack at the locations of their tasks, by what is known of them."""
        stores = self.prior_locality.stores
        return sum(
            max(positions.values(), default=0) - self._position(task)
            for task, positions in stores.items()
            if task in self.processor_of
        )

    @property
    def without_stores(self) -> tuple[str, ...]:
        """The tasks that leave their location for one where no store of theirs is known, by name."""
        prior = self.prior_locality
        return tuple(
            sorted(
                task
                for task, name in self.processor_of.items()
                if prior.task_locality.get(task)
                and not same_location(prior.task_locality[task], prior.processor_locality[name])
                and prior.processor_locality[name] not in prior.stores.get(task, {})
            )
        )

    def restores_at_most(self, entries: int) -> bool:
        """True if each task without a store at its new location is known to restore at most `entries`."""
        positions = (self.prior_locality.stores.get(task) for task in self.without_stores)
        return all(of_task and max(of_task.values()) <= entries for of_task in positions)

    def _position(self, task: str) -> int:
        """The position of a task's stores at the location where the task is placed."""
        prior = self.prior_locality
        location = prior.processor_locality[self.processor_of[task]]
        return prior.stores[task].get(location, 0) if location else 0

    def why(self, task: str) -> PlacementReason:
        """Why the task is on its processor; a KeyError for an unknown task."""
        return self.prior_locality.why(task, self.processor_of[task])

    def reasons(self) -> dict[str, PlacementReason]:
        """Why each task is on its processor."""
        return self.prior_locality.reasons(self.processor_of)
