"""The Spark jobs that host lanes which stay: one for each, so that one which fails ends no other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

PROCESSOR_PROPERTY: Final = "mdc.processor"
"""By which Spark gives an executor's log lines the processor that they are of."""


@dataclass(frozen=True, slots=True)
class SparkLaneJobs:
    """The lanes of a binding are partitions of one frame; one that comes back has a frame of its own."""

    session: SparkSession
    bound: DataFrame
    lanes: int
    returned: Callable[[int, str], DataFrame]  # the frame of a lane whose processor has come back

    def serve(self, number: int, processor: str, ready: Callable[[], None]) -> None:
        """Host a lane until it has ended, or raise what became of it."""
        is_bound = number < self.lanes
        frame = self.bound if is_bound else self.returned(number, processor)
        ready()
        self.session.sparkContext.setLocalProperty(PROCESSOR_PROPERTY, processor)
        _run_partition(frame, number if is_bound else 0)

    def cancel(self) -> None:
        """Have all lanes ended."""
        self.session.sparkContext.cancelAllJobs()


def _run_partition(frame: DataFrame, number: int) -> None:
    """Run one partition of a frame as a job; its rows are dropped."""
    context: Any = frame.sparkSession.sparkContext
    partitions = context._gateway.new_array(context._jvm.int, 1)  # noqa: SLF001 - Python has no such action
    partitions[0] = number
    frame._jdf.javaToPython().collectPartitions(partitions)  # noqa: SLF001
