"""Executors as threads: each has a folder of stores, and a worker that serves the lane it is bound to.

The worker, its stores, its connection and its commits are those of production. A thread stands where Spark
has a process.
"""

import shutil
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from streamapp_runtime.lanes.batches.lane_worker import LaneWorker
from streamapp_runtime.lanes.connection.driver_connection import DriverConnection, DriverLostError
from streamapp_runtime.lanes.connection.lane_address import LaneAddress
from streamapp_runtime.lanes.worker import serve_orders
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.program import Program
from tests.harness.engine.one_system import OneSystem
from tests.harness.schedules.fault_points import (
    DeadWorkerError,
    FaultKind,
    FaultPoint,
    FaultPoints,
    Participant,
)
from tests.harness.schedules.watched_log import CommitHistory, watched_log

_attempts = count(1)


@dataclass(frozen=True, slots=True)
class BoundLane:
    """A lane of one binding, and how it is reached."""

    participant: Participant
    lane: int  # its number, which no other of the binding has
    address: LaneAddress
    program: Program
    setup: WorkerSetup
    incarnation: int
    misplaced: bool

    @property
    def executor_name(self) -> str:
        """What the worker of the lane says that its executor is called."""
        return "another" if self.misplaced else executor_name(self.participant.lane)


@dataclass(slots=True, eq=False)
class ServedLane:
    """A lane while an executor serves it, and the connection as the worker has it."""

    bound: BoundLane
    points: FaultPoints
    asked: Collection[tuple[str, int, int]]  # for what the driver was asked: binding, lane, batch served
    connection: DriverConnection | None = None
    served: int = 0  # the last batch that was reported
    asks: bool = False  # for an order
    lost: bool = False  # for its driver
    ended: bool = False
    error: Exception | None = None
    with_disk: bool = False  # whether its store goes with it
    _late: tuple[Any, ...] = ()  # a report that is to be repeated

    @property
    def waiting(self) -> bool:
        """Whether it has asked for an order, and its driver knows it."""
        return self.asks and (self.bound.address.binding, self.bound.lane, self.served) in self.asked

    @property
    def quiet(self) -> bool:
        """Whether nothing comes of the lane before it is woken, or gets an order."""
        return self.ended or self.waiting or self.points.is_asleep(self)

    def stop(self, point: FaultPoint) -> FaultKind | None:
        """Suffer what the schedule has for this point; what concerns reports is left to `report`."""
        kind = self.points.reached(self.bound.participant, point)
        match kind:
            case FaultKind.HOLD:
                self.points.sleep(self)
            case FaultKind.PAUSE:
                self.lost = True
                self.points.sleep(self)
            case FaultKind.DIE | FaultKind.DIE_WITH_DISK:
                self.with_disk = kind is FaultKind.DIE_WITH_DISK
                raise DeadWorkerError(f"a worker ended where {point}")
            case FaultKind.CUT if self.connection is not None:
                self.connection.close()
        return kind

    def next_order(self, lane: int, after: int) -> bytes | None:
        """The next order, from the driver itself."""
        if self.connection is None:
            raise TypeError("a lane that serves has a connection")
        self._note(asks=True)
        try:
            order = self.connection.next_order(lane, after)
        finally:
            self._note(asks=False)
        if order is not None:
            self.stop(FaultPoint.ORDERED)
        return order

    def report(self, lane: int, batch: int, reports: Any) -> None:
        """Report to the driver, as often as the schedule has it."""
        if self.connection is None:
            raise TypeError("a lane that serves has a connection")
        kind = self.stop(FaultPoint.REPORTS)
        if self._late:
            self.connection.report(*self._late)
        self._late = (lane, batch, reports) if kind is FaultKind.LATE else ()
        self.connection.report(lane, batch, reports)
        if kind is FaultKind.TWICE:
            self.connection.report(lane, batch, reports)
        self.served = batch

    def _note(self, *, asks: bool) -> None:
        self.asks = asks
        self.points.note_change()


@dataclass(slots=True, eq=False)
class ThreadedExecutor:
    """One executor: a thread, a folder of stores, and a worker from one incarnation to the next."""

    folder: Path
    points: FaultPoints
    history: CommitHistory
    serves: ServedLane | None = None
    dead: bool = False
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _worker: LaneWorker | None = None
    _key: tuple[str, int] | None = None

    def serve(self, lane: ServedLane) -> "Future[None]":
        """Serve a lane until its driver has no more orders."""
        self.serves = lane
        return self._pool.submit(self._serve, lane)

    def end(self) -> None:
        """End as a process ends: what is pending is dropped."""
        if not self.dead:
            self.dead = True
            self._pool.submit(self._close_worker).result()
            self._pool.shutdown()

    def _serve(self, lane: ServedLane) -> None:
        try:
            with DriverConnection.open(lane.bound.address) as connection:
                lane.connection = connection
                serve_orders(lane, lane.bound.lane, next(_attempts), lambda: self._worker_of(lane))
        except Exception as error:
            lane.error = error
            if isinstance(error, DeadWorkerError) or lane.lost or not isinstance(error, DriverLostError):
                self._close_worker()
                self.dead = True
                if lane.with_disk:
                    shutil.rmtree(self.folder, ignore_errors=True)
        lane.ended = True
        self.points.note_change()

    def _worker_of(self, lane: ServedLane) -> LaneWorker:
        """The worker, which lives as long as the incarnation; see `lanes.worker.lane_worker`."""
        bound = lane.bound
        key = (bound.setup.run_id, bound.incarnation)
        if self._worker is None or self._key != key:
            self._close_worker()
            self._worker = LaneWorker(bound.program, replace(bound.setup, state=str(self.folder)))
            self._key = key
            system = self._worker.context.systems.home
            log = watched_log(system, self._stop, self.history, of_lane=True)
            self._worker.context = replace(
                self._worker.context, systems=OneSystem(log).relocated(bound.setup.systems)
            )
        self._worker.executor_id = bound.executor_name
        return self._worker

    def _stop(self, point: FaultPoint) -> None:
        if self.serves is not None:
            self.serves.stop(point)

    def _close_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


def executor_name(lane: int | None) -> str:
    """What the executor of a processor is called, by the place of that."""
    return f"executor-{lane}"
