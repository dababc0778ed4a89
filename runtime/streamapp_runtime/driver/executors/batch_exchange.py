"""How a batch is run: by a Spark job for each batch, or by lanes that stay.

Both keep the same contract: `run` gives the reports of all lanes of that batch and of no other, or raises
what befell it, and nothing of the exchange is at work any more once `close` has returned. Lanes that stay
can also be given their orders, and heard, one by one.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from py4j.protocol import Py4JError
from pyspark import InheritableThread
from pyspark.sql import DataFrame

from streamapp_runtime.driver.executors.lane_server import LaneLeft, LaneReport, LaneServer
from streamapp_runtime.lanes.protocol.batch_orders import BATCH_PROPERTY, Orders
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.protocol.task_report import TaskReport

END_SECONDS: Final = 10.0
"""How long lanes that are at work may take to end by themselves, before Spark is asked to end them."""
CANCEL_SECONDS: Final = 30.0
"""How long Spark may take to end lanes."""
LOSS_SECONDS: Final = 15.0
"""How long after the end of a lane's connection Spark may take to say what became of it."""


class BatchExchange(Protocol):
    """Runs batches of one binding of lanes."""

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch."""

    def close(self) -> None:
        """End what is left of it."""


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What one lane reports of the order that it was at."""

    processor: str
    batch: int
    reports: tuple[TaskReport, ...]


@runtime_checkable
class LaneByLaneExchange(BatchExchange, Protocol):
    """Gives lanes their orders, and takes their reports, each lane by itself."""

    def send(self, orders: Orders) -> None:
        """Give these lanes, which are idle, their orders of a batch."""

    def receive(self, seconds: float | None = None) -> LaneResult | None:
        """The result of a lane that is at work, waited for; None where none comes within so many seconds."""


class LaneLostError(OSError):
    """The connection to a lane ended, and Spark does not say why."""


class JobPerBatch:
    """Each batch is a Spark job, in which each layer of each lane asks for the lane's order."""

    def __init__(self, frame: DataFrame, server: LaneServer) -> None:
        """Batches run what the frame says."""
        self._frame, self._server = frame, server

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch."""
        lanes = range(len(orders.lanes))
        self._server.offer(orders.batch, {lane: OrderMemory().encode(orders.of_lane(lane)) for lane in lanes})
        self._frame.sparkSession.sparkContext.setLocalProperty(BATCH_PROPERTY, str(orders.batch))
        # An RDD is made once; a frame's own `collect` makes one each time, and a query that Spark tells of.
        return tuple(TaskReport.parse(row.report) for row in self._frame.rdd.collect())

    def close(self) -> None:
        """Nothing is at work between two batches."""


class ResidentLanes:
    """One Spark job hosts all lanes: each asks for order after order, until there are no more."""

    def __init__(
        self,
        host: Callable[[], object],
        cancel: Callable[[], object],
        processors: Sequence[str],
        server: LaneServer,
    ) -> None:
        """Start the lanes: `host` runs until they have ended, and `cancel` has them ended."""
        self._server, self._cancel = server, cancel
        self._processors = tuple(processors)  # by the number of their lane
        self._numbers = {name: number for number, name in enumerate(self._processors)}
        self._memories = [OrderMemory() for _ in self._processors]
        self._awaited: dict[int, int] = {}  # by lane that is at work: the batch of its order
        self._error: Exception | None = None
        self._ended = threading.Event()
        self._thread = InheritableThread(target=self._run_host, args=(host,), daemon=True)
        self._thread.start()

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
        if self._ended.is_set():
            raise self._loss()
        numbers = {self._numbers[lane.processor]: index for index, lane in enumerate(orders.lanes)}
        encoded = {
            number: self._memories[number].encode(orders.of_lane(index)) for number, index in numbers.items()
        }
        self._awaited |= dict.fromkeys(numbers, orders.batch)
        self._server.offer(orders.batch, encoded)

    def receive(self, seconds: float | None = None) -> LaneResult | None:
        """The result of a lane that is at work, waited for; None where none comes within so many seconds."""
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            match self._server.next_event(left):
                case LaneReport(number, batch, of_tasks):
                    if batch == self._awaited.get(number):
                        del self._awaited[number]
                        reports = tuple(TaskReport.of_fields(fields) for fields in of_tasks)
                        self._memories[number].note(reports)
                        return LaneResult(self._processors[number], int(batch), reports)
                case LaneLeft(number):
                    self._ended.wait(LOSS_SECONDS)
                    lost = f"the connection to lane {number} ended"
                    raise self._error or LaneLostError(lost)
                case None:
                    if self._ended.is_set():
                        raise self._loss()
            if until is not None and time.monotonic() >= until:
                return None

    def close(self) -> None:
        """End the lanes, by Spark where they do not end by themselves."""
        self._server.end_lanes()
        if not self._ended.wait(END_SECONDS):
            with suppress(Py4JError, OSError):  # Spark has ended, and so have the lanes
                self._cancel()
            self._ended.wait(CANCEL_SECONDS)

    def _run_host(self, host: Callable[[], object]) -> None:
        try:
            host()
        except Exception as error:
            self._error = error
        self._ended.set()
        self._server.interrupt()

    def _loss(self) -> Exception:
        return self._error or LaneLostError("the lanes ended before they had reported")
