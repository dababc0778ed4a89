"""The answer: who runs what, how good that is, and why each task is where it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.placement.placement_reason import PlacementReason, placement_reason


@dataclass(frozen=True, slots=True)
class PriorLocality:
    """What was known of tasks and processors when they were placed."""

    task_locality: Mapping[str, str | None]
    processor_locality: Mapping[str, str | None]
    previous: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TaskPlacement:
    """Every task on exactly one processor. Two placements are equal when their tasks and counts are."""

    processor_of: Mapping[str, str]
    loads: Mapping[str, int]  # processor -> how many tasks; 0 for idle ones
    on_location: int  # tasks on the location recorded for them
    on_processor: int  # tasks on the processor that had them
    location_moves: int  # tasks with a recorded location that are elsewhere now
    processor_moves: int  # tasks that another processor had, here still or not
    most_on_location: int  # the proven optimum for these loads
    before: PriorLocality = field(compare=False, repr=False)

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
        found: dict[str, list[str]] = {name: [] for name in sorted(self.loads)}
        for task, name in self.processor_of.items():
            found[name].append(task)
        return {name: tuple(sorted(tasks)) for name, tasks in found.items()}

    def why(self, task: str) -> PlacementReason:
        """Why the task is where it is; a KeyError where there is no such task."""
        before = self.before
        return placement_reason(
            self.processor_of[task],
            before.task_locality.get(task),
            before.previous.get(task),
            before.processor_locality,
        )
