"""The processors that are there, and those of them that run the tasks of the missing ones.

The tasks of a processor whose executor is lost wait for another on its location; when none has come for a
while they move. Tasks move to a processor that is back where they have stores, or little to restore. Else
they stay where they are until the next model, or until another processor is lost.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp.placement.placement_reason import PlacementReason
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal

Lanes = Mapping[str, tuple[str, ...]]
"""Processor -> its tasks."""

PlaceTasks = Callable[[Collection[str], Mapping[str, str]], TaskPlacement | Refusal]
"""Places all tasks on these processors; given the processor of each task before."""

MOST_RESTORED_ENTRIES: Final = 1_000_000
"""A task with no more changelog entries moves to where it has no store: they take it about a second."""
DECLINED_SECONDS: Final = 60.0
"""How often it is looked again whether tasks can move to a processor that is back."""


@dataclass(slots=True)
class LaneAssignment:
    """The processors of one model: present, missing, or given up."""

    model_lanes: Lanes  # as the model has them
    place: PlaceTasks
    delay: Callable[[], float]  # seconds that tasks wait for a processor
    clock: Callable[[], float]
    given_up: frozenset[str] = frozenset()  # processors whose tasks are elsewhere
    assigned: Lanes = field(default_factory=dict)  # all tasks, by the processors that are not given up
    reasons: Mapping[str, PlacementReason] = field(default_factory=dict)  # since tasks left the model's lanes
    _missing_since: dict[str, float] = field(default_factory=dict)  # by processor
    _declined: frozenset[str] | None = None  # given up alone, while the others that are back lack too much
    _declined_at: float = 0.0

    def __post_init__(self) -> None:
        self.assigned = self.assigned or self.model_lanes

    @property
    def complete(self) -> bool:
        """True if every processor is there and has its tasks."""
        return not self._missing_since and not self.given_up

    @property
    def missing(self) -> tuple[str, ...]:
        """The processors that are waited for."""
        return tuple(sorted(self._missing_since.keys() - self.given_up))

    def lanes(self, present: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The lanes, now that these processors are there. Tasks that wait are in no lane."""
        now, delay = self.clock(), self.delay()
        self._missing_since = {
            name: self._missing_since.get(name, now) for name in self.model_lanes if name not in present
        }
        late = {name for name, since in self._missing_since.items() if now - since >= delay}
        away = self.given_up & self._missing_since.keys()
        if late - self.given_up:
            self._move(away | late, only_to_stores=False)
        elif away == self.given_up:
            self._declined = None
        elif away != self._declined or now - self._declined_at >= DECLINED_SECONDS:
            self._move(away, only_to_stores=True)
        return {name: self.assigned[name] for name in sorted(self.assigned) if name in present}

    def moved(self) -> dict[str, str]:
        """The tasks that are not where the model has them."""
        by_model, current = processor_by_task(self.model_lanes), processor_by_task(self.assigned)
        return {task: name for task, name in sorted(current.items()) if by_model[task] != name}

    def _move(self, given_up: frozenset[str], *, only_to_stores: bool) -> None:
        """Place all tasks on the processors that are not given up, if there are any."""
        left = [name for name in self.model_lanes if name not in given_up]
        placement = self.place(left, processor_by_task(self.assigned)) if left else None
        if placement is None or isinstance(placement, Refusal):
            return
        if only_to_stores and not placement.restores_at_most(MOST_RESTORED_ENTRIES):
            self._declined, self._declined_at = given_up, self.clock()
            return
        self._declined = None
        self.given_up, self.assigned = given_up, placement.tasks_of()
        self.reasons = placement.reasons()


def processor_by_task(lanes: Lanes) -> dict[str, str]:
    """The processor of each task."""
    return {task: name for name, tasks in lanes.items() for task in tasks}
