"""Where the lanes of one driver work: threads as executors, behind the real exchange and lane server."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from streamapp_runtime.driver.executors.batch_exchange import LaneLoss, LaneLostError, LaneResult
from streamapp_runtime.driver.executors.lane_hosts import HostedModel
from streamapp_runtime.driver.executors.lane_server import LaneServer
from streamapp_runtime.driver.executors.resident_lanes import ResidentLanes
from streamapp_runtime.lanes.protocol.batch_orders import Orders
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.program.program import Program
from tests.harness.schedules.fault_points import FaultPoint, FaultPoints, Participant
from tests.harness.schedules.threaded_executors import (
    BoundLane,
    ServedLane,
    ThreadedExecutor,
    executor_name,
)

TakeExecutor = Callable[[], ThreadedExecutor]


class WatchedLaneServer(LaneServer):
    """The real server, which notes what it was asked for: only then does a lane wait."""

    def __init__(self, points: FaultPoints) -> None:
        self.points = points
        self.asked: set[tuple[str, int, int]] = set()  # binding, lane, and the batch that it has served
        super().__init__()

    def _answer(self, lane: int, ask: Any) -> None:
        super()._answer(lane, ask)
        self.asked.add((ask.peer.handshake.address.binding, lane, ask.after))
        self.points.note_change()


StartLane = Callable[[int, str], ServedLane]
"""Has an executor serve a lane of this number and processor."""


@dataclass(slots=True, eq=False)
class LaneBinding:
    """The lanes of one binding, and what stands for their Spark jobs: one ends once its lane is lost."""

    start: StartLane
    points: FaultPoints
    lanes: dict[str, ServedLane] = field(default_factory=dict)  # by processor
    ordered: dict[str, int] = field(default_factory=dict)  # by processor: the batch that its lane is to serve
    cancelled: threading.Event = field(default_factory=threading.Event)
    returning: set[str] = field(default_factory=set)  # processors whose lanes are started again

    def serve(self, number: int, processor: str, ready: Callable[[], None]) -> None:
        """Return when the lane has ended; LaneLostError once it is lost."""
        lane = self.lanes.get(processor)
        try:
            if lane is None or lane.bound.lane != number:
                lane = self.start(number, processor)
                self.ordered.pop(processor, None)
                self.lanes[processor] = lane
            ready()
        finally:
            self.returning.discard(processor)
            self.points.note_change()
        self.points.wait_long(lambda: self.cancelled.is_set() or lane.ended or lane.lost)
        if not lane.ended or lane.error is not None:
            raise LaneLostError(processor, LaneLoss.CONNECTION) from lane.error

    def lives(self, processor: str) -> bool:
        """Always: lanes are threads of this process."""
        return True

    def cancel(self) -> None:
        """End the jobs, whatever their lanes do."""
        self.cancelled.set()
        self.points.note_change()

    @property
    def quiet(self) -> bool:
        """Whether no lane does anything before it is woken, or gets another order."""
        return not self.returning and all(
            lane.quiet and (lane.served >= self.ordered.get(name, 0) or not lane.waiting)
            for name, lane in self.lanes.items()
        )

    def note_orders(self, orders: Orders) -> None:
        """Note which batch lanes are to get."""
        self.ordered |= {lane.processor: orders.batch for lane in orders.lanes}


@dataclass(slots=True)
class WatchedExchange:
    """The real exchange of resident lanes, with a stop before orders are sent and after reports came."""

    exchange: ResidentLanes
    binding: LaneBinding
    stop: Callable[[FaultPoint], object]
    running: bool = False  # whether lanes are waited for, however long they take

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch."""
        self.stop(FaultPoint.SENDS)
        self.binding.note_orders(orders)
        self.running = True
        try:
            reports = self.exchange.run(orders)
        finally:
            self.running = False
        self.stop(FaultPoint.HEARD)
        return reports

    def send(self, orders: Orders) -> None:
        """Give these lanes their orders."""
        self.stop(FaultPoint.SENDS)
        self.binding.note_orders(orders)
        self.exchange.send(orders)

    def receive(self, seconds: float | None = None) -> LaneResult | None:
        """What a lane reports, waited for."""
        self.running = seconds is None
        try:
            result = self.exchange.receive(seconds)
        finally:
            self.running = False
        if result is not None:
            self.stop(FaultPoint.HEARD)
        return result

    @property
    def lost(self) -> frozenset[str]:
        """The processors whose lanes are lost."""
        return self.exchange.lost

    @property
    def start_error(self) -> str:
        """Why a lane does not come back."""
        return self.exchange.start_error

    def drop(self, processors: Collection[str]) -> None:
        """Go on without these lanes."""
        self.exchange.drop(processors)

    def dismiss(self, processors: Collection[str]) -> None:
        """Have these lanes end."""
        self.exchange.dismiss(processors)

    def start(self, processor: str) -> None:
        """Start a lane again."""
        if processor not in self.exchange._starting:
            self.binding.returning.add(processor)
        self.exchange.start(processor)

    def joined(self) -> Iterator[str]:
        """Those that were started, and are ready."""
        return self.exchange.joined()

    def close(self) -> None:
        """End the lanes."""
        self.exchange.close()


@dataclass(slots=True)
class ThreadedHosts:
    """The hosts of one model's lanes."""

    model: HostedModel
    hosting: "ThreadedHosting"
    executor_ids: dict[str, str] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    store_locations: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def sql_session(self) -> SparkSession:
        """No expression of the app is Spark's."""
        raise TypeError("the app needs no Spark")

    @property
    def program(self) -> Program:
        """What lanes do."""
        return self.model.program

    def present(self, processors: Sequence[str]) -> tuple[str, ...]:
        """Those that the schedule has not taken away; one is always there."""
        absent = self.hosting.absent
        return tuple(name for lane, name in enumerate(processors) if lane not in absent) or tuple(processors)

    def locations_of(self, processors: Sequence[str]) -> dict[str, str | None]:
        """Nowhere in particular."""
        return dict.fromkeys(processors)

    def wait_for(self, processors: Sequence[str], seconds: float) -> tuple[str, ...]:
        """Those that are there now."""
        return self.present(processors)

    def has_had(self, count: int) -> bool:
        """Those that are missing have been there."""
        return True

    def cannot_come(self, processors: Sequence[str]) -> bool:
        """No scheduler keeps a processor away."""
        return False

    def open_exchange(self, processors: Sequence[str], incarnation: int) -> WatchedExchange:
        """Bind a lane to an executor each."""
        return self.hosting.bind(self.model, processors, incarnation, self)

    def marking_exchange(self, incarnation: int) -> None:
        """No expression of the app is Spark's."""


@dataclass(slots=True)
class ThreadedHosting:
    """The executors of one driver."""

    driver: int
    points: FaultPoints
    take: TakeExecutor  # another executor: with a folder that an earlier one has left, or with a new one
    stop: Callable[[FaultPoint], object]
    server: WatchedLaneServer = field(init=False)
    executors: dict[int, ThreadedExecutor] = field(default_factory=dict)  # by lane
    former: list[ServedLane] = field(default_factory=list)  # of earlier bindings
    absent: set[int] = field(default_factory=set)
    misplaced: set[int] = field(
        default_factory=set
    )  # lanes that come to another executor at the next binding
    exchange: WatchedExchange | None = None

    def __post_init__(self) -> None:
        self.server = WatchedLaneServer(self.points)

    def hosts(self, model: HostedModel) -> ThreadedHosts:
        """The hosts of a model's lanes."""
        return ThreadedHosts(model, self)

    def watcher(self, slow: Callable[[str], None], waits: Callable[[str, str], None]) -> "UnboundedBatches":
        """Nobody watches."""
        return UnboundedBatches()

    @property
    def end_reason(self) -> str:
        """None."""
        return ""

    def bind(
        self, model: HostedModel, processors: Sequence[str], incarnation: int, hosts: ThreadedHosts
    ) -> WatchedExchange:
        """Begin another binding, once no lane of the one before is at work that may be told to end."""
        address = self.server.bind()
        self.points.wait_until(
            lambda: all(lane.ended or self.points.is_asleep(lane) for lane in self.former),
            "the end of the lanes of an earlier binding",
        )
        misplaced = {name for lane, name in enumerate(processors) if lane in self.misplaced}
        self.misplaced.clear()

        def start(number: int, processor: str) -> ServedLane:
            lane = processors.index(processor)
            participant = Participant(self.driver, lane)
            bound = BoundLane(
                *(participant, number, address, model.program, model.setup, incarnation),
                misplaced=processor in misplaced and number < len(processors),
            )
            served_lane = ServedLane(bound, self.points, self.server.asked)
            self._executor(lane).serve(served_lane)
            self.former.append(served_lane)
            return served_lane

        hosts.executor_ids = {name: executor_name(lane) for lane, name in enumerate(processors)}
        binding = LaneBinding(start, self.points)
        for number, processor in enumerate(processors):
            binding.lanes[processor] = start(number, processor)
        exchange = ResidentLanes(binding, processors, self.server)
        self.exchange = WatchedExchange(exchange, binding, self.stop)
        return self.exchange

    def end(self) -> None:
        """End the server and all executors but those that sleep."""
        self.server.close()
        for executor in self.executors.values():
            if executor.serves is None or not self.points.is_asleep(executor.serves):
                executor.end()

    def _executor(self, lane: int) -> ThreadedExecutor:
        """The executor of a lane: the one that it had, unless that is gone or still at something else."""
        executor = self.executors.get(lane)
        if executor is None or executor.dead or (executor.serves and not executor.serves.ended):
            executor = self.executors[lane] = self.take()
        return executor


class UnboundedBatches:
    """No batch is ended for the time that it takes."""

    def over(self, number: int, seconds: float | None) -> AbstractContextManager[str]:
        """Wait for ever."""
        return nullcontext("")
