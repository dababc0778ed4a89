"""Lanes that stay: a job hosts each of them, and each asks for order after order until there are no more.

A lane that ends without having been told so is lost. The others go on, and another can be started in its
place: it has a number that no lane of the binding had before, so that nobody takes a lost one for it.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Protocol

from py4j.protocol import Py4JError
from pyspark import InheritableThread

from streamapp_runtime.driver.executors.batch_exchange import LaneLoss, LaneLostError, LaneResult
from streamapp_runtime.driver.executors.executor_probe import GONE_SECONDS
from streamapp_runtime.driver.executors.lane_server import LaneLeft, LaneReport, LaneServer
from streamapp_runtime.lanes.protocol.batch_orders import Orders
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.protocol.task_report import TaskReport

END_SECONDS: Final = 10.0
"""How long lanes that are at work may take to end by themselves, before Spark is asked to end them."""
LOST_END_SECONDS: Final = 1.0
"""The same where one is lost: what the others are at is done again by those that are bound next."""
CANCEL_SECONDS: Final = 30.0
"""How long Spark may take to end lanes."""
LOSS_SECONDS: Final = 15.0
"""How long after the end of a lane's connection Spark may take to say what became of it."""
SHORT_LOSS_SECONDS: Final = 2.0
"""The same where other lanes could go on meanwhile."""


class LaneJobs(Protocol):
    """The jobs that host lanes."""

    def serve(self, number: int, processor: str, ready: Callable[[], None]) -> None:
        """Host a lane until it has ended, or raise what became of it; `ready` is called before it begins."""

    def lives(self, processor: str) -> bool:
        """True if the host of a lane is still there."""

    def cancel(self) -> None:
        """Have all lanes ended."""


@dataclass(slots=True, eq=False)
class _ServedLane:
    """One lane, and the thread that waits for its end."""

    number: int
    processor: str
    memory: OrderMemory = field(default_factory=OrderMemory)
    awaited: int = 0  # the batch that it is at; 0 while it is idle
    tasks: frozenset[str] = frozenset()  # of that batch
    ready: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None


class ResidentLanes:
    """The lanes of one binding."""

    def __init__(
        self,
        jobs: LaneJobs,
        processors: Sequence[str],
        server: LaneServer,
        *,
        loss_seconds: float | None = None,
    ) -> None:
        """Start a lane for each processor, in their order."""
        self._jobs, self._server = jobs, server
        self._loss_seconds = LOSS_SECONDS if loss_seconds is None else loss_seconds
        self._numbers = count()
        self._lanes: dict[str, _ServedLane] = {}  # that get orders, by processor
        self._by_number: dict[int, _ServedLane] = {}  # the same, by their numbers
        self._starting: dict[str, _ServedLane] = {}
        self.start_error = ""
        for processor in processors:
            self._give_orders_to(self._start(processor))

    @property
    def lost(self) -> frozenset[str]:
        """The processors whose lanes have ended, and were not told to."""
        return frozenset(name for name, lane in self._lanes.items() if lane.ended.is_set())

    @property
    def awaited(self) -> tuple[str, ...]:
        """The processors whose reports are awaited."""
        return tuple(name for name, lane in list(self._lanes.items()) if lane.awaited)

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch."""
        self.send(orders)
        reports: dict[str, tuple[TaskReport, ...]] = {}
        while len(reports) < len(orders.lanes):
            if result := self.receive():
                reports[result.processor] = result.reports
        return tuple(report for lane in orders.lanes for report in reports[lane.processor])

    def send(self, orders: Orders) -> None:
        """Give these lanes, which are idle, their orders of a batch."""
        self._check()
        encoded = {}
        for index, order in enumerate(orders.lanes):
            lane = self._lanes[order.processor]
            encoded[lane.number] = lane.memory.encode(orders.of_lane(index))
            lane.awaited, lane.tasks = orders.batch, frozenset(task.name for task in order.tasks)
        self._server.offer(orders.batch, encoded)

    def receive(self, seconds: float | None = None) -> LaneResult | None:
        """The result of a lane that is at work, waited for; None where none comes within so many seconds."""
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            match self._server.next_event(left):
                case LaneReport(number, batch, reports):
                    if (lane := self._by_number.get(number)) and batch == lane.awaited:
                        if not lane.tasks.issuperset(report.task for report in reports):
                            self._lose(lane, LaneLoss.REPORT)
                            raise LaneLostError(lane.processor, LaneLoss.REPORT)
                        lane.awaited = 0
                        lane.memory.note(reports)
                        return LaneResult(lane.processor, int(batch), reports)
                case LaneLeft(number):
                    if lane := self._by_number.get(number):
                        self._await_loss(lane)
                        lost = LaneLostError(lane.processor, LaneLoss.CONNECTION)
                        lane.error = lane.error or lost
                        lane.ended.set()
                        raise lane.error
                case None:
                    self._check()
            if until is not None and time.monotonic() >= until:
                return None

    def lose(self, processors: Iterable[str]) -> None:
        """Take lanes that are at work for lost, whose hosts do not answer; any thread may see that."""
        for name in processors:
            if (lane := self._lanes.get(name)) and lane.awaited and not lane.ended.is_set():
                self._lose(lane, LaneLoss.SILENCE)
                self._server.interrupt()

    def drop(self, processors: Collection[str]) -> None:
        """Have these lanes, which are lost, get no orders any more; what they still say is not heard.

        The others start again: orders that they are at are void, and the next ones say everything.
        """
        self.dismiss(processors)
        for lane in self._lanes.values():
            lane.memory, lane.awaited = OrderMemory(), 0

    def dismiss(self, processors: Collection[str]) -> None:
        """Have these lanes, which are idle or lost, end; the others go on as they are."""
        for name in processors:
            lane = self._lanes.pop(name)
            del self._by_number[lane.number]
            self._server.retire(lane.number)

    def start(self, processor: str) -> None:
        """Start a lane for a processor that has none, unless one is being started."""
        if processor not in self._starting:
            self._starting[processor] = self._start(processor)

    def joined(self) -> Iterator[str]:
        """The processors whose lanes were started and are ready by now; from here on they get orders."""
        for name, lane in list(self._starting.items()):
            if lane.ended.is_set():  # it is started again when its processor is looked for next
                del self._starting[name]
                self.start_error = f"{name} cannot be started yet: {lane.error or 'it ended at once'}"
            elif lane.ready.is_set():
                self._give_orders_to(self._starting.pop(name))
                self.start_error = ""
                yield name

    def close(self) -> None:
        """End the lanes, by Spark where they do not end by themselves."""
        seconds = LOST_END_SECONDS if self.lost else END_SECONDS
        self._server.end_lanes()
        if not self._wait(seconds):
            with suppress(Py4JError, OSError):  # Spark has ended, and so have the lanes
                self._jobs.cancel()
            self._wait(CANCEL_SECONDS)

    def _start(self, processor: str) -> _ServedLane:
        lane = _ServedLane(next(self._numbers), processor)
        InheritableThread(target=self._host, args=(lane,), daemon=True).start()
        return lane

    def _host(self, lane: _ServedLane) -> None:
        try:
            self._jobs.serve(lane.number, lane.processor, lane.ready.set)
        except Exception as error:
            lane.error = error
        lane.ended.set()
        self._server.interrupt()

    def _lose(self, lane: _ServedLane, loss: LaneLoss) -> None:
        lane.error = LaneLostError(lane.processor, loss)
        lane.ended.set()

    def _give_orders_to(self, lane: _ServedLane) -> None:
        self._lanes[lane.processor] = self._by_number[lane.number] = lane

    def _check(self) -> None:
        """Raise what became of a lane that is lost."""
        for lane in self._lanes.values():
            if lane.ended.is_set():
                raise lane.error or LaneLostError(lane.processor, LaneLoss.CONNECTION)

    def _await_loss(self, lane: _ServedLane) -> None:
        """Wait for what Spark says became of a lane whose connection has ended.

        A cluster tells of an executor that ended, and of none on a node that is gone.
        """
        seconds = min(GONE_SECONDS, self._loss_seconds)
        if not lane.ended.wait(seconds) and self._jobs.lives(lane.processor):
            lane.ended.wait(self._loss_seconds - seconds)

    def _wait(self, seconds: float) -> bool:
        """True if all lanes have ended within so many seconds; those that are lost may never."""
        until = time.monotonic() + seconds
        current = [*self._lanes.values(), *self._starting.values()]
        return all(lane.ended.wait(max(until - time.monotonic(), 0.0)) for lane in current)
