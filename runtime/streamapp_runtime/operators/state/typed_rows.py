"""A store's entries as typed rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.lookup_result import LookupResult, lookup_result
from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.rows.row_encoder import encode
from streamapp_runtime.stores.store import Store


def encode_or_delete(rows: pa.RecordBatch, schema: pa.Schema, deleted: pa.Array) -> pa.Array:
    """Rows as a store's values; null, which deletes, for those that are deleted."""
    values = encode(rows, schema)
    return pc.if_else(deleted, pa.scalar(None, pa.binary()), values) if deleted.true_count else values


@dataclass(frozen=True, slots=True)
class TypedRows:
    """One task's part of a table, or of an operator's own state."""

    state: LaneState
    task: int
    name: str
    schema: pa.Schema

    def find(self, keys: pa.Array) -> LookupResult:
        """Look up keys, of which no two should be equal; for null nothing is found."""
        return lookup_result(self.get(keys), self.schema)

    def get(self, keys: pa.Array) -> pa.BinaryArray:
        """The same as the store has it, encoded; null where it has nothing."""
        return self._store.get(keys)

    def put(self, keys: pa.Array, rows: pa.RecordBatch) -> None:
        """Write a row under each key."""
        self._write(keys, encode(rows, self.schema))

    def put_or_delete(self, keys: pa.Array, rows: pa.RecordBatch, deleted: pa.Array) -> None:
        """Write a row under each key, or delete the key."""
        self._write(keys, encode_or_delete(rows, self.schema, deleted))

    def delete(self, keys: pa.Array) -> None:
        """Delete keys, whether they are there or not."""
        self._write(keys, pa.nulls(len(keys), pa.binary()))

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[pa.Array, pa.RecordBatch]]:
        """Keys and rows with start <= key < end, in order of the key."""
        for keys, values in self._store.batches(start, end):
            yield keys, decode(values, self.schema)

    @property
    def _store(self) -> Store:
        return self.state.store(self.task, self.name)

    def _write(self, keys: pa.Array, values: pa.Array) -> None:
        self.state.write(self.task, self.name, keys, values)
