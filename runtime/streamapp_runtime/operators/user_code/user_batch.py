"""Rows as user code sees them, with names, and rows as user code gives them."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.user_code.declared_columns import to_declared_columns
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import rows_without_origin

ROW = "__row"
"""The column in which user code says which row of its batch a row was made of, counted from 0."""

KEY = "__key"
"""The column that holds the rows' keys."""

TIME = "__time"
"""The column that holds the rows' times, in milliseconds."""

TOMBSTONE = "__tombstone"
"""The column that says which rows are tombstones."""


def named_batch(rows: Slice, schema: pa.Schema) -> pa.RecordBatch:
    """The rows' columns by name."""
    return pa.RecordBatch.from_arrays(list(rows.columns), schema=schema)


def with_key_and_time(rows: Slice, schema: pa.Schema) -> pa.RecordBatch:
    """The rows' columns by name, and what else is known of each row."""
    batch = named_batch(rows, schema)
    for name, column in ((KEY, rows.key), (TIME, rows.time), (TOMBSTONE, rows.tombstone)):
        batch = batch.append_column(name, column)
    return batch


@dataclass(frozen=True, slots=True)
class UserRows:
    """Rows that user code made, and which row each was made of: the first, where it does not say."""

    rows: Slice
    origin: npt.NDArray[np.int64]


def user_rows(rows: Slice, batch: object, schema: pa.Schema, python: str) -> UserRows:
    """The rows that user code made of some rows of one task.

    With a column `__row` each has key, time and origin of the row that it names. With a column `__key` it has
    that key. Without `__row` its time is the latest of the batch, and without both its key is null. Where a
    column `__tombstone` is true it is a tombstone, whatever its columns say.
    """
    fit, tombstone = _without_tombstones(to_declared_columns(batch, schema, python), batch, python)
    key = _extra(batch, KEY, pa.binary(), python)
    origin = _extra(batch, ROW, pa.int64(), python)
    if origin is not None:
        _check_origin(origin, len(rows), python)
        output = replace(rows.take(origin).with_columns(fit.columns), tombstone=tombstone)
        return UserRows(output if key is None else replace(output, key=key), origin.to_numpy())
    time = pa.array(np.full(fit.num_rows, pc.max(rows.time).as_py() or 0, np.int64))
    key = pa.nulls(fit.num_rows, pa.binary()) if key is None else key
    output = rows_without_origin(rows.task[0].as_py(), key, time, tuple(fit.columns))
    return UserRows(replace(output, tombstone=tombstone), np.zeros(fit.num_rows, np.int64))


def _check_origin(origin: pa.Array, count: int, python: str) -> None:
    bounds = pc.min_max(origin).as_py()
    beyond = len(origin) and (origin.null_count or bounds["min"] < 0 or bounds["max"] >= count)
    if beyond:
        raise UserCodeError(
            python, f"names rows in {ROW} that there are not", f"its batch had rows 0 to {count - 1}"
        )


def _extra(batch: object, name: str, kind: pa.DataType, python: str) -> pa.Array | None:
    """A column that user code may give beside the declared ones."""
    if not isinstance(batch, pa.RecordBatch) or name not in batch.schema.names:
        return None
    return to_declared_columns(batch, pa.schema([(name, kind)]), python).column(0)


def require_key(batch: object, python: str) -> None:
    """UserCodeError where nothing says which keys the rows have."""
    if isinstance(batch, pa.RecordBatch) and not {KEY, ROW} & set(batch.schema.names):
        raise UserCodeError(
            python,
            f"gave no column {KEY}",
            f"give each row its key, or name in {ROW} the record whose key it has",
        )


def _without_tombstones(
    fit: pa.RecordBatch, batch: object, python: str
) -> tuple[pa.RecordBatch, pa.BooleanArray]:
    """The rows, of which tombstones have no columns, and which are tombstones."""
    flags = _extra(batch, TOMBSTONE, pa.bool_(), python)
    if flags is None:
        return fit, pa.array(np.zeros(fit.num_rows, bool))
    tombstone = flags.fill_null(False)
    columns = [pc.if_else(tombstone, pa.scalar(None, column.type), column) for column in fit.columns]
    return pa.RecordBatch.from_arrays(columns, schema=fit.schema), tombstone
