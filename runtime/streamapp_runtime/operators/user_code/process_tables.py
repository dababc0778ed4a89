"""What a user's stateful class sees of its tables: rows under keys, many at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.rows.distinct_keys import last_of_each


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
