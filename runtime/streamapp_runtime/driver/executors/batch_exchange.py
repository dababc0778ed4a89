"""Exchanges that run batches: by a Spark job for each batch, or by lanes that stay.

Both keep the same contract: `run` gives the reports of all lanes of that batch and of no other, or raises
what befell it, and nothing of the exchange is at work any more once `close` has returned. Lanes that stay
can also be given their orders, and heard, one by one.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

from pyspark.sql import DataFrame

from streamapp_runtime.driver.executors.lane_server import LaneServer
from streamapp_runtime.lanes.protocol.batch_orders import BATCH_PROPERTY, Orders
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.protocol.task_report import TaskReport


class BatchExchange(Protocol):
    """Runs batches of one binding of lanes."""

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch."""

    def close(self) -> None:
        """End what is left of it."""


@dataclass(frozen=True, slots=True)
class LaneResult:
    """The reports of one lane on the order that it was at."""

    processor: str
    batch: int
    reports: tuple[TaskReport, ...]


@runtime_checkable
class LaneByLaneExchange(BatchExchange, Protocol):
    """Gives lanes their orders, and takes their reports, each lane by itself; one may be lost alone."""

    @property
    def lost(self) -> frozenset[str]:
        """The processors whose lanes have ended, and were not told to."""

    def send(self, orders: Orders) -> None:
        """Give these lanes, which are idle, their orders of a batch."""

    def receive(self, seconds: float | None = None) -> LaneResult | None:
        """The result of a lane that is at work, waited for; None where none comes within so many seconds."""

    def drop(self, processors: Collection[str]) -> None:
        """Have these lanes, which are lost, get no orders any more; the others start again."""

    def dismiss(self, processors: Collection[str]) -> None:
        """Have these lanes, which are idle, end; the others go on as they are."""

    def start(self, processor: str) -> None:
        """Start a lane for a processor that has none, unless one is being started."""

    @property
    def start_error(self) -> str:
        """Why the last lane that was started did not come about; empty where it did."""

    def joined(self) -> Iterator[str]:
        """The processors whose lanes were started and are ready by now; from here on they get orders."""


class LaneLoss(StrEnum):
    """The reason for the loss of a lane, where Spark does not give one."""

    CONNECTION = "its connection ended"
    SILENCE = "its executor does not answer"
    REPORT = "it reported of tasks that are not its own"


LANE_LOSS: Final = re.compile(rf"the lane of \S+ was lost: ({'|'.join(LaneLoss)})")


class LaneLostError(OSError):
    """A lane is lost, and Spark does not say why."""

    def __init__(self, processor: str, loss: LaneLoss) -> None:
        """Name the processor of the lane; the message is one of `LANE_LOSS`."""
        super().__init__(f"the lane of {processor} was lost: {loss}")


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
