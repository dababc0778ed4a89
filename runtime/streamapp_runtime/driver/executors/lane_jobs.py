"""The Spark jobs that host lanes which stay: one for each, so that one which fails ends no other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark import RDD, SparkContext

PROCESSOR_PROPERTY: Final = "mdc.processor"
"""By which Spark gives an executor's log lines the processor that they are of."""


@dataclass(frozen=True, slots=True)
class SparkLaneJobs:
    """The lanes of a binding are partitions of one RDD; one that comes back has an RDD of its own."""

    context: SparkContext
    bound: "RDD[object]"
    lanes: int
    returned: Callable[[int, str], "RDD[object]"]  # that of a lane whose processor has come back
    lives: Callable[[str], bool]  # whether Spark has a connection to the executor of a processor

    def serve(self, number: int, processor: str, ready: Callable[[], None]) -> None:
        """Host a lane until it has ended, or raise what became of it."""
        is_bound = number < self.lanes
        served = self.bound if is_bound else self.returned(number, processor)
        ready()
        self.context.setLocalProperty(PROCESSOR_PROPERTY, processor)
        self.context.runJob(served, iter, [number if is_bound else 0])

    def cancel(self) -> None:
        """Have all lanes ended."""
        self.context.cancelAllJobs()
