"""One layer of a program in its worker process: settle the stores, pass rows on, and at the end commit.

A stage takes all of its input whatever happens, and says in its last rows what went wrong: a worker that
raises, or stops reading, is lost with all that it holds.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from streamapp_runtime.checkpoint import attempt_name
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.incarnation import check_newest
from streamapp_runtime.lanes.adjuncts import Adjuncts
from streamapp_runtime.lanes.commit import Committed, told
from streamapp_runtime.lanes.custody import SLICE_SECONDS, Custody
from streamapp_runtime.lanes.executors import executor
from streamapp_runtime.lanes.first_layer import FirstLayerBatch
from streamapp_runtime.lanes.forms import forms
from streamapp_runtime.lanes.layer import LayerBatch
from streamapp_runtime.lanes.listening import Memory
from streamapp_runtime.lanes.location import location_of
from streamapp_runtime.lanes.orders import PROPERTY, LaneOrder, Orders, Report
from streamapp_runtime.lanes.setup import Setup
from streamapp_runtime.lanes.shelves import adjuncts_of, remotes_of, shelves_of
from streamapp_runtime.lanes.speaking import has_ended
from streamapp_runtime.lanes.traffic import RESTORED_BYTES
from streamapp_runtime.lanes.whereabouts import this_seat
from streamapp_runtime.lanes.wide import WideRows
from streamapp_runtime.operations.user_code import UserCodeError
from streamapp_runtime.program.operations import Read, Write
from streamapp_runtime.program.program import Program, PythonLayer
from streamapp_runtime.remote.away import AwayError, WaitingError
from streamapp_runtime.remote.reader import RemoteReader
from streamapp_runtime.stores.directories import owned_stores as owned_by_app
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK
from streamapp_runtime.stores.directories.store_cleanup import UnownedStore, remove_unowned_stores
from streamapp_runtime.stores.store import StoreBusyError, StoreError
from streamapp_runtime.systems.connection import open_system
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    FencedError,
    FullError,
    OutOfRangeError,
    RecordRefusedError,
    UnavailableError,
    UnknownStreamError,
)

EXPECTED: Mapping[type[Exception], str] = {
    FencedError: "fenced",
    DeniedError: "denied",
    FullError: "full",
    UnavailableError: "unavailable",
    RecordRefusedError: "refused",
    OutOfRangeError: "gone",
    UnknownStreamError: "missing",
    StoreBusyError: "busy",
    StoreError: "store",
    UserCodeError: "code",
    WaitingError: "waiting",
    AwayError: "away",
}
"""What may happen to a lane without anything being wrong with the program, and what it is called.

The first that fits counts.
"""
_EXPECTED: tuple[type[Exception], ...] = tuple(EXPECTED)
SETTLE = "settle"
"""The step in which stores are brought to where their checkpoints are."""


class Stage:
    """A layer as it lives in a worker, from the first batch of an incarnation to the last."""

    def __init__(self, program: Program, number: int, setup: Setup) -> None:
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
            task.name: executor(task) for task in layer.tasks if not isinstance(task.operation, Read | Write)
        }
        self.wide = WideRows(program)
        self.forms = forms(layer, setup.avro)
        self.system = open_system(setup.connection)
        mine = {name: setup.shelves[name] for name in shelves_of(layer) if name in setup.shelves}
        place = Path(setup.state), setup.application_id, setup.run_id
        self.custody = Custody(*place, mine, begins=setup.begins)
        self.remotes = {name: RemoteReader(setup.remotes[name]) for name in remotes_of(layer)}
        adjuncts = adjuncts_of(layer, setup.adjuncts)
        self.adjuncts = Adjuncts(Path(setup.state), setup.application_id, setup.run_id, adjuncts)
        self.books: Memory = {}
        self.seat, self.location = this_seat(), location_of(Path(setup.state))
        self.freed = self._freed() if self.last else ()

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Serve one batch."""
        context: Any = TaskContext.get()
        orders = Orders.parse(context.getLocalProperty(PROPERTY))
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
            reports = [Report(task.name, "misplaced", message=message) for task in lane.tasks]
            yield told([(index, report.text()) for index, report in enumerate(reports)])

    def _served(
        self, batches: Iterator[pa.RecordBatch], orders: Orders, lane: LaneOrder, attempt: str
    ) -> Iterator[pa.RecordBatch]:
        kind = FirstLayerBatch if self.first else LayerBatch
        batch: LayerBatch = kind(self, orders, lane, attempt)
        for each in self.freed:
            batch.state.count("freedBytes", each.table, each.size)
        self.freed = ()
        with batch.times.of(SETTLE):
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
            yield told(self._ended(batch))
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
        deadline = time.monotonic() + SLICE_SECONDS
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
            report = Report(
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


def _time(batch: LayerBatch, done: Committed | None, index: int) -> dict[str, Any]:
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
    return next(name for kind, name in EXPECTED.items() if isinstance(error, kind))
