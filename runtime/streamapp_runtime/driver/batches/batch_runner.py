"""Runners of batches: of all lanes together in lock step, or in rounds of lanes that do not wait.

A round gives every idle lane an order. It ends when all its lanes have reported, or when half of them have
and the others have been given as much time again. Those stay at work while further rounds go by without them,
and are heard when they report. So a slow lane costs the others no more than the pace of the faster half, and
lanes of one pace share the driver's work for a batch.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp_runtime.driver.executors.batch_exchange import BatchExchange, LaneByLaneExchange, LaneResult
from streamapp_runtime.driver.executors.lane_hosts import BatchWatcher
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders
from streamapp_runtime.lanes.protocol.task_report import TaskReport

LEAST_PATIENCE_SECONDS: Final = 0.005
"""So long a round waits at least for its slower half."""


@dataclass(frozen=True, slots=True)
class OrderedBatch:
    """The orders of a batch, and what it is about."""

    orders: Orders
    ranges: Sequence[PendingRange] = ()  # that it reads
    pending: Sequence[PendingRange] = ()  # what could be read when it began
    seconds: float | None = None  # that it may take


@dataclass(frozen=True, slots=True)
class FinishedOrders:
    """The reports of lanes on one batch, and what the batch was about."""

    lanes: frozenset[str]  # the processors
    reports: tuple[TaskReport, ...]
    ranges: tuple[PendingRange, ...]  # that these lanes were to read
    pending: Sequence[PendingRange]  # what could be read when the batch began
    seconds: float

    @property
    def reading_tasks(self) -> frozenset[str]:
        """The tasks that were given records."""
        return frozenset(one.task for one in self.ranges)


class BatchRunner(ABC):
    """Gives lanes the orders of batches, and takes what they report."""

    together = True  # all lanes are at the same batch, and none is at work between two steps

    @property
    def lanes(self) -> frozenset[str]:
        """The processors of the lanes that are at work between two steps."""
        return frozenset()

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks of these lanes."""
        return frozenset()

    @property
    def ranges(self) -> tuple[PendingRange, ...]:
        """The ranges that these lanes read."""
        return ()

    @abstractmethod
    def run(self, batch: OrderedBatch) -> Iterator[FinishedOrders]:
        """Run a batch: what lanes report of it and of earlier ones, as far as these are waited for."""

    def receive(self, seconds: float | None = None) -> FinishedOrders | None:
        """The orders that a lane at work has finished, waited for so long; None where no lane reports."""
        return None

    def abandon(self, error: BaseException | None = None) -> None:
        """Wait for nothing any more; what a watch makes of the error is raised in its place."""
        return


@dataclass(frozen=True, slots=True)
class LockStep(BatchRunner):
    """Batches of all lanes together."""

    exchange: BatchExchange | None  # None while lanes are not bound
    watch: BatchWatcher

    def run(self, batch: OrderedBatch) -> Iterator[FinishedOrders]:
        """Run a batch: what all lanes report of it."""
        if self.exchange is None:
            raise TypeError("lanes that are not bound run no batch")
        orders, begun = batch.orders, time.monotonic()
        with self.watch.over(orders.batch, batch.seconds) as address:
            reports = self.exchange.run(replace(orders, steps_to=address))
        lanes = frozenset(lane.processor for lane in orders.lanes)
        seconds = time.monotonic() - begun
        yield FinishedOrders(lanes, reports, tuple(batch.ranges), batch.pending, seconds)


@dataclass(slots=True, eq=False)
class _OpenBatch:
    """A batch that not all of its lanes have reported."""

    ranges: list[PendingRange]  # of lanes that are at work
    pending: Sequence[PendingRange]
    begun: float
    watch: ExitStack
    lanes: dict[str, LaneOrder]  # that are at work, by processor


@dataclass(slots=True)
class LaneRounds(BatchRunner):
    """Batches of lanes that do not wait for each other: those that lanes of one binding are at."""

    exchange: LaneByLaneExchange
    watch: BatchWatcher
    together = False
    clock: Callable[[], float] = time.monotonic
    _batches: dict[int, _OpenBatch] = field(default_factory=dict)

    @property
    def lanes(self) -> frozenset[str]:
        """The processors of the lanes that are at work."""
        return frozenset(name for batch in self._batches.values() for name in batch.lanes)

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks of the lanes that are at work."""
        every = (lane for batch in self._batches.values() for lane in batch.lanes.values())
        return frozenset(task.name for lane in every for task in lane.tasks)

    @property
    def ranges(self) -> tuple[PendingRange, ...]:
        """The ranges that lanes at work read."""
        return tuple(one for batch in self._batches.values() for one in batch.ranges)

    def run(self, batch: OrderedBatch) -> Iterator[FinishedOrders]:
        """Run a round: what its lanes report, and those of earlier rounds, as far as the round waits for it.

        The batch is watched until all its lanes have reported.
        """
        watch = ExitStack()
        address = watch.enter_context(self.watch.over(batch.orders.batch, batch.seconds))
        orders, begun = replace(batch.orders, steps_to=address), self.clock()
        lanes = {lane.processor: lane for lane in orders.lanes}
        open_batch = _OpenBatch(list(batch.ranges), batch.pending, begun, watch, lanes)
        self._batches[orders.batch] = open_batch
        ordered = len(lanes)
        self.exchange.send(orders)
        until: float | None = None
        while open_batch.lanes:
            left = None if until is None else until - self.clock()
            if left is not None and left <= 0:
                return
            finished = self.receive(left)
            if finished is None:
                return
            yield finished
            if until is None and 2 * len(open_batch.lanes) <= ordered:
                now = self.clock()
                until = now + max(now - begun, LEAST_PATIENCE_SECONDS)

    def receive(self, seconds: float | None = None) -> FinishedOrders | None:
        """The orders that a lane at work has finished, waited for so long; None where no lane reports."""
        if not self._batches:
            return None
        result = self.exchange.receive(seconds)
        return None if result is None else self._finished(result)

    def abandon(self, error: BaseException | None = None) -> None:
        """Wait for nothing any more; what a watch makes of the error is raised in its place."""
        batches, self._batches = list(self._batches.values()), {}
        with ExitStack() as watches:
            for batch in batches:
                watches.push(batch.watch)
            if error is not None:
                raise error

    def _finished(self, result: LaneResult) -> FinishedOrders:
        batch = self._batches[result.batch]
        tasks = {task.name for task in batch.lanes.pop(result.processor).tasks}
        ranges = tuple(one for one in batch.ranges if one.task in tasks)
        batch.ranges = [one for one in batch.ranges if one.task not in tasks]
        if not batch.lanes:
            del self._batches[result.batch]
            batch.watch.close()
        seconds = self.clock() - batch.begun
        return FinishedOrders(frozenset({result.processor}), result.reports, ranges, batch.pending, seconds)
