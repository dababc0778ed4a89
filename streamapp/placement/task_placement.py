"""The result of a placement: the assignment, its quality, and the reason for each task's processor."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.placement.placement_reason import PlacementReason, placement_reason


@dataclass(frozen=True, slots=True)
class PriorLocality:
    """The locality of tasks and processors before the placement."""

    task_locality: Mapping[str, str | None]
    processor_locality: Mapping[str, str | None]
    previous: Mapping[str, str]


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
        """Whether no assignment with balanced loads keeps more tasks on their location."""
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

    def why(self, task: str) -> PlacementReason:
        """Why the task is on its processor; a KeyError for an unknown task."""
        prior = self.prior_locality
        return placement_reason(
            self.processor_of[task],
            prior.task_locality.get(task),
            prior.previous.get(task),
            prior.processor_locality,
        )
