"""A user's stateful class.

    class Sessions:
        state_columns = pa.schema([("seen", pa.int64())])    # of a table of its own, where it wants one

        def open(self, context): ...                         # once in each worker
        def process(self, batch, state, out): ...            # for each task that has rows
        def close(self): ...

`open` and `close` may be left out. `batch` is a RecordBatch with the columns of the source and `__key`,
`__time` and `__tombstone`. `state` holds the task's tables: those of the operator by name, its own as
`state.own`. `out(batch)` puts rows out, as often as wanted; `user_rows` says what key and time they have. One
instance serves all tasks of a worker, so what has to be remembered belongs into `state`, never into it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.log_lines.line_labels import LINE_LABELS
from streamapp_runtime.operators.operation_executor import OperationRunner, StateForm
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.stored_entries import EntryKind, StoredEntries
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.operators.user_code.user_batch import user_rows, with_key_and_time
from streamapp_runtime.operators.user_code.user_code_loader import (
    UserCodeError,
    load_user_code,
    user_code_guard,
)
from streamapp_runtime.operators.user_code.user_operations import ProcessRows
from streamapp_runtime.rows.distinct_keys import last_of_each
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task


@dataclass(frozen=True, slots=True)
class TableView:
    """One task's part of a table. Keys are arrays of texts or of bytes; a text is its UTF-8."""

    rows: TypedRows
    required: tuple[str, ...] = ()  # the columns that are never null

    @property
    def schema(self) -> pa.Schema:
        """The table's columns."""
        return self.rows.schema

    def get(self, keys: pa.Array) -> pa.RecordBatch:
        """A row for each key, of nulls where the table has none; what was put before is seen."""
        encoded = _bytes(keys).dictionary_encode()
        lookup = self.rows.find(encoded.dictionary)
        return lookup.rows.take(lookup.places.take(encoded.indices))

    def has(self, keys: pa.Array) -> pa.BooleanArray:
        """For each key whether the table has a row."""
        encoded = _bytes(keys).dictionary_encode()
        return self.rows.find(encoded.dictionary).places.take(encoded.indices).is_valid()

    def put(self, keys: pa.Array, rows: pa.RecordBatch) -> None:
        """Write a row under each key; of equal keys the last row stays. Columns go by name."""
        keys = _bytes(keys)
        if len(keys) != rows.num_rows:
            raise ValueError(f"{len(keys)} keys for {rows.num_rows} rows")
        if keys.null_count:
            raise ValueError("a table has no row for a null key")
        for name in self.required:
            if rows.column(name).null_count:
                raise ValueError(f'column "{name}" of the table is NOT NULL, and a row has no value for it')
        last = last_of_each(keys)
        columns = [rows.column(field.name).cast(field.type).take(last) for field in self.schema]
        self.rows.put(keys.take(last), pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def delete(self, keys: pa.Array) -> None:
        """Delete the rows of keys, where there are some."""
        self.rows.delete(pc.unique(_bytes(keys).drop_null()))

    def scan(
        self, start: bytes = b"", end: bytes | None = None
    ) -> Iterator[tuple[pa.BinaryArray, pa.RecordBatch]]:
        """Keys and rows with start <= key < end, in order of the key, some thousand at a time."""
        return self.rows.scan(start, end)


@dataclass(frozen=True, slots=True)
class RemoteView:
    """A remote table. It is only read, by its keys."""

    state: LaneState
    name: str

    @property
    def schema(self) -> pa.Schema:
        """The table's columns."""
        return self.state.schemas[self.name]

    def get(self, keys: pa.Array) -> pa.RecordBatch:
        """A row for each key, of nulls where the table has none."""
        encoded = _bytes(keys).dictionary_encode()
        lookup = self.state.ask(self.name, encoded.dictionary)
        return lookup.rows.take(lookup.places.take(encoded.indices))

    def has(self, keys: pa.Array) -> pa.BooleanArray:
        """For each key whether the table has a row."""
        encoded = _bytes(keys).dictionary_encode()
        return self.state.ask(self.name, encoded.dictionary).places.take(encoded.indices).is_valid()


@dataclass(frozen=True, slots=True)
class TaskState:
    """The tables of one task, by name: `state["users"].get(batch["__key"])`."""

    tables: Mapping[str, TableView | RemoteView]
    private: TableView | None

    def __getitem__(self, name: str) -> TableView | RemoteView:
        if name not in self.tables:
            table_names = ", ".join(self.tables) or "none"
            raise KeyError(f'no table "{name}" is named in the operator\'s tables; named are: {table_names}')
        return self.tables[name]

    @property
    def own(self) -> TableView:
        """The table that belongs to the class alone: its columns are the class's `state_columns`."""
        if self.private is None:
            raise AttributeError("the class has no state table; give it state_columns, a pyarrow.Schema")
        return self.private


def _bytes(keys: pa.Array) -> pa.Array:
    return keys.cast(pa.binary())


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """The context that a class gets when it is opened."""

    operator: str
    tables: Mapping[str, pa.Schema]


class ProcessExecutor:
    """Runs Process. The class is loaded at once, and opened when the first rows come."""

    def __init__(self, operation: ProcessRows, schema: pa.Schema, output_schema: pa.Schema) -> None:
        self._operation = operation
        self._schema = schema
        self._output_schema = output_schema
        kind = load_user_code(operation.python)
        self._own = state_columns_of(kind, operation.python)
        with user_code_guard(operation.python, "cannot be made"):
            self._instance: Any = kind()
        self._opened = False

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows that the class puts out for those that it gets."""
        (rows,) = slices
        if not self._opened:
            self._call("open", ProcessContext(self._operation.state, self._tables(state)))
            self._opened = True
        return concat_slices(
            [rows_out for task, part in slices_by_task(rows) for rows_out in self._of_task(part, task, state)]
        )

    def finish_batch(self, state: LaneState) -> Slice | None:
        """Nothing is due."""
        return None

    def close(self) -> None:
        """Let the class close what it opened."""
        if self._opened:
            self._opened = False
            self._call("close")

    def _of_task(self, rows: Slice, task: int, state: LaneState) -> list[Slice]:
        with LINE_LABELS.of_task(task):
            return self._processed(rows, task, state)

    def _processed(self, rows: Slice, task: int, state: LaneState) -> list[Slice]:
        out: list[Slice] = []
        python = self._operation.python

        def put_out(batch: object) -> None:
            out.append(user_rows(rows, batch, self._output_schema, python).rows)

        views: dict[str, TableView | RemoteView] = {
            name: TableView(TypedRows(state, task, name, state.schemas[name]), self._required(name))
            for name in self._operation.tables
        }
        for name in self._operation.remotes:
            views[name] = RemoteView(state, name)
        own_table = self._own and TableView(TypedRows(state, task, self._operation.state, self._own))
        with user_code_guard(python, "failed in process"):
            self._instance.process(
                with_key_and_time(rows, self._schema), TaskState(views, own_table), put_out
            )
        return out

    def _required(self, table: str) -> tuple[str, ...]:
        return tuple(column for name, column in self._operation.required if name == table)

    def _tables(self, state: LaneState) -> dict[str, pa.Schema]:
        names = (*self._operation.tables, *self._operation.remotes)
        return {name: state.schemas[name] for name in names}

    def _call(self, name: str, *arguments: object) -> None:
        with user_code_guard(self._operation.python, f"failed in {name}"):
            if hasattr(self._instance, name):
                getattr(self._instance, name)(*arguments)


def state_columns_of(kind: object, python: str) -> pa.Schema | None:
    """The columns of a class's own table, None where it has none."""
    columns = getattr(kind, "state_columns", None)
    if columns is not None and not isinstance(columns, pa.Schema):
        raise UserCodeError(
            python, f"has state_columns of type {type(columns).__name__}", "they have to be a pyarrow.Schema"
        )
    return columns


def _executor(
    operation: ProcessRows, schemas: Sequence[pa.Schema], output_schema: pa.Schema
) -> ProcessExecutor:
    (columns,) = schemas
    return ProcessExecutor(operation, columns, output_schema)


def _state_form(operation: ProcessRows, _: Sequence[pa.Schema]) -> StateForm | None:
    columns = state_columns_of(load_user_code(operation.python), operation.python)
    if columns is None:
        return None
    return StateForm("process", (columns,), StoredEntries(EntryKind.ROWS, (columns,)))


PROCESS_RUNNER = OperationRunner(executor=_executor, state_form=_state_form)
