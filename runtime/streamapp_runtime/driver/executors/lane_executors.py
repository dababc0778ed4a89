"""The executors at their lanes, called by roll, and the frame that runs a batch on them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from streamapp_runtime.driver.executors.binding import bind_executors
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.driver.executors.lane_partitions import lane_rows
from streamapp_runtime.driver.executors.spark_session import (
    ExecutorsMissingError,
    in_one_process,
    live_executors,
)
from streamapp_runtime.lanes.protocol.executor_identity import IDENTITY_SCHEMA, report_identities
from streamapp_runtime.lanes.worker import layer_entry
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.failed_row_steps import all_sql_steps, apply_marking_failures
from streamapp_runtime.program.program import Program, PythonLayer
from streamapp_runtime.program.sql_layer import apply_layer

BINDING_ATTEMPTS = 40
_PAUSE_SECONDS = 0.25
_STRANGER_SECONDS = 5.0
"""How long the place of an executor is waited for that is there already."""


@dataclass(slots=True)
class LaneExecutors:
    """Who works at which lane. Spark's list may lag behind: what lanes say of themselves counts."""

    session: SparkSession
    program: Program
    setup: WorkerSetup
    pause: Callable[[float], None] = time.sleep
    seats: tuple[str, ...] = ()  # by lane, as the lane itself calls it; empty where there is one process
    bound: dict[str, str] = field(default_factory=dict)  # processor -> executor, as it was last
    wanted: Mapping[str, str | None] = field(default_factory=dict)  # processor -> where its stores are
    places: ExecutorLocations = no_locations
    _lanes: DataFrame | None = None

    def present(self, processors: Sequence[str]) -> tuple[str, ...]:
        """The processors that have an executor now."""
        if in_one_process(self.session):
            return tuple(processors)
        return tuple(self._bound(live_executors(self.session), processors))

    def muster(self, processors: Sequence[str], seconds: float) -> tuple[str, ...]:
        """The processors that have an executor: all, or those that came in time. None is an error."""
        deadline = time.monotonic() + seconds
        while len(found := self.present(processors)) < len(processors) and time.monotonic() < deadline:
            time.sleep(0.05)
        patience = min(deadline, time.monotonic() + _STRANGER_SECONDS)
        while self._strangers() and time.monotonic() < patience:
            time.sleep(0.05)
        found = self.present(processors)
        if not found:
            raise ExecutorsMissingError(f"none of {len(processors)} executors came within {seconds:g} s")
        return found

    def assemble(self, processors: Sequence[str], incarnation: int) -> DataFrame:
        """What every batch runs from now on; ExecutorsMissingError when lanes cannot be parted."""
        self._lanes = self._seated(processors)
        return self._frame(self._lanes, incarnation)

    def careful(self, incarnation: int) -> DataFrame | None:
        """The same for a search, in which rows that fail are told; None where no expression is Spark's."""
        if self._lanes is None or not all_sql_steps(self.program):
            return None
        return self._frame(self._lanes, incarnation, careful=True)

    def _seated(self, processors: Sequence[str]) -> DataFrame:
        """The lanes, each on an executor of its own."""
        if in_one_process(self.session):
            return lane_rows(self.session, (), len(processors))
        told: dict[int, str] = {}
        for _ in range(BINDING_ATTEMPTS):
            found = live_executors(self.session)
            bound = self._bound(found, processors)
            if len(bound) == len(processors):
                self.bound |= bound
                places = [(found[executor], executor) for executor in bound.values()]
                lanes = lane_rows(self.session, places, len(places))
                self._in_layer(0)
                told = {
                    row.lane: row.seat
                    for row in lanes.mapInArrow(report_identities, IDENTITY_SCHEMA).collect()
                }
                if len(set(told.values())) == len(processors):
                    self.seats = tuple(told[lane] for lane in range(len(processors)))
                    self._note(found)
                    return lanes
            self.pause(_PAUSE_SECONDS)  # one of them is gone, and Spark has not noticed yet
        raise ExecutorsMissingError(f"{len(processors)} lanes share {len(set(told.values()))} executors")

    def _strangers(self) -> bool:
        """Whether it is not known of all executors where they are; pods are labelled a moment late."""
        if self.places is no_locations or in_one_process(self.session):
            return False
        living = live_executors(self.session)
        return len(self.places(living)) < len(living)

    def _bound(self, living: Mapping[str, str], processors: Sequence[str]) -> dict[str, str]:
        return bind_executors(self.bound, living, processors, self.wanted, self.places(living))

    def _note(self, living: Mapping[str, str]) -> None:
        """From now on a processor's stores are where it works."""
        at = self.places(living)
        self.wanted = {**self.wanted, **{name: at[one] for name, one in self.bound.items() if one in at}}

    def _frame(self, lanes: DataFrame, incarnation: int, *, careful: bool = False) -> DataFrame:
        frame, layers, steps = lanes, self.program.layers, 0
        for number, layer in enumerate(layers):
            if isinstance(layer, PythonLayer):
                last = number == len(layers) - 1
                self._in_layer(number)
                work = layer_entry(self.program, number, self.setup, incarnation)
                frame = frame.mapInArrow(work, "task INT, report STRING" if last else self.program.schema)
            else:
                frame = apply_marking_failures(frame, layer, steps) if careful else apply_layer(frame, layer)
                steps += len(layer.steps)
        return frame

    def _in_layer(self, number: int) -> None:
        """A different environment gives each layer worker processes of its own."""
        self.session.sparkContext.environment["STREAMAPP_LAYER"] = str(number)
