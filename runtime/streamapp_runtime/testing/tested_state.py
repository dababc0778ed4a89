"""The rows that tables and operators of an app under test keep."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.checkpoints.committed_rows import TaskRows, committed_rows
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.start.app_storage import AppStorage
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.lanes import tables_file
from streamapp_runtime.lanes.tables_file import KnownTable
from streamapp_runtime.operators.user_code.user_batch import KEY
from streamapp_runtime.stores.store import Store
from streamapp_runtime.systems.stream_system import StreamSystem
from streamapp_runtime.testing.in_process_lanes import LaneProcesses
from streamapp_runtime.testing.record_rows import Row


@dataclass(frozen=True, slots=True)
class TestedState:
    """The state that is kept: in changelogs as of the last commit, and in the stores of side inputs."""

    app: StreamApp
    storage: AppStorage
    system: StreamSystem
    processes: LaneProcesses

    def names(self) -> list[str]:
        """The tables and operators that have state."""
        return [table.name for table in self._tables()]

    def entries(self, name: str, lanes: Callable[[], Lanes]) -> Iterator[tuple[str, Row]]:
        """The keys and rows of a table or an operator, in all tasks."""
        for table in self._tables():
            if table.name == name:
                for part in self._parts(table, lanes):
                    for key, row in zip(part.keys.to_pylist(), part.rows.to_pylist(), strict=True):
                        yield key.decode(errors="backslashreplace"), row

    def arrow(self, name: str, lanes: Callable[[], Lanes]) -> pa.Table:
        """The rows of a table in all tasks, with their keys as the first column."""
        table = next(table for table in self._tables() if table.name == name)
        schema = pa.schema([pa.field(KEY, pa.string()), *arrow_schema(table.columns)])
        batches = []
        for part in self._parts(table, lanes):
            keys = pa.array(
                [key.decode(errors="backslashreplace") for key in part.keys.to_pylist()], pa.string()
            )
            batches.append(pa.RecordBatch.from_arrays([keys, *part.rows.columns], schema=schema))
        return pa.Table.from_batches(batches, schema)

    def _tables(self) -> tuple[KnownTable, ...]:
        return tables_file.read_tables_file(self.storage.state).get(self.app.application_id, ())

    def _parts(self, table: KnownTable, lanes: Callable[[], Lanes]) -> Iterator[TaskRows]:
        if table.changelog is not None:
            return committed_rows(self.system, self.app.application_id, table, None)
        return self._stored(table, {task: n for n, tasks in enumerate(lanes().values()) for task in tasks})

    def _stored(self, known: KnownTable, lanes: Mapping[str, int]) -> Iterator[TaskRows]:
        """A table that side inputs fill, as the stores of the lanes hold it."""
        spec = next((table for table in self.app.spec.tables if table.name == known.name), None)
        if spec is not None and spec.broadcast:
            # Rows see a copy of it, which the next batch brings up to date: this is what it is a copy of.
            for worker in self.processes.workers.values():
                with worker.context.side_input_stores.newest_shared(known.name) as store:
                    if store is not None:
                        yield from _task_rows("", store, known)
                        return
            return
        for lane, worker in self.processes.workers.items():
            for task in [task for task, number in lanes.items() if number == lane]:
                store = worker.context.side_input_stores.store(task, known.name)
                yield from _task_rows(task, store, known)


def _task_rows(task: str, store: Store, known: KnownTable) -> Iterator[TaskRows]:
    empty = pa.array([], pa.binary())
    chunks = list(store.batches())
    keys = pa.concat_arrays([empty, *(keys for keys, _ in chunks)])
    values = pa.concat_arrays([empty, *(values for _, values in chunks)])
    yield from (TaskRows(task, *rows) for rows in known.rows(keys, values, None))
