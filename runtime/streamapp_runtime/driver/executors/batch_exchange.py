"""How a batch is run: by a Spark job for each batch, or by lanes that stay.

Both keep the same contract: `run` gives the reports of all lanes of that batch and of no other, or raises
what befell it, and nothing of the exchange is at work any more once `close` has returned.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

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
        self, host: Callable[[], object], cancel: Callable[[], object], lanes: int, server: LaneServer
    ) -> None:
        """Start the lanes: `host` runs until they have ended, and `cancel` has them ended."""
        self._server, self._cancel = server, cancel
        self._memories = [OrderMemory() for _ in range(lanes)]
        self._error: Exception | None = None
        self._ended = threading.Event()
        self._thread = InheritableThread(target=self._run_host, args=(host,), daemon=True)
        self._thread.start()

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch."""
        if self._ended.is_set():
            raise self._loss()
        by_lane = enumerate(self._memories)
        self._server.offer(
            orders.batch, {lane: memory.encode(orders.of_lane(lane)) for lane, memory in by_lane}
        )
        reports: dict[int, tuple[TaskReport, ...]] = {}
        while len(reports) < len(self._memories):
            match self._server.next_event():
                case LaneReport(lane, batch, of_tasks):
                    if batch == orders.batch:
                        reports[lane] = tuple(TaskReport.of_fields(fields) for fields in of_tasks)
                        self._memories[lane].note(reports[lane])
                case LaneLeft(lane):
                    self._ended.wait(LOSS_SECONDS)
                    raise self._error or LaneLostError(f"the connection to lane {lane} ended")
                case None:
                    if self._ended.is_set():
                        raise self._loss()
        return tuple(report for lane in sorted(reports) for report in reports[lane])

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
