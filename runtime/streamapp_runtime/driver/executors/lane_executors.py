"""The executors of the lanes: waited for, bound, and run by a frame with the orders of a batch."""

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
from streamapp_runtime.lanes.protocol.batch_orders import ORDERS_PROPERTY, Orders
from streamapp_runtime.lanes.protocol.executor_identity import IDENTITY_SCHEMA, report_identities
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.worker import layer_entry
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.failed_row_steps import all_sql_steps, apply_marking_failures
from streamapp_runtime.program.program import Program, PythonLayer
from streamapp_runtime.program.sql_layer import apply_layer

BINDING_ATTEMPTS = 40
_PAUSE_SECONDS = 0.25
_LOCATION_SECONDS = 5.0
"""How long the location of an executor is waited for that is there already."""


@dataclass(slots=True)
class LaneExecutors:
    """Which executor runs which lane. Spark's list may lag behind: what lanes say of themselves counts."""

    session: SparkSession
    program: Program
    setup: WorkerSetup
    pause: Callable[[float], None] = time.sleep
    executor_ids: tuple[str, ...] = ()  # by lane, as workers report it; empty where there is one process
    bound: dict[str, str] = field(default_factory=dict)  # processor -> executor, as it was last
    store_locations: Mapping[str, str | None] = field(
        default_factory=dict
    )  # processor -> where its stores are
    locations: ExecutorLocations = no_locations
    _lanes: DataFrame | None = None

    def present(self, processors: Sequence[str]) -> tuple[str, ...]:
        """The processors that have an executor now."""
        if in_one_process(self.session):
            return tuple(processors)
        return tuple(self._bound(live_executors(self.session), processors))

    def locations_of(self, processors: Sequence[str]) -> dict[str, str | None]:
        """Where processors would run now; the location of their stores where that is not known."""
        locations: dict[str, str | None] = {name: self.store_locations.get(name) for name in processors}
        if not in_one_process(self.session):
            live = live_executors(self.session)
            at = self.locations(live)
            bound = self._bound(live, processors)
            locations |= {name: at[executor] for name, executor in bound.items() if executor in at}
        return locations

    def wait_for(self, processors: Sequence[str], seconds: float) -> tuple[str, ...]:
        """The processors that have an executor: all, or those that came in time. None is an error."""
        deadline = time.monotonic() + seconds
        while len(self.present(processors)) < len(processors) and time.monotonic() < deadline:
            time.sleep(0.05)
        location_deadline = min(deadline, time.monotonic() + _LOCATION_SECONDS)
        while self._locations_missing() and time.monotonic() < location_deadline:
            time.sleep(0.05)
        present = self.present(processors)
        if not present:
            raise ExecutorsMissingError(f"none of {len(processors)} executors came within {seconds:g} s")
        return present

    def lane_frame(self, processors: Sequence[str], incarnation: int) -> DataFrame:
        """What every batch runs from now on; ExecutorsMissingError when lanes cannot be parted."""
        self._lanes = self._bound_lanes(processors)
        return self._frame(self._lanes, incarnation)

    def marking_frame(self, incarnation: int) -> DataFrame | None:
        """The same for a search, in which rows that fail are marked; None where no expression is Spark's."""
        if self._lanes is None or not all_sql_steps(self.program):
            return None
        return self._frame(self._lanes, incarnation, mark_failures=True)

    def run_batch(self, frame: DataFrame, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch, as one Spark job; what lanes report of their tasks."""
        self.session.sparkContext.setLocalProperty(ORDERS_PROPERTY, orders.text())
        # An RDD is made once; a frame's own `collect` makes one each time, and a query that Spark tells of.
        return tuple(TaskReport.parse(row.report) for row in frame.rdd.collect())

    def _bound_lanes(self, processors: Sequence[str]) -> DataFrame:
        """The lanes, each on an executor of its own."""
        if in_one_process(self.session):
            return lane_rows(self.session, (), len(processors))
        ids: dict[int, str] = {}
        for _ in range(BINDING_ATTEMPTS):
            live = live_executors(self.session)
            bound = self._bound(live, processors)
            if len(bound) == len(processors):
                self.bound |= bound
                hosts = [(live[executor], executor) for executor in bound.values()]
                lanes = lane_rows(self.session, hosts, len(hosts))
                self._in_layer(0)
                ids = {
                    row.lane: row.executor_id
                    for row in lanes.mapInArrow(report_identities, IDENTITY_SCHEMA).collect()
                }
                if len(set(ids.values())) == len(processors):
                    self.executor_ids = tuple(ids[lane] for lane in range(len(processors)))
                    self._note_locations(live)
                    return lanes
            self.pause(_PAUSE_SECONDS)  # an executor is lost, and Spark has not noticed yet
        raise ExecutorsMissingError(f"{len(processors)} lanes share {len(set(ids.values()))} executors")

    def _locations_missing(self) -> bool:
        """Whether it is not known of all executors where they are; pods are labelled a moment late."""
        if self.locations is no_locations or in_one_process(self.session):
            return False
        live = live_executors(self.session)
        return len(self.locations(live)) < len(live)

    def _bound(self, live: Mapping[str, str], processors: Sequence[str]) -> dict[str, str]:
        return bind_executors(self.bound, live, processors, self.store_locations, self.locations(live))

    def _note_locations(self, live: Mapping[str, str]) -> None:
        """From now on a processor's stores are where it works."""
        at = self.locations(live)
        self.store_locations = {
            **self.store_locations,
            **{name: at[one] for name, one in self.bound.items() if one in at},
        }

    def _frame(self, lanes: DataFrame, incarnation: int, *, mark_failures: bool = False) -> DataFrame:
        frame, layers, steps = lanes, self.program.layers, 0
        for number, layer in enumerate(layers):
            if isinstance(layer, PythonLayer):
                last = number == len(layers) - 1
                self._in_layer(number)
                work = layer_entry(self.program, number, self.setup, incarnation)
                frame = frame.mapInArrow(work, "task INT, report STRING" if last else self.program.schema)
            else:
                frame = (
                    apply_marking_failures(frame, layer, steps)
                    if mark_failures
                    else apply_layer(frame, layer)
                )
                steps += len(layer.steps)
        return frame

    def _in_layer(self, number: int) -> None:
        """A different environment gives each layer worker processes of its own."""
        self.session.sparkContext.environment["STREAMAPP_LAYER"] = str(number)
