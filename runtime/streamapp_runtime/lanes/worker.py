"""The entry of a Python worker: finds the lane it has been serving, or becomes it, and hears its orders."""

import gc
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark import TaskContext

from streamapp_runtime.lanes.batches.lane_worker import LaneWorker
from streamapp_runtime.lanes.connection.driver_connection import DriverConnection
from streamapp_runtime.lanes.connection.lane_address import LaneAddress
from streamapp_runtime.lanes.protocol.executor_identity import report_identity
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.log_lines.python_logging import ProcessLogging
from streamapp_runtime.program.program import Program
from streamapp_runtime.redacted_output import redact_output, redacted_errors
from streamapp_runtime.systems.connection import SystemConnections, system_opener

LaneKey = tuple[str, int, int]
"""Run, incarnation, and number of the first lane that the same Spark job hosts."""

_serving: dict[LaneKey, LaneWorker] = {}
"""At most one: a worker is of one incarnation at a time."""
_logging: list[ProcessLogging] = []
"""How this process logs, once it has begun to; no edit changes it in the life of a process."""


@dataclass(frozen=True, slots=True)
class PackedProgram:
    """A program on its way to the workers that serve it. What is common to all batches is unpacked once."""

    key: LaneKey
    packed: bytes
    address: LaneAddress  # of the driver

    @classmethod
    def of(
        cls,
        program: Program,
        setup: WorkerSetup,
        incarnation: int,
        address: LaneAddress,
        first_lane: int = 0,
    ) -> "PackedProgram":
        """Pack a program."""
        packed = pickle.dumps((program.for_workers, setup))
        return cls((setup.run_id, incarnation, first_lane), packed, address)

    def every_batch(self, elements: Iterable[object]) -> Iterator[object]:
        """Serve order after order, in one Spark job."""
        with redacted_errors():
            for _ in elements:  # Spark waits until they are read
                pass
            self._every_batch()
            yield from ()

    def _every_batch(self) -> None:
        spark_task: Any = TaskContext.get()
        *_, first_lane = self.key
        lane, attempt = first_lane + spark_task.partitionId(), spark_task.taskAttemptId()
        with DriverConnection.open(self.address) as driver:
            serve_orders(driver, lane, attempt, lambda: lane_worker(self.key, self.packed))


class OrderSource(Protocol):
    """The driver, as a lane that serves it has it."""

    def next_order(self, lane: int, after: int) -> bytes | None:
        """The next order behind a batch, waited for; None where there are no more."""

    def report(self, lane: int, batch: int, reports: Sequence[Mapping[str, object]]) -> None:
        """Say what came of an order."""


def serve_orders(
    driver: OrderSource, lane: int, spark_attempt: int, worker: Callable[[], LaneWorker]
) -> None:
    """Serve a lane's order after order, until the driver has no more."""
    memory, served = OrderMemory(), 0
    while (order := driver.next_order(lane, served)) is not None:
        orders = memory.decode(order)
        reports = worker().serve(orders, spark_attempt)
        memory.note(reports)
        served = orders.batch
        driver.report(lane, served, [report.fields() for report in reports])


def prepare_for_lane(
    systems: SystemConnections | None, lane: int, elements: Iterable[object]
) -> Iterator[tuple[int, str]]:
    """Import the system's clients, and say where this is.

    A worker that has this function has imported this module, and all that lanes need besides.
    """
    for connection in systems.by_name.values() if systems else ():
        system_opener(connection)
    _keep_objects()
    return report_identity(lane, elements)


def lane_worker(key: LaneKey, packed: bytes) -> LaneWorker:
    """The lane of this process; one of an earlier incarnation is let go."""
    worker = _serving.get(key)
    if worker is None:
        for former in _serving.values():
            former.close()
        _serving.clear()
        program, setup = pickle.loads(packed)  # noqa: S301 - the driver's own bytes
        redact_output(setup.secret_sources.values(os.environ))
        if setup.logging is not None and not _logging:
            setup.logging.begin()
            _logging.append(setup.logging)
        worker = _serving[key] = LaneWorker(program, setup)
        _keep_objects()
    return worker


def _keep_objects() -> None:
    """Have no collection look at what there is. The daemon collects after each task."""
    gc.collect()
    gc.freeze()
