"""The request to form tasks, and its result."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.groupers.grouper import BY_PARTITION, Grouper
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import Split
from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class GroupingRequest:
    """The current streams and the remembered layout."""

    streams: Mapping[str, Sequence[int]]  # the partitions of each stream: range(8) for all of eight
    grouper: Grouper = BY_PARTITION
    stateful: bool = False
    broadcast: Collection[str | Partition] = ()  # whole streams and single partitions
    processors: tuple[str, ...] | None = None  # only under `single`: a task for each that reads everything
    copartition_groups: Collection[Collection[str]] = ()  # streams joined with each other
    without_state: Collection[str] = ()  # streams with no state behind them: they may grow to any count
    algorithm: ExpansionAlgorithm = modulo
    layout: Layout | None = None
    run: str = ""  # names the layout of a first run
    now: float = 0.0  # when growths were seen


@dataclass(frozen=True, slots=True)
class Assignment:
    """The tasks with their partitions, and the layout to store before the first record is read."""

    tasks: Mapping[str, tuple[Partition, ...]]
    broadcast: tuple[Partition, ...]  # read by every task
    layout: Layout
    grown: tuple[Split, ...] = ()  # growths of streams with state, seen for the first time

    def partitions(self, task: str) -> tuple[Partition, ...]:
        """All partitions that a task reads."""
        return tuple(sorted({*self.tasks[task], *self.broadcast}))

    @property
    def changelog(self) -> dict[str, int]:
        """The changelog partition of each task."""
        return {task: self.layout.changelog[task] for task in self.tasks}
