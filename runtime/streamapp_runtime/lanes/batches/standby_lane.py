"""A lane of a driver that stands by: its stores are restored and its tables filled, before it is bound.

Nothing is taken over, committed or written to a stream, and nobody is fenced. What is replayed was committed,
and the lane goes on from what the stores say of themselves. A store that another process has is left alone.
"""

import pickle
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from streamapp.side_inputs.growth_order import waits_for_older
from streamapp.tasks.partition import Partition
from streamapp_runtime.expressions.expression_client import ExpressionClient
from streamapp_runtime.lanes.batches.lane_batch import LaneBatch
from streamapp_runtime.lanes.batches.lane_context import LaneContext
from streamapp_runtime.lanes.batches.lane_errors import EXPECTED_ERRORS
from streamapp_runtime.lanes.batches.lane_input import LaneInput
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, ReadRange, TaskOrder
from streamapp_runtime.lanes.task_stores.lane_stores import LaneStores, RestoreProgress
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.operators.stateless.stream_operations import Read, declared_stream
from streamapp_runtime.program.program import PlacedOperation, Program
from streamapp_runtime.systems.app_systems import Systems

FILL_RECORDS: Final = 50_000
"""So many records are read into tables at once."""


class _InUseError(Exception):
    """Another process has a store."""


_LEFT_TO_THE_LANE: Final[tuple[type[Exception], ...]] = (_InUseError, *EXPECTED_ERRORS)
"""What keeps a store from being restored now. The lane tries again, and reports what is wrong."""


@dataclass(frozen=True, slots=True)
class StandbySetup:
    """The one setup of all lanes of a driver that stands by. Its stores are on disk, and have changelogs."""

    program: Program | None  # what fills tables; None where no table is filled
    setup: WorkerSetup
    initial_counts: Mapping[str, int]  # by side input: the partitions that its stream began with


def filling_program(program: Program, tables: Collection[str]) -> Program | None:
    """The part of a program that reads side inputs into these tables; None where there is none."""
    chosen: dict[str, PlacedOperation] = {}
    for placed in program.tasks:
        operation = placed.operation
        if isinstance(operation, Read):
            if operation.table in tables:
                chosen[placed.name] = placed
        elif placed.sources and all(edge.producer in chosen for edge in placed.sources):
            chosen[placed.name] = placed
    return replace(program, tasks=tuple(chosen.values())) if chosen else None


def packed_tasks(tasks: Iterable[TaskOrder]) -> bytes:
    """The tasks of a lane on their way to its executor."""
    return pickle.dumps(tuple(tasks))


def restore_standby_lane(
    standby: StandbySetup, seconds: float, lane: int, packed: Iterable[bytes]
) -> Iterator[tuple[int, RestoreProgress]]:
    """Bring stores to the checkpoints of their tasks, and tables to the ends of their streams.

    It takes so many seconds at most.
    """
    tasks: list[TaskOrder] = [task for one in packed for task in pickle.loads(one)]  # noqa: S301 - the driver's own bytes
    setup, deadline = standby.setup, time.monotonic() + seconds
    if standby.program is None:
        with closing(Systems(setup.systems)) as systems:
            yield lane, _restored(setup, tasks, systems, deadline)
        return
    with closing(LaneContext.open(standby.program, setup, ExpressionClient())) as context:
        restored = _restored(setup, tasks, context.systems, deadline)
        yield lane, restored + _Filling(context, standby.initial_counts, tasks).run(deadline)


def _restored(
    setup: WorkerSetup, tasks: Iterable[TaskOrder], systems: Systems, deadline: float
) -> RestoreProgress:
    """Replay changelogs."""
    place = Path(setup.state), setup.application_id, setup.run_id
    stores, progress = LaneStores(*place, setup.store_specs, begins=setup.begins), RestoreProgress()
    try:
        for task in tasks:
            with suppress(*_LEFT_TO_THE_LANE):
                progress += stores.restore(task, systems, deadline, _leave_alone)
    finally:
        stores.release()
    return progress


@dataclass(slots=True)
class _Filling:
    """The tables of a lane's tasks, which are read on from what they contain."""

    context: LaneContext
    initial_counts: Mapping[str, int]
    tasks: Sequence[TaskOrder]
    contained: dict[str, dict[Partition, int]] = field(default_factory=dict)  # by task
    ends: dict[Partition, int] = field(default_factory=dict)
    progress: RestoreProgress = field(default_factory=RestoreProgress)

    def run(self, deadline: float) -> RestoreProgress:
        """Read until all is there, until the deadline, or as far as records can be read."""
        stores, systems = self.context.side_input_stores, self.context.systems
        for task in self.tasks:
            with suppress(*_LEFT_TO_THE_LANE):
                self.contained[task.name] = stores.restore(task, systems, _leave_alone)
        with suppress(*_LEFT_TO_THE_LANE):
            self._look_for_ends()
            while (orders := self._next_orders()) and self._read(orders):
                if time.monotonic() >= deadline:
                    break
            every = (place for parts in self.contained.values() for place in parts.items())
            self.progress += RestoreProgress(left=sum(max(self.ends[p] - at, 0) for p, at in every))
        return self.progress

    def _look_for_ends(self) -> None:
        every = {p for parts in self.contained.values() for p in parts}
        self.ends = {partition: span.end for partition, span in self.context.systems.spans(every).items()}

    def _next_orders(self) -> tuple[TaskOrder, ...]:
        """The next records of each task."""
        places = [
            (task, partition, at)
            for task, parts in self.contained.items()
            for partition, at in sorted(parts.items())
            if at < self.ends[partition] and not self._waits(partition, parts)
        ]
        ranges: dict[str, list[ReadRange]] = {}
        for task, partition, at in places:
            end = min(self.ends[partition], at + max(FILL_RECORDS // len(places), 1))
            ranges.setdefault(task, []).append(ReadRange(partition.stream, partition.index, at, end))
        return tuple(
            replace(task, ranges=tuple(ranges[task.name])) for task in self.tasks if task.name in ranges
        )

    def _waits(self, partition: Partition, contained: Mapping[Partition, int]) -> bool:
        initial_count = self.initial_counts.get(declared_stream(partition.stream), 1)
        return waits_for_older(partition, self.ends, contained, initial_count)

    def _read(self, tasks: tuple[TaskOrder, ...]) -> bool:
        """Read these ranges into the tables; whether any got further."""
        lane = LaneOrder("", tasks)
        orders = Orders(0, 0, time.time_ns() // 1_000_000, (lane,))
        batch = LaneBatch(self.context, orders, lane, "")
        LaneInput(batch).read()  # what is bad is set aside by the lane, which reads it again
        if batch.state.failed:  # an expression fails on a row: the lane finds the record
            self.contained.clear()
            return False
        healthy = [index for index in range(len(tasks)) if index not in batch.failures]
        batch.side_inputs.contained = {index: self.contained[tasks[index].name] for index in healthy}
        before = sum(at for parts in self.contained.values() for at in parts.values())
        batch.side_inputs.apply(lane, healthy)
        for index, task in enumerate(tasks):
            if index in batch.failures:  # the lane fails in the same way, and says why
                del self.contained[task.name]
            else:
                self.contained[task.name] = batch.side_inputs.contained[index]
                counts = batch.counts[index]
                self.progress += RestoreProgress(counts.rows_in, size=counts.bytes_in)
        after = sum(at for parts in self.contained.values() for at in parts.values())
        return after > before or bool(batch.failures)


def _leave_alone() -> None:
    raise _InUseError
