"""One layer of a program in its worker process: settle the stores, pass rows on, and at the end commit.

A stage takes all of its input whatever happens, and says in its last rows what went wrong: a worker that
raises, or stops reading, is lost with all that it holds.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from streamapp_runtime.checkpoint import attempt_name
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.incarnation import check_newest
from streamapp_runtime.lanes.event_time.watermark_receiver import BookkeepingCache
from streamapp_runtime.lanes.event_time.watermark_sender import has_ended
from streamapp_runtime.lanes.layers.first_layer_batch import FirstLayerBatch
from streamapp_runtime.lanes.layers.lane_commit import CommitResult, report_rows
from streamapp_runtime.lanes.layers.lane_errors import LANE_ERRORS
from streamapp_runtime.lanes.layers.layer_batch import LayerBatch
from streamapp_runtime.lanes.layers.task_executor import task_executor
from streamapp_runtime.lanes.layers.wide_rows import WideRows
from streamapp_runtime.lanes.protocol.batch_orders import ORDERS_PROPERTY, LaneOrder, Orders
from streamapp_runtime.lanes.protocol.executor_identity import executor_identity
from streamapp_runtime.lanes.protocol.state_location import location_of
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.traffic import RESTORED_BYTES
from streamapp_runtime.lanes.records.stream_formats import layer_formats
from streamapp_runtime.lanes.task_stores.lane_stores import RESTORE_SECONDS, LaneStores
from streamapp_runtime.lanes.task_stores.side_input_stores import SideInputStores
from streamapp_runtime.lanes.task_stores.store_specs import (
    remote_tables_of_layer,
    side_input_stores_of_layer,
    stores_of_layer,
)
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.program.program import Program, PythonLayer
from streamapp_runtime.remote.remote_reader import RemoteReader
from streamapp_runtime.stores.directories import owned_stores as owned_by_app
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK
from streamapp_runtime.stores.directories.store_cleanup import UnownedStore, remove_unowned_stores
from streamapp_runtime.stores.store import StoreError
from streamapp_runtime.systems.connection import open_system

_EXPECTED: tuple[type[Exception], ...] = tuple(LANE_ERRORS)
SETTLE_STEP = "settle"
"""The step in which stores are brought to where their checkpoints are."""


class LayerWorker:
    """A layer as it lives in a worker, from the first batch of an incarnation to the last."""

    def __init__(self, program: Program, number: int, setup: WorkerSetup) -> None:
        layer = program.layers[number]
        if not isinstance(layer, PythonLayer):
            raise TypeError(f"layer {number} is Spark's")
        self.layer, self.setup = layer, setup
        self.first, self.last = number == 0, number == len(program.layers) - 1
        self.all_edges = {edge.tag: edge for edge in program.edges}
        self.edges = {edge.tag: edge for task in layer.tasks for edge in task.sources}
        self.reads = {
            t.operation.name: (t.operation, t.outputs) for t in layer.tasks if isinstance(t.operation, Read)
        }
        self.schemas = {table.name: arrow_schema(table.columns) for table in program.tables}
        self.executors = {
            task.name: task_executor(task)
            for task in layer.tasks
            if not isinstance(task.operation, Read | Write)
        }
        self.wide = WideRows(program)
        self.forms = layer_formats(layer, setup.avro)
        self.system = open_system(setup.connection)
        mine = {name: setup.shelves[name] for name in stores_of_layer(layer) if name in setup.shelves}
        place = Path(setup.state), setup.application_id, setup.run_id
        self.custody = LaneStores(*place, mine, begins=setup.begins)
        self.remotes = {name: RemoteReader(setup.remotes[name]) for name in remote_tables_of_layer(layer)}
        adjuncts = side_input_stores_of_layer(layer, setup.adjuncts)
        self.adjuncts = SideInputStores(Path(setup.state), setup.application_id, setup.run_id, adjuncts)
        self.books: BookkeepingCache = {}
        self.seat, self.location = executor_identity(), location_of(Path(setup.state))
        self.freed = self._freed() if self.last else ()

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Serve one batch."""
        context: Any = TaskContext.get()
        orders = Orders.parse(context.getLocalProperty(ORDERS_PROPERTY))
        lane = orders.lanes[context.partitionId()]
        attempt = attempt_name(orders.incarnation, orders.batch, context.taskAttemptId())
        if lane.seat in {"", self.seat}:
            yield from self._served(batches, orders, lane, attempt)
        else:
            yield from self._misplaced(batches, lane)

    def close(self) -> None:
        """Let go of everything; what is pending in stores is dropped."""
        for each in self.executors.values():
            with suppress(UserCodeError):  # nothing depends on how code of the app's own comes to its end
                each.close()
        for remote in self.remotes.values():
            remote.close()
        with suppress(StoreError):  # what a store could not write is restored when it is next opened
            self.custody.release()
            self.adjuncts.release()
        self.system.close()

    def _freed(self) -> tuple[UnownedStore, ...]:
        """Take away stores of the app on this host that it does not own any more."""
        owned = self.setup.owned
        if owned is None:
            return ()
        root = Path(self.setup.state)
        with suppress(OSError):  # another lane does the same just then
            owned_by_app.write_owned_stores(root, self.setup.application_id, owned)
            return tuple(remove_unowned_stores(root, self.setup.application_id, owned, time.time()))
        return ()

    def _misplaced(self, batches: Iterator[pa.RecordBatch], lane: LaneOrder) -> Iterator[pa.RecordBatch]:
        """Touch nothing: the stores here are another lane's, and those of this lane are elsewhere."""
        for _ in batches:
            pass
        if self.last:
            message = f"{lane.processor} came to another executor than its own"
            reports = [TaskReport(task.name, "misplaced", message=message) for task in lane.tasks]
            yield report_rows([(index, report.text()) for index, report in enumerate(reports)])

    def _served(
        self, batches: Iterator[pa.RecordBatch], orders: Orders, lane: LaneOrder, attempt: str
    ) -> Iterator[pa.RecordBatch]:
        kind = FirstLayerBatch if self.first else LayerBatch
        batch: LayerBatch = kind(self, orders, lane, attempt)
        for each in self.freed:
            batch.state.count("freedBytes", each.table, each.size)
        self.freed = ()
        with batch.times.of(SETTLE_STEP):
            batch.failed.update(self._settled(batch, lane))
        if isinstance(batch, FirstLayerBatch):
            for _ in batches:
                pass
            yield from self._guarded(batch, batch.read())
        else:
            for rows in batches:
                yield from self._guarded(batch, batch.pass_on(rows))
        yield from self._guarded(batch, batch.finish())
        batch.note_pending()
        if orders.release:
            self.custody.release()
            self.adjuncts.release()
        if self.last:
            yield report_rows(self._ended(batch))
        elif reports := batch.own_reports():
            yield self.wide.from_reports(reports)

    def _settled(self, batch: LayerBatch, lane: LaneOrder) -> Iterator[int]:
        """The tasks that cannot work in this batch: their stores are not there yet."""
        names = [task.name for task in lane.tasks]
        self.custody.release(names)
        self.adjuncts.release([*names, EVERY_TASK])
        try:
            self.adjuncts.share(lane.shared)
        except _EXPECTED as error:
            batch.fail_all(_kind(error), str(error))
        deadline = time.monotonic() + RESTORE_SECONDS
        check = partial(check_newest, self.system, self.setup.checkpoints, batch.orders.incarnation)
        for index, task in enumerate(lane.tasks):
            try:
                settled = self.custody.settle(task, self.system, deadline, check)
                batch.sides.contained[index] = self.adjuncts.settle(task, self.system, check)
            except _EXPECTED as error:
                batch.tell(index, _kind(error), str(error))
                yield index
                continue
            batch.restored[index] += settled.restored
            batch.state.count(RESTORED_BYTES, "", settled.size)
            if settled.left:
                batch.tell(index, "restoring", f"{settled.left} changelog entries to go")
                yield index

    def _guarded(self, batch: LayerBatch, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows as far as they come; what ends them early is told of all tasks of the lane."""
        try:
            yield from rows
        except _EXPECTED as error:
            batch.fail_all(_kind(error), str(error))

    def _ended(self, batch: LayerBatch) -> list[tuple[int, str]]:
        """Commit, and say of each task what became of it; the lane's first task tells how long it took."""
        try:
            done = None if batch.orders.trial else batch.commit()
        except _EXPECTED as error:
            batch.fail_all(_kind(error), str(error))
            done = None
        steps = tuple(batch.times.by_step().items())
        reports = []
        for index, task in enumerate(batch.lane.tasks):
            status, message = batch.told.get(index, ("tried" if batch.orders.trial else "committed", ""))
            checkpoint = done.checkpoints.get(index) if done else None
            report = TaskReport(
                task=task.name,
                status=status,
                checkpoint=checkpoint.encode().decode() if checkpoint else "",
                counted=batch.counted() if index == 0 else (),
                rows_in=batch.rows_in.get(index, 0),
                rows_out=done.rows_out.get(index, 0) if done else 0,
                bytes_in=batch.bytes_in.get(index, 0),
                restored=batch.restored.get(index, 0),
                bad=batch.bad.get(index, 0),
                message=message,
                steps=steps if index == 0 else (),
                held=batch.sides.held.get(index, ()),
                location=self.location,
                published=batch.sides.published if index == 0 else {},
                misfits=batch.misfits.text() if index == 0 else "",
                contained={str(p): at for p, at in batch.sides.contained.get(index, {}).items()},
                **_time(batch, done, index),
            )
            reports.append((index, report.text()))
        return reports


def _time(batch: LayerBatch, done: CommitResult | None, index: int) -> dict[str, Any]:
    """What a task has reached in event time, and when it is to be asked again though no records come."""
    time = batch.time
    if time is None or done is None or index not in done.reached:
        return {}
    keeping, news, reached = time.keeping, time.news.get(index), done.reached[index]
    return {
        "watermarks": reached.watermarks,
        "due": done.due[index],
        "idle_at": news.idle_at if news else None,
        "ended": has_ended(keeping, batch.lane.tasks[index].name, reached),
    }


def _kind(error: Exception) -> str:
    return next(name for kind, name in LANE_ERRORS.items() if isinstance(error, kind))
