"""The key of a group: the rows' own, or composed of the columns that are grouped by."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.formats.json.json_writer import json_records
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.required_values import with_key, with_value
from streamapp_runtime.rows.slice import Slice


@dataclass(frozen=True, slots=True)
class GroupKey:
    """The key by which rows are grouped: their own key, unless `positions` name columns."""

    positions: tuple[int, ...]
    names: tuple[str, ...]
    placed_by: int | None = None

    def groupable(self, rows: Slice, name: str, state: LaneState) -> Slice:
        """The rows that belong to a group: all whose task was chosen by a key.

        In the other columns that are grouped by, null is a value like others.
        """
        if not self.positions:
            return with_key(rows, name, state)
        return rows if self.placed_by is None else with_value(rows, self.placed_by, name, state)

    def by(self, rows: Slice) -> tuple[pa.Array, ...]:
        """The arrays by which to group rows."""
        if not self.positions:
            return (rows.key,)
        return tuple(_one_form(rows.columns[position]) for position in self.positions)

    def keyed(self, rows: Slice) -> Slice:
        """The rows, one for each group, with the key of their group."""
        if not self.positions:
            return rows
        return replace(rows, key=composed_keys(self.names, self.by(rows)))


def group_key(operation: Totals, schema: pa.Schema) -> GroupKey:
    """The key by which an operation groups; TypeError where rows cannot be grouped by it."""
    if not operation.composed:
        return GroupKey((), ())
    for position in operation.key:
        if pa.types.is_nested(schema.field(position).type):
            raise TypeError(f"there are no groups by {schema.field(position).type} values")
    names = tuple(schema.field(position).name for position in operation.key)
    return GroupKey(operation.key, names, operation.placed_by)


def composed_keys(names: Sequence[str], columns: Sequence[pa.Array]) -> pa.Array:
    """The JSON object of the columns, by name, without those that are null."""
    if not any(column.null_count for column in columns):
        return _objects(names, columns)
    # Rows that lack the same columns are written together: there are few such combinations.
    lacking = sum(
        np.asarray(column.is_null()).astype(np.int64) << place for place, column in enumerate(columns)
    )
    order, parts = [], []
    for pattern in np.unique(lacking):
        rows = np.flatnonzero(lacking == pattern)
        present_places = [place for place in range(len(columns)) if not pattern >> place & 1]
        present_columns = [columns[place].take(pa.array(rows)) for place in present_places]
        parts.append(
            _objects([names[place] for place in present_places], present_columns)
            if present_places
            else _empty(len(rows))
        )
        order.append(rows)
    places = np.argsort(np.concatenate(order))
    return pa.concat_arrays(parts).take(pa.array(places))


def _objects(names: Sequence[str], columns: Sequence[pa.Array]) -> pa.Array:
    return json_records(pa.RecordBatch.from_arrays(list(columns), names=list(names))).cast(pa.binary())


def _empty(count: int) -> pa.Array:
    return pa.array([b"{}"] * count, pa.binary())


def _one_form(column: pa.Array) -> pa.Array:
    """The column with one form for each value: Spark takes 0.0 and -0.0 for one, and all NaN."""
    if not pa.types.is_floating(column.type):
        return column
    without_sign = pc.add(column, pa.scalar(0.0, column.type))
    return pc.if_else(pc.is_nan(without_sign), pa.scalar(float("nan"), column.type), without_sign)
