"""The executors at their lanes, called by roll, and the frame that runs a batch on them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from streamapp_runtime.driver.seating import seated
from streamapp_runtime.driver.seats import seats
from streamapp_runtime.driver.session import ExecutorsMissingError, await_executors
from streamapp_runtime.lanes.setup import Setup
from streamapp_runtime.lanes.whereabouts import SCHEMA, answer
from streamapp_runtime.lanes.worker import entry
from streamapp_runtime.program.program import Program, PythonLayer
from streamapp_runtime.program.sql_layer import apply

ROLL_CALLS = 40
_PAUSE_SECONDS = 0.25


@dataclass(slots=True)
class Crew:
    """Who works at which lane. Spark's list may lag behind: what lanes say of themselves counts."""

    session: SparkSession
    program: Program
    setup: Setup
    lanes: int
    pause: Callable[[float], None] = time.sleep
    seats: tuple[str, ...] = ()  # by lane, as the lane itself calls it; empty where there is one process
    _executors: tuple[str, ...] = field(default=())

    def assemble(self, incarnation: int) -> DataFrame:
        """What every batch runs from now on; ExecutorsMissingError when lanes cannot be parted."""
        return self._frame(self._seated(), incarnation)

    def _seated(self) -> DataFrame:
        """The lanes, each on an executor of its own."""
        if self.lanes == 1:
            return seats(self.session, (), 1)
        for _ in range(ROLL_CALLS):
            found = await_executors(self.session, self.lanes)
            self._executors = seated(self._executors, found, self.lanes)
            lanes = seats(self.session, [(found[name], name) for name in self._executors], self.lanes)
            self._in_layer(0)
            told = {row.lane: row.seat for row in lanes.mapInArrow(answer, SCHEMA).collect()}
            if len(set(told.values())) == self.lanes:
                self.seats = tuple(told[lane] for lane in range(self.lanes))
                return lanes
            self.pause(_PAUSE_SECONDS)  # one of them is gone, and Spark has not noticed yet
        raise ExecutorsMissingError(f"{self.lanes} lanes share {len(set(told.values()))} executors")

    def _frame(self, lanes: DataFrame, incarnation: int) -> DataFrame:
        frame, layers = lanes, self.program.layers
        for number, layer in enumerate(layers):
            if isinstance(layer, PythonLayer):
                last = number == len(layers) - 1
                self._in_layer(number)
                work = entry(self.program, number, self.setup, incarnation)
                frame = frame.mapInArrow(work, "task INT, report STRING" if last else self.program.schema)
            else:
                frame = apply(frame, layer)
        return frame

    def _in_layer(self, number: int) -> None:
        """A different environment gives each layer worker processes of its own."""
        self.session.sparkContext.environment["STREAMAPP_LAYER"] = str(number)
