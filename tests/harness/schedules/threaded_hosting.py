"""Where the lanes of one driver work: threads as executors, behind the real exchange and lane server."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from streamapp_runtime.driver.executors.batch_exchange import LaneLostError, LaneResult, ResidentLanes
from streamapp_runtime.driver.executors.lane_hosts import HostedModel
from streamapp_runtime.driver.executors.lane_server import LaneServer
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


@dataclass(slots=True, eq=False)
class LaneBinding:
    """The lanes of one binding, and what stands for their Spark job: it ends once a lane is lost."""

    lanes: list[ServedLane]
    processors: tuple[str, ...]  # by lane
    points: FaultPoints
    ordered: dict[str, int] = field(
        default_factory=dict
    )  # by processor: the batch that its lane has, or gets
    cancelled: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Return when all lanes have ended; LaneLostError once one of them is lost."""
        self.points.wait_long(lambda: self.cancelled.is_set() or self.ended or self._is_over())
        if not self.ended:
            losses = [
                str(lane.error or "its executor is gone") for lane in self.lanes if lane.lost or lane.error
            ]
            raise LaneLostError(f"a lane was lost: {'; '.join(losses)}")

    def cancel(self) -> None:
        """End the job, whatever its lanes do."""
        self.cancelled.set()
        self.points.note_change()

    @property
    def ended(self) -> bool:
        """Whether every lane has ended as it should."""
        return all(lane.ended and lane.error is None for lane in self.lanes)

    @property
    def quiet(self) -> bool:
        """Whether no lane does anything before it is woken, or gets another order."""
        return all(
            lane.quiet and (lane.served >= self.ordered.get(name, 0) or not lane.waiting)
            for name, lane in zip(self.processors, self.lanes, strict=True)
        )

    def note_orders(self, orders: Orders) -> None:
        """Note which batch lanes are to get."""
        self.ordered |= {lane.processor: orders.batch for lane in orders.lanes}

    def _is_over(self) -> bool:
        held = any(self.points.is_asleep(lane) and not lane.lost for lane in self.lanes)
        lost = any(lane.lost or lane.error is not None for lane in self.lanes)
        return lost and self.quiet and not held


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

    def close(self) -> None:
        """End the lanes."""
        self.exchange.close()


@dataclass(slots=True)
class ThreadedHosts:
    """The hosts of one model's lanes."""

    model: HostedModel
    hosting: "ThreadedHosting"
    executor_ids: tuple[str, ...] = ()
    bound: dict[str, str] = field(default_factory=dict)
    store_locations: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def session(self) -> SparkSession:
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

    def watcher(self, slow: Callable[[str], None]) -> "UnboundedBatches":
        """Nobody watches."""
        return UnboundedBatches()

    @property
    def alive(self) -> bool:
        """Always."""
        return True

    def bind(
        self, model: HostedModel, processors: Sequence[str], incarnation: int, hosts: ThreadedHosts
    ) -> WatchedExchange:
        """Begin another binding, once no lane of the one before is at work that may be told to end."""
        address = self.server.bind()
        self.points.wait_until(
            lambda: all(lane.ended or self.points.is_asleep(lane) for lane in self.former),
            "the end of the lanes of an earlier binding",
        )
        served = []
        for lane in range(len(processors)):
            participant = Participant(self.driver, lane)
            bound = BoundLane(
                participant, address, model.program, model.setup, incarnation, lane in self.misplaced
            )
            served.append(ServedLane(bound, self.points, self.server.asked))
        self.misplaced.clear()
        hosts.executor_ids = tuple(map(executor_name, range(len(processors))))
        binding = LaneBinding(served, tuple(processors), self.points)
        for lane, served_lane in enumerate(served):
            self._executor(lane).serve(served_lane)
        self.former += served
        exchange = ResidentLanes(binding.run, binding.cancel, processors, self.server)
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
