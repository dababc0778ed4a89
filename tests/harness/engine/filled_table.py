"""A task with a table that one stream fills, as a lane's worker keeps it: real stores, a real log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.lanes.protocol.batch_orders import ReadRange, SidePartition, TaskOrder
from streamapp_runtime.lanes.task_stores.side_input_specs import SideInputStoreSpec, SideInputStream
from streamapp_runtime.lanes.task_stores.side_input_stores import SideInputStores
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem

DAY = 86_400_000
NAME = "users>tiers"
TASK = "task-0"


@dataclass
class FilledTable:
    """A table `tiers` that the stream `users` fills; `now` is what its worker takes for the time."""

    folder: Path
    kind: StoreKind
    bootstrap: bool = True
    partitions: tuple[int, ...] = (0,)
    before_join: bool = False
    broadcast: bool = False
    meaning: str = "meaning"
    now: int = 10 * DAY
    last: dict[int, int] = field(default_factory=dict)  # what the checkpoint says, by partition
    system: EmbeddedSystem = field(init=False)
    side_inputs: SideInputStores = field(init=False)

    def __post_init__(self) -> None:
        self.system = EmbeddedSystem(self.folder / "log")
        self.system.create("users", 4)
        self.new_worker()

    def new_worker(self) -> None:
        sides = {NAME: SideInputStream(self.bootstrap)}
        shelf = SideInputStoreSpec(
            "tiers", self.kind, self.meaning, DAY, self.broadcast, self.before_join, sides=sides
        )
        self.side_inputs = SideInputStores(
            self.folder / "state", "app", "run", {"tiers": shelf}, wait_seconds=0.0, clock=lambda: self.now
        )

    def dies(self) -> None:
        """The worker goes without a last word: only what was committed in the store is left."""
        for kept in self.side_inputs._open.values():
            kept.store.drop()
            kept.store.close()
        self.new_worker()

    def restarts(self) -> None:
        self.side_inputs.release()
        self.new_worker()

    def write(self, partition: int = 0, **rows: str | None) -> None:
        keys = pa.array([key.encode() for key in rows], pa.binary())
        values = pa.array([None if v is None else v.encode() for v in rows.values()], pa.binary())
        times = pa.array([0] * len(rows), pa.int64())
        transaction = self.system.begin("tests", 0)
        transaction.append(
            TopicPartition("users", partition), pa.record_batch([keys, values, times], schema=RECORDS)
        )
        transaction.commit()

    def forgets(self, before: int) -> None:
        """The stream does not keep what lies before an offset any more."""
        self.system.delete_before({TopicPartition("users", 0): before})

    def span(self, partition: int = 0) -> OffsetSpan:
        place = TopicPartition("users", partition)
        return self.system.spans([place])[place]

    def order(self, *ranges: ReadRange) -> TaskOrder:
        sides = tuple(SidePartition(NAME, index, self.last.get(index)) for index in self.partitions)
        return TaskOrder(TASK, 0, "", ranges, sides)

    def opened(self) -> Mapping[int, int]:
        """What the store contains, by partition, as a lane tells it."""
        found = self.side_inputs.restore(self.order(), OneSystem(self.system), lambda: None)
        return {partition.index: at for partition, at in found.items()}

    def batch(self, *, upto: Mapping[int, int] | None = None, commits: bool = True) -> Mapping[int, int]:
        """Read on from where the store ends."""
        ranges = []
        for index, at in self.opened().items():
            end = (upto or {}).get(index, self.span(index).end)
            if end > at:
                ranges.append(ReadRange(NAME, index, at, end))
        return self.fed(*ranges, commits=commits)

    def fed(self, *ranges: ReadRange, commits: bool = True) -> Mapping[int, int]:
        """Hand the records of ranges to the store."""
        order = self.order(*ranges)
        self.side_inputs.restore(order, OneSystem(self.system), lambda: None)
        for asked in ranges:
            place = TopicPartition("users", asked.partition)
            for records in self.system.read(place, asked.start, asked.end):
                self.side_inputs.fill(TASK, "tiers", records.column("key"), records.column("value"))
        if not commits:
            self.side_inputs.drop()
            return self.opened()
        arrived = {Partition(r.stream, r.partition): r.end for r in ranges}
        found = self.side_inputs.apply(order, arrived, {})
        return {partition.index: at for partition, at in found.items()}

    def content(self, task: str = TASK) -> dict[str, str]:
        store = self.side_inputs.store(task, "tiers")
        return {key.decode(): value.decode() for key, value in store.scan()}
