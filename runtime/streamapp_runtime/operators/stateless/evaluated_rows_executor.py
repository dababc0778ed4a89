"""Rows kept, changed, keyed and multiplied by expressions that Spark evaluates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.expressions.expression_client import SparkExpressions
from streamapp_runtime.expressions.template import BATCH_TIME
from streamapp_runtime.operators.compilation.row_operations import (
    RECORD_KEY_PLACE,
    EvaluateRows,
    ExplodeRows,
)
from streamapp_runtime.operators.operation_executor import OperationRunner, StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices

_TIMESTAMP: Final = pa.timestamp("us", "UTC")


@dataclass(frozen=True, slots=True)
class EvaluatedRowsExecutor(StatelessExecutor):
    """Runs EvaluateRows. Rows that fail are left out, and noted."""

    operation: EvaluateRows
    output_schema: pa.Schema

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows that come of these, in their order."""
        (rows,) = slices
        if not rows.tombstone.true_count:
            return self._evaluated(rows, np.arange(len(rows)), state)[0]
        is_tombstone = np.asarray(rows.tombstone)
        live, live_places = self._evaluated(
            rows.filter(pa.array(~is_tombstone)), np.flatnonzero(~is_tombstone), state
        )
        tombstones = self._tombstones(rows.filter(rows.tombstone), state)
        order = np.argsort(np.concatenate([live_places, np.flatnonzero(is_tombstone)]), kind="stable")
        joined = concat_slices([live, tombstones])
        return joined and joined.take(pa.array(order))

    def _evaluated(self, rows: Slice, places: np.ndarray, state: LaneState) -> tuple[Slice, np.ndarray]:
        """The rows that come of rows which are no tombstones, and the places of those that they come of."""
        operation = self.operation
        if operation.explode is not None and len(rows):
            rows, places = _exploded(operation.explode, rows, places, state)
        if not len(rows):
            return self._blank(rows), places
        columns = [*rows.columns]
        if operation.expressions is not None:
            rows, places, values = _of_kept_rows(operation.expressions, rows, places, state)
            columns = [*rows.columns, *values]
        chosen = [
            columns[position] if columns[position].type == field.type else columns[position].cast(field.type)
            for position, field in zip(operation.chosen, self.output_schema, strict=False)
        ]
        changed = rows.with_columns(chosen)
        if operation.key is not None:
            changed = replace(changed, key=columns[operation.key])
        if operation.delete is not None and (is_deleted := columns[operation.delete]).true_count:
            nulled = [pc.if_else(is_deleted, None, column) for column in chosen]
            changed = replace(changed.with_columns(nulled), tombstone=is_deleted)
        return changed, places

    def _tombstones(self, rows: Slice, state: LaneState) -> Slice:
        """Tombstones with columns of nulls, and their own key, another one or none."""
        operation = self.operation
        blank = self._blank(rows)
        if operation.key is None:
            return blank
        if operation.key_of_tombstone is not None:
            inputs = _inputs(operation.key_of_tombstone, rows, state)
            evaluated = state.expressions.evaluate(operation.key_of_tombstone, inputs, len(rows))
            for row, reason in evaluated.failures.items():
                state.fail_row(rows, row, reason)
            return replace(blank, key=evaluated.values[0])
        return (
            blank if operation.tombstones_keep_key else replace(blank, key=pa.nulls(len(rows), pa.binary()))
        )

    def _blank(self, rows: Slice) -> Slice:
        return rows.with_columns(pa.nulls(len(rows), field.type) for field in self.output_schema)


def _exploded(
    explode: ExplodeRows, rows: Slice, places: np.ndarray, state: LaneState
) -> tuple[Slice, np.ndarray]:
    """A row for each element of its array, with the element's values behind its columns."""
    rows, places, (arrays,) = _of_kept_rows(explode.expressions, rows, places, state)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(arrays), 0))
    counts = np.maximum(lengths, 1) if explode.outer else lengths
    parents = np.repeat(np.arange(len(rows)), counts)
    within = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
    has_element = within < lengths[parents]
    flat = pc.list_flatten(arrays)
    elements = flat.take(pa.array((np.cumsum(lengths) - lengths)[parents] + within, mask=~has_element))
    place = pa.array(within.astype(np.int32), mask=~has_element)
    values = [pc.struct_field(elements, field) for field in range(explode.fields)] or [elements]
    exploded = rows.take(pa.array(parents))
    added = [place, *values] if explode.places else values
    return exploded.with_columns((*exploded.columns, *added)), places[parents]


def _of_kept_rows(
    expressions: SparkExpressions, rows: Slice, places: np.ndarray, state: LaneState
) -> tuple[Slice, np.ndarray, Sequence[pa.Array]]:
    """The rows that expressions keep, their places, and the values of the expressions."""
    evaluated = state.expressions.evaluate(expressions, _inputs(expressions, rows, state), len(rows))
    state.note_failures(rows, evaluated.failures)
    is_kept = evaluated.is_kept
    if is_kept.true_count == len(rows):
        return rows, places, evaluated.values
    return (
        rows.filter(is_kept),
        places[np.asarray(is_kept)],
        [value.filter(is_kept) for value in evaluated.values],
    )


def _inputs(expressions: SparkExpressions, rows: Slice, state: LaneState) -> list[pa.Array]:
    """The columns that expressions read."""
    inputs = []
    for place in expressions.places:
        if place == BATCH_TIME:
            now = pa.array(np.full(len(rows), state.time_ms * 1000, np.int64))
            inputs.append(now.cast(_TIMESTAMP))
        else:
            inputs.append(rows.key if place == RECORD_KEY_PLACE else rows.columns[place])
    return inputs


EVALUATE_ROWS_RUNNER = OperationRunner(
    executor=lambda operation, _schemas, output: EvaluatedRowsExecutor(operation, output), state_form=None
)
