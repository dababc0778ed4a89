"""Rows joined with a table: a lookup for each distinct key, not for each row."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.operation_executor import StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.lookup_result import LookupResult, lookup_result
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.operators.tables.table_operations import LookUp, LookUpRemote
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import ordered_by_task


@dataclass(frozen=True, slots=True)
class LookUpExecutor(StatelessExecutor):
    """Runs LookUp. A null key matches nothing. A tombstone is not looked up and passes."""

    operation: LookUp

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows with the table's columns beside their own.

        Each task asks its own part of the table; what all of them have found is decoded at once.
        """
        (rows,) = slices
        rows, spans = ordered_by_task(rows)
        if not spans:
            return None
        keys = _keys(rows, self.operation.key)
        places: list[pa.Array] = []
        values: list[pa.Array] = []
        asked_before = 0
        name = self.operation.table
        schema = state.schemas[name]
        for span in spans:
            encoded = keys.slice(span.start, span.length).dictionary_encode()
            places.append(pc.add(encoded.indices, asked_before))
            values.append(TypedRows(state, span.task, name, schema).get(encoded.dictionary))
            asked_before += len(encoded.dictionary)
        lookup = lookup_result(pa.concat_arrays(values), schema)
        return _joined(rows, self.operation, lookup, pa.concat_arrays(places))


@dataclass(frozen=True, slots=True)
class RemoteLookUpExecutor(StatelessExecutor):
    """Runs LookUpRemote, the same with a table that is one for all tasks."""

    operation: LookUpRemote

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows with the table's columns beside their own."""
        (rows,) = slices
        if not len(rows):
            return None
        encoded = _keys(rows, self.operation.key).dictionary_encode()
        lookup = state.ask(self.operation.table, encoded.dictionary)
        return _joined(rows, self.operation, lookup, encoded.indices)


def _joined(rows: Slice, operation: LookUp | LookUpRemote, lookup: LookupResult, asked: pa.Array) -> Slice:
    """Rows beside what was found for them; `asked` says as which key each row's was looked up."""
    places = lookup.places.take(asked)
    if not operation.keeps_unmatched and places.null_count:
        mask = pc.or_(places.is_valid(), rows.tombstone)
        rows, places = rows.filter(mask), places.filter(mask)
    row_width = len(rows.columns)
    return rows.with_columns(
        rows.columns[position]
        if position < row_width
        else lookup.rows.column(position - row_width).take(places)
        for position in operation.chosen
    )


def _keys(rows: Slice, column: int | None) -> pa.Array:
    keys = rows.key if column is None else rows.columns[column].cast(pa.binary())
    if rows.tombstone.true_count:
        return pc.if_else(rows.tombstone, pa.scalar(None, keys.type), keys)
    return keys
