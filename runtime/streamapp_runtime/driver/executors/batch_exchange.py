"""The exchange that runs batches, as the loop knows it.

`run` gives the reports of all lanes of that batch and of no other, or raises
what befell it, and nothing of the exchange is at work any more once `close` has returned. Lanes can
also be given their orders, and heard, one by one.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

from streamapp_runtime.lanes.protocol.batch_orders import Orders
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
