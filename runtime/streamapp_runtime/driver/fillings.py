"""How far the tables are that side inputs fill, as their stores say themselves, and who waits for them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from streamapp.adjunct.gate import gate
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.flow import Demand
from streamapp_runtime.driver.launch import Launch
from streamapp_runtime.driver.positions import Positions
from streamapp_runtime.lanes.orders import Report, SidePartition
from streamapp_runtime.program.operations import declared
from streamapp_runtime.systems.system import Span


@dataclass(slots=True)
class Fillings:
    """What stores contain, by task. What is not known was not yet told: nothing is read for it until then."""

    launch: Launch
    ends: Mapping[Partition, int] = field(default_factory=dict)  # at the start, of what is waited for
    contained: dict[str, dict[Partition, int]] = field(default_factory=dict)
    known: Mapping[str, tuple[SidePartition, ...]] = field(default_factory=dict)  # what fills whose tables

    @property
    def partitions(self) -> list[Partition]:
        """Everything that fills a table of some task."""
        return [p for parts in self._of_tasks().values() for p in parts]

    def start(self, spans: Mapping[Partition, Span]) -> None:
        """Note how far tables have to be filled before they are joined."""
        bootstrap = self.launch.course.bootstrap
        self.ends = {p: span.end for p, span in spans.items() if p.stream in bootstrap}

    def forget(self) -> None:
        """New workers open the stores anew: what they contain has to be heard again."""
        self.contained, self.known = {}, {}

    def hear(self, reports: Iterable[Report]) -> None:
        """Take what lanes say of their stores."""
        for report in reports:
            if report.contained:
                told = {Partition.parse(name): at for name, at in report.contained.items()}
                self.contained.setdefault(report.task, {}).update(told)

    def demands(self, spans: Mapping[Partition, Span]) -> Iterator[Demand]:
        """What could be read into tables now."""
        for task, positions in self.contained.items():
            for partition, at in positions.items():
                if spans[partition].end > at:
                    yield Demand(task, partition, at, spans[partition].end)

    def waiting(self, positions: Positions) -> frozenset[str]:
        """The tasks whose stores do not contain what their rows have to see."""
        found = set()
        for task, parts in self._of_tasks().items():
            ends = {p: self.ends[p] for p in parts if p in self.ends}
            wanted = gate(ends, positions.of_tasks.get(task, {}))
            if wanted.waits(self.contained.get(task, {})):
                found.add(task)
        return frozenset(found)

    def sides(self, positions: Positions) -> Mapping[str, tuple[SidePartition, ...]]:
        """What fills the tables of each task, and how far the checkpoints say it was ever read."""
        parts = self._of_tasks()
        known = positions.next_of(parts)
        starts = positions.starts or {}
        self.known = {
            task: tuple(
                SidePartition(p.stream, p.index, known.get((task, p), starts.get(_declared(p))))
                for p in partitions
            )
            for task, partitions in parts.items()
        }
        return self.known

    def _of_tasks(self) -> dict[str, list[Partition]]:
        side = self.launch.course.side
        every = self.launch.partitions.items()
        return {task: [p for p in parts if p.stream in side] for task, parts in every}


def _declared(partition: Partition) -> Partition:
    return Partition(declared(partition.stream), partition.index)
