"""Lanes in the test's own process: the workers of production, called by the loop itself.

The same layers, operators, stores and commits. What a layer of Spark's computes goes through the shared local
session and comes back, batch by batch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from streamapp_runtime.driver.executors.lane_hosts import HostedModel
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.lanes.layers.layer_worker import LayerWorker
from streamapp_runtime.lanes.protocol.batch_orders import Orders
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.program.failed_row_steps import all_sql_steps, apply_marking_failures
from streamapp_runtime.program.program import Program, PythonLayer, SqlLayer
from streamapp_runtime.program.spark_reasons import PIECES
from streamapp_runtime.program.sql_layer import apply_layer

_attempts = count(1)


class KilledError(Exception):
    """The app was killed, as a test has asked for."""


@dataclass(slots=True)
class LaneProcesses:
    """The workers of all lanes of one binding, by lane and layer."""

    workers: dict[tuple[int, int], LayerWorker] = field(default_factory=dict)

    def close(self) -> None:
        """End them as the end of their processes would: what is pending is dropped."""
        for worker in self.workers.values():
            worker.close()
        self.workers.clear()


@dataclass(slots=True)
class InProcessExchange:
    """Runs batches of one binding, lane after lane."""

    program: Program
    processes: LaneProcesses
    spark: SparkOnDemand
    kills: Callable[[], bool]  # whether this batch is to be killed before it commits
    mark_failures: bool = False

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch. Orders go through the codec, so that lanes hear what they hear in production."""
        is_killed = not orders.release and self.kills()
        orders = replace(orders, trial=True) if is_killed else orders
        reports: list[TaskReport] = []
        for lane in range(len(orders.lanes)):
            order = OrderMemory().decode(OrderMemory().encode(orders.of_lane(lane)))
            reports += self._run_lane(lane, order)
        if is_killed:
            raise KilledError
        return tuple(reports)

    def close(self) -> None:
        """End the lanes."""
        self.processes.close()

    def _run_lane(self, lane: int, orders: Orders) -> list[TaskReport]:
        attempt = next(_attempts)
        if self.program.is_all_python:
            return self.processes.workers[lane, 0].serve(orders, attempt)
        rows: Iterator[pa.RecordBatch] = iter(())
        steps = 0
        for number, layer in enumerate(self.program.layers):
            if isinstance(layer, PythonLayer):
                rows = self.processes.workers[lane, number].run(rows, orders, attempt)
            else:
                rows = self._computed(list(rows), layer, steps)
                steps += len(layer.steps)
        return [TaskReport.parse(text) for batch in rows for text in batch.column("report").to_pylist()]

    def _computed(
        self, batches: list[pa.RecordBatch], layer: SqlLayer, first: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows after a layer that is Spark's."""
        if not sum(batch.num_rows for batch in batches):
            return iter(())
        pieces = ", ".join(piece for step in layer.steps for piece in step.pieces)
        session: Any = self.spark.open(f"{PIECES}{pieces}")
        frame = session.createDataFrame(pa.Table.from_batches(batches), self.program.schema)
        mark = self.mark_failures
        computed = apply_marking_failures(frame, layer, first) if mark else apply_layer(frame, layer)
        return iter(computed.toArrow().to_batches())


@dataclass(slots=True)
class InProcessHosts:
    """The hosts of one model's lanes, all of which are this process."""

    model: HostedModel
    spark: SparkOnDemand
    kills: Callable[[], bool]
    processes: LaneProcesses
    executor_ids: dict[str, str] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    store_locations: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def sql_session(self) -> SparkSession:
        """The shared session."""
        return self.spark.open("")

    @property
    def program(self) -> Program:
        """The program that lanes run."""
        return self.model.program

    def present(self, processors: Sequence[str]) -> tuple[str, ...]:
        """All of them."""
        return tuple(processors)

    def locations_of(self, processors: Sequence[str]) -> dict[str, str | None]:
        """Nowhere in particular."""
        return dict.fromkeys(processors)

    def wait_for(self, processors: Sequence[str], seconds: float) -> tuple[str, ...]:
        """All of them, at once."""
        return tuple(processors)

    def has_had(self, count: int) -> bool:
        """They are there with this process."""
        return True

    def cannot_come(self, processors: Sequence[str]) -> bool:
        """No scheduler keeps a processor away."""
        return False

    def open_exchange(self, processors: Sequence[str], incarnation: int) -> InProcessExchange:
        """Begin with workers that know nothing."""
        self.processes.close()
        for lane in range(len(processors)):
            for number, layer in enumerate(self.program.layers):
                if isinstance(layer, PythonLayer):
                    self.processes.workers[lane, number] = LayerWorker(self.program, number, self.model.setup)
        return InProcessExchange(self.program, self.processes, self.spark, self.kills)

    def marking_exchange(self, incarnation: int) -> InProcessExchange | None:
        """The same workers, with rows marked on which an expression fails."""
        if not all_sql_steps(self.program):
            return None
        return InProcessExchange(self.program, self.processes, self.spark, lambda: False, mark_failures=True)


class UnwatchedBatches:
    """Nobody ends a batch in which a test has stopped at a breakpoint."""

    def over(self, number: int, seconds: float | None) -> AbstractContextManager[str]:
        """Wait for ever."""
        return nullcontext("")


@dataclass(slots=True)
class InProcessHosting:
    """Lanes in this process."""

    spark: SparkOnDemand
    kill_next: bool = False  # whether the next batch with records is killed before it commits
    processes: LaneProcesses = field(default_factory=LaneProcesses)

    def hosts(self, model: HostedModel) -> InProcessHosts:
        """The hosts of a model's lanes."""
        return InProcessHosts(model, self.spark, self._kills, self.processes)

    def watcher(self, slow: Callable[[str], None], waits: Callable[[str, str], None]) -> UnwatchedBatches:
        """Nobody watches."""
        return UnwatchedBatches()

    @property
    def end_reason(self) -> str:
        """None."""
        return ""

    def _kills(self) -> bool:
        kill, self.kill_next = self.kill_next, False
        return kill
