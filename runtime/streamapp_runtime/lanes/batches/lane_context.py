"""The context of a lane in its worker: the same for every batch of an incarnation."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa

from streamapp_runtime.expressions.expression_client import ExpressionClient
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.record_format import RecordFormat
from streamapp_runtime.lanes.batches.task_executor import task_executor
from streamapp_runtime.lanes.event_time.watermark_receiver import BookkeepingCache
from streamapp_runtime.lanes.records.stream_formats import record_formats
from streamapp_runtime.lanes.task_stores.lane_stores import LaneStores
from streamapp_runtime.lanes.task_stores.side_input_stores import SideInputStores
from streamapp_runtime.lanes.task_stores.store_specs import (
    touched_remote_tables,
    touched_side_inputs,
    touched_stores,
)
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.operators.operation_executor import OperationExecutor
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.program.program import PlacedOperation, Program, RowEdge
from streamapp_runtime.remote.remote_reader import RemoteReader
from streamapp_runtime.stores.recorded_store import RecordedStore
from streamapp_runtime.stores.store import Store, StoreError
from streamapp_runtime.systems.app_systems import Systems


@dataclass(frozen=True, slots=True)
class LaneContext:
    """A program and what it works with. The worker opens it once, and gives it to each batch."""

    tasks: tuple[PlacedOperation, ...]
    setup: WorkerSetup
    systems: Systems
    reads: Mapping[
        str, tuple[Read, tuple[RowEdge, ...]]
    ]  # by stream: the operation and the edges of its rows
    read_streams: frozenset[str]
    formats: Mapping[str, RecordFormat]
    executors: Mapping[str, OperationExecutor]  # by operation
    schemas: Mapping[str, pa.Schema]  # by table
    remotes: Mapping[str, RemoteReader]  # by table
    lane_stores: LaneStores
    side_input_stores: SideInputStores
    bookkeeping_cache: BookkeepingCache
    expressions: ExpressionClient

    @classmethod
    def open(cls, program: Program, setup: WorkerSetup, expressions: ExpressionClient) -> Self:
        """The context of a program."""
        tasks = program.tasks
        stores = {
            name: setup.store_specs[name] for name in touched_stores(tasks) if name in setup.store_specs
        }
        systems = Systems(setup.systems)
        place = Path(setup.state), setup.application_id, setup.run_id
        side_inputs = touched_side_inputs(tasks, setup.side_input_specs)
        return cls(
            tasks=tasks,
            setup=setup,
            reads={
                placed.operation.name: (placed.operation, tuple(placed.outputs))
                for placed in tasks
                if isinstance(placed.operation, Read)
            },
            read_streams=frozenset(
                placed.operation.stream for placed in tasks if isinstance(placed.operation, Read)
            ),
            formats=record_formats(tasks, setup.format_options, systems),
            executors={
                placed.name: task_executor(placed)
                for placed in tasks
                if not isinstance(placed.operation, Read | Write)
            },
            schemas={table.name: arrow_schema(table.columns) for table in program.tables},
            remotes={name: RemoteReader(setup.remotes[name]) for name in touched_remote_tables(tasks)},
            systems=systems,
            lane_stores=LaneStores(*place, stores, begins=setup.begins),
            side_input_stores=SideInputStores(*place, side_inputs),
            bookkeeping_cache={},
            expressions=expressions,
        )

    def close(self) -> None:
        """Let go of everything; what is pending in stores is dropped."""
        for executor in self.executors.values():
            with suppress(UserCodeError):  # nothing depends on how code of the app's own comes to its end
                executor.close()
        for remote in self.remotes.values():
            remote.close()
        self.expressions.close()
        with suppress(StoreError):  # what a store could not write is restored when it is next opened
            self.release_stores()
        self.systems.close()

    def has_store(self, name: str) -> bool:
        """True if the lane keeps a table, or an operator's state, of this name."""
        return name in self.lane_stores.specs or name in self.side_input_stores.specs

    def store(self, task: str, name: str) -> RecordedStore:
        """A store that was restored for this batch."""
        if name in self.side_input_stores.specs:
            return self.side_input_stores.store(task, name)
        return self.lane_stores.store(task, name)

    def stores_on_disk(self) -> Iterator[tuple[str, Store]]:
        """The open stores that are files, by their table."""
        yield from self.lane_stores.on_disk()
        yield from self.side_input_stores.on_disk()

    def release_stores(self) -> None:
        """Close all stores."""
        self.lane_stores.release()
        self.side_input_stores.release()
