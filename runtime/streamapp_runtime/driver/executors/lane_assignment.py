"""Which processors are there, and who runs the tasks of those that are not.

The tasks of a processor whose executor is lost wait for another on its location; when none has come for a
while they move. They move back only where that costs nothing: a store that would have to be restored stays
where it is until the next model.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal

Lanes = Mapping[str, tuple[str, ...]]
"""Processor -> its tasks."""

PlaceTasks = Callable[[Collection[str], Mapping[str, str]], TaskPlacement | Refusal]
"""Places all tasks on these processors; given the processor of each task before."""


@dataclass(slots=True)
class LaneAssignment:
    """The processors of one model: who is here, who is waited for, who is given up."""

    whole: Lanes  # as the model has it
    place: PlaceTasks
    delay: float  # seconds that tasks wait for a processor
    clock: Callable[[], float]
    gone: frozenset[str] = frozenset()  # given up: their tasks are elsewhere
    assigned: Lanes = field(default_factory=dict)  # all tasks, by the processors that are not given up
    _away: dict[str, float] = field(default_factory=dict)  # since when

    def __post_init__(self) -> None:
        self.assigned = self.assigned or self.whole

    @property
    def complete(self) -> bool:
        """Whether every processor is there and has its tasks."""
        return not self._away and not self.gone

    @property
    def away(self) -> tuple[str, ...]:
        """Who is waited for."""
        return tuple(sorted(self._away.keys() - self.gone))

    def lanes(self, present: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Who runs what, now that these processors are there. Tasks that wait are in no lane."""
        now = self.clock()
        self._away = {name: self._away.get(name, now) for name in self.whole if name not in present}
        late = {name for name, since in self._away.items() if now - since >= self.delay}
        if lost := late - self.gone:
            self._move(self.gone | lost, only_free=False)
        if back := self.gone - self._away.keys():
            self._move(self.gone - back, only_free=True)
        return {name: self.assigned[name] for name in sorted(self.assigned) if name in present}

    def moved(self) -> dict[str, str]:
        """The tasks that are not where the model has them."""
        was, now = processor_by_task(self.whole), processor_by_task(self.assigned)
        return {task: name for task, name in sorted(now.items()) if was[task] != name}

    def _move(self, gone: frozenset[str], *, only_free: bool) -> None:
        """Place tasks on all who are not given up, if there are any."""
        left = [name for name in self.whole if name not in gone]
        placed = self.place(left, processor_by_task(self.assigned)) if left else None
        if placed is None or isinstance(placed, Refusal) or (only_free and placed.location_moves):
            return
        self.gone, self.assigned = gone, placed.tasks_of()


def processor_by_task(lanes: Lanes) -> dict[str, str]:
    """The processor of each task."""
    return {task: name for name, tasks in lanes.items() for task in tasks}
