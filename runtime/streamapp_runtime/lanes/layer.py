"""One batch in one layer: rows go to the operations that read their edge, what comes of them goes on."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.lanes.commit import Committed, Ledger
from streamapp_runtime.lanes.dead_letters import BadRecord, letters
from streamapp_runtime.lanes.intake import Asked, take
from streamapp_runtime.lanes.orders import LaneOrder, Orders
from streamapp_runtime.lanes.outbox import Outbox
from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.lanes.step_times import StepTimes
from streamapp_runtime.lanes.wide import DEAD_LETTER, NAME, VALUE
from streamapp_runtime.operations.changes import Changes
from streamapp_runtime.operations.state import State
from streamapp_runtime.program.operations import PythonMap, Read, Write
from streamapp_runtime.program.program import CHANGELOG, REPORT, Edge, Task
from streamapp_runtime.stores.store import Store

if TYPE_CHECKING:
    from streamapp_runtime.lanes.stage import Stage

READ, COMMIT = "read", "commit"
"""The steps beside the operators: records fetched and decoded; outputs encoded and written."""


class LayerBatch:
    """The rows of one batch on their way through one layer, and what is noted meanwhile."""

    def __init__(self, stage: "Stage", orders: Orders, lane: LaneOrder, attempt: str) -> None:
        self.stage, self.orders, self.lane, self.attempt = stage, orders, lane, attempt
        self.failed: set[int] = set()
        self.told: dict[int, tuple[str, str]] = {}
        self.rows_in: Counter[int] = Counter()
        self.bytes_in: Counter[int] = Counter()
        self.bad: Counter[int] = Counter()
        self.restored: Counter[int] = Counter()
        self.changes = Changes()
        self.outbox = Outbox(stage.forms, stage.setup.partitions, orders.time_ms, stage.setup.dead_letters)
        for remote in stage.remotes.values():
            remote.begin()
        self.state = State(
            self._store, stage.schemas, tasks=len(lane.tasks), time_ms=orders.time_ms, remotes=stage.remotes
        )
        self.times = StepTimes()
        self._touched: set[tuple[int, str]] = set()

    def read(self) -> Iterator[pa.RecordBatch]:
        """The first layer: the records of all ranges, through the operations, out as wide rows."""
        asked = [(index, found) for index, task in enumerate(self.lane.tasks) for found in task.ranges]
        for number, (index, found) in enumerate(asked):
            read, outputs = self.stage.reads[found.stream]
            known = {o: why for s, p, o, why in self.orders.skip if (s, p) == (found.stream, found.partition)}
            chunks = take(
                read, self.stage.forms[found.stream], Asked(found, index, number, known), self.stage.system
            )
            for taken in () if index in self.failed else self.times.making(READ, chunks):
                count = len(taken.rows) if taken.rows else 0
                self.rows_in[index] += count + len(taken.bad)
                self.bytes_in[index] += taken.size
                yield from self._set_aside(index, taken.bad)
                if index in self.failed:
                    break
                if taken.rows and count:
                    yield from self._run({edge.tag: taken.rows for edge in outputs})

    def pass_on(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """A later layer: rows on its edges are taken up, others go by."""
        mine: dict[int, Slice] = {}
        for tag, found in self.stage.wide.by_tag(self._of_the_living(rows)):
            if tag in self.stage.edges:
                mine[tag] = self.stage.wide.to_slice(found, self.stage.edges[tag])
            elif self.stage.last:
                self._hear(tag, found)
            else:
                yield found
        if mine:
            yield from self._run(mine)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """When all rows have come: what operations do once a batch, then the changes that they leave."""
        rows: dict[int, Slice] = {}
        self.state.tasks = [index for index in range(len(self.lane.tasks)) if index not in self.failed]
        for task in () if self.orders.release else self.stage.layer.tasks:
            if task.name in self.stage.executors:
                with self.times.of(task.name):
                    made = self.stage.executors[task.name].settle(self.state)
                self._hand_on(task, made, rows)
        if rows:
            yield from self._run(rows)
        for change in self.state.changes.drain():
            if self.stage.last:
                self.changes.add(change.task, change.name, change.keys, change.values)
            else:
                yield self.stage.wide.from_changelog(change.name, change.task, change.keys, change.values)

    def tell(self, task: int, status: str, message: str) -> None:
        """Note that a task cannot go on; the first word counts."""
        self.failed.add(task)
        self.told.setdefault(task, (status, message))

    def fail_all(self, status: str, message: str) -> None:
        """Note that the whole lane cannot go on."""
        for index in range(len(self.lane.tasks)):
            self.tell(index, status, message)

    def note_pending(self) -> None:
        """Name the writes that now wait in stores after this attempt."""
        for task, name in self._touched:
            self.stage.custody.written(self.lane.tasks[task].name, name, self.attempt)

    def own_reports(self) -> list[tuple[int, str]]:
        """What the last layer has to hear of this one."""
        said: list[tuple[int, str]] = []
        for index in range(len(self.lane.tasks)):
            counts = [counter[index] for counter in self._counters()]
            if any(counts) or index in self.told or (index == 0 and self.state.counted):
                told = {"counts": counts, "told": self.told.get(index)}
                # What is of the whole lane is told once.
                whole = {} if said else {"times": self.times.by_step(), "counted": self.counted()}
                said.append((index, json.dumps(told | whole)))
        return said

    def counted(self) -> tuple[tuple[str, str, int], ...]:
        """What the operations of the lane counted."""
        return tuple((counter, name, number) for (counter, name), number in self.state.counted.items())

    def commit(self) -> Committed:
        """The last layer: everything of the tasks that did not fail, as one transaction."""
        setup = self.stage.setup
        ledger = Ledger(
            self.orders,
            self.lane,
            self.attempt,
            self.outbox,
            self.changes,
            frozenset(self.failed),
            setup.shelves,
            setup.run_id,
            setup.checkpoints,
        )
        with self.times.of(COMMIT):
            return ledger.commit(self.stage.system)

    def _run(self, rows: dict[int, Slice]) -> Iterator[pa.RecordBatch]:
        """Every operation of the layer that has rows on its edges, in their order."""
        for task in self.stage.layer.tasks:
            if isinstance(task.operation, Read) or not any(edge.tag in rows for edge in task.sources):
                continue
            if isinstance(task.operation, PythonMap) and not task.outputs:
                for edge in task.sources:  # nobody reads what it would make, or says what that would be
                    rows.pop(edge.tag, None)
                continue
            if isinstance(task.operation, Write):
                for edge in task.sources:
                    self.outbox.put(task.name, task.operation, rows.pop(edge.tag))
                continue
            slices = tuple(
                rows.pop(edge.tag) if edge.tag in rows else self._nothing(edge) for edge in task.sources
            )
            with self.times.of(task.name):
                made = self.stage.executors[task.name].execute(slices, self.state)
            self._hand_on(task, made, rows)
        yield from self._out(rows)

    def _hand_on(self, task: Task, made: Slice | None, rows: dict[int, Slice]) -> None:
        if made is not None and len(made):
            rows.update({edge.tag: made for edge in task.outputs})

    def _out(self, rows: dict[int, Slice]) -> Iterator[pa.RecordBatch]:
        for tag, found in rows.items():
            yield self.stage.wide.from_slice(found, self.stage.all_edges[tag], self.orders.time_ms)

    def _hear(self, tag: int, rows: pa.RecordBatch) -> None:
        """What earlier layers send to the last one."""
        if tag == REPORT:
            for task, text in zip(
                rows.column("task").to_pylist(), rows.column(NAME).to_pylist(), strict=True
            ):
                said = json.loads(text)
                for counter, number in zip(self._counters(), said["counts"], strict=True):
                    counter[task] += number
                self.times.add(said.get("times", {}))
                for counted, name, number in said.get("counted", ()):
                    self.state.count(counted, name, number)
                if said["told"]:
                    self.tell(task, *said["told"])
        elif tag == DEAD_LETTER:
            for task in pc.unique(rows.column("task")).to_pylist():
                chosen = rows.filter(pc.equal(rows.column("task"), task))
                self.outbox.put_letters(task, chosen.column("k"), chosen.column(VALUE))
        elif tag == CHANGELOG:
            names = rows.column(NAME).dictionary_encode()
            owners = np.stack([rows.column("task").to_numpy(), names.indices.to_numpy()])
            for task, name in np.unique(owners, axis=1).T.tolist():
                chosen = rows.filter(pa.array((owners[0] == task) & (owners[1] == name)))
                self.changes.add(
                    task, names.dictionary[name].as_py(), chosen.column("k"), chosen.column(VALUE)
                )

    def _of_the_living(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of tasks that have not failed, and what earlier layers say of those that have."""
        if not self.failed:
            return rows
        lost = pc.is_in(rows.column("task"), pa.array(sorted(self.failed), pa.int32()))
        return rows.filter(pc.or_(pc.invert(lost), pc.equal(rows.column("tag"), REPORT)))

    def _counters(self) -> tuple[Counter[int], ...]:
        """What layers count by task, in the order in which they tell it."""
        return self.rows_in, self.bytes_in, self.bad, self.restored

    def _set_aside(self, task: int, bad: tuple[BadRecord, ...]) -> Iterator[pa.RecordBatch]:
        """Do with bad records as the app wants."""
        self.bad[task] += len(bad)
        if bad and self.stage.setup.on_bad_record == "fail":
            self.tell(task, "bad", f"{bad[0].place}: {bad[0].reason}")
        elif bad and self.stage.setup.dead_letters:
            keys, values = letters(bad)
            if self.stage.last:
                self.outbox.put_letters(task, keys, values)
            else:
                yield self.stage.wide.from_letters(task, keys, values)

    def _nothing(self, edge: Edge) -> Slice:
        schema = self.stage.wide.schema
        return self.stage.wide.to_slice(pa.record_batch([pa.nulls(0, t) for t in schema.types], schema), edge)

    def _store(self, task: int, name: str) -> Store:
        self._touched.add((task, name))
        return self.stage.custody.store(self.lane.tasks[task].name, name)
