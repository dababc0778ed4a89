"""Rows joined with a table: a lookup for each distinct key, not for each row."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.by_task import by_task, together
from streamapp_runtime.operations.executor import Stateless
from streamapp_runtime.operations.state import State
from streamapp_runtime.operations.typed_rows import TypedRows
from streamapp_runtime.program.operations import LookUp


@dataclass(frozen=True, slots=True)
class LookingUp(Stateless):
    """Runs LookUp. A null key matches nothing. A tombstone is not looked up and passes."""

    operation: LookUp

    def execute(self, slices: tuple[Slice, ...], state: State) -> Slice | None:
        """The rows with the table's columns beside their own."""
        (rows,) = slices
        return together([self._of_task(part, task, state) for task, part in by_task(rows)])

    def _of_task(self, rows: Slice, task: int, state: State) -> Slice:
        name = self.operation.table
        encoded = self._keys(rows).dictionary_encode()
        found = TypedRows(state, task, name, state.schemas[name]).find(encoded.dictionary)
        places = found.places.take(encoded.indices)
        if not self.operation.keeps_unmatched and places.null_count:
            kept = pc.or_(places.is_valid(), rows.tombstone)
            rows, places = rows.filter(kept), places.filter(kept)
        own = len(rows.columns)
        return rows.with_columns(
            rows.columns[position] if position < own else found.rows.column(position - own).take(places)
            for position in self.operation.chosen
        )

    def _keys(self, rows: Slice) -> pa.Array:
        keys = rows.key if self.operation.key is None else rows.columns[self.operation.key]
        if rows.tombstone.true_count:
            return pc.if_else(rows.tombstone, pa.scalar(None, keys.type), keys)
        return keys
