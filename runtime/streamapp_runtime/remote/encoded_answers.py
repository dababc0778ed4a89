"""Answers of a remote table's class as encoded rows: for every key its row, or null."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.user_code.declared_columns import to_declared_columns
from streamapp_runtime.operators.user_code.user_batch import KEY
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.rows.row_encoder import encode


def encoded_answers(answer: object, keys: pa.BinaryArray, columns: pa.Schema, python: str) -> pa.BinaryArray:
    """The row of each key that was asked for, encoded; null where there is none."""
    if isinstance(answer, pa.RecordBatch):
        return _encode_batch(answer, keys, columns, python)
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
        raise UserCodeError(
            python,
            f"gave a {type(answer).__name__}",
            "get_many gives a list with a mapping or None for each key, or a pyarrow.RecordBatch",
        )
    return _encode_list(answer, keys, columns, python)


def _encode_list(
    answer: Sequence[object], keys: pa.BinaryArray, columns: pa.Schema, python: str
) -> pa.BinaryArray:
    if len(answer) != len(keys):
        raise UserCodeError(
            python, f"gave {len(answer)} answers for {len(keys)} keys", "give one for each, in their order"
        )
    rows: list[Mapping[str, object]] = []
    for row in answer:
        if isinstance(row, Mapping):
            rows.append(row)
        elif row is not None:
            raise UserCodeError(
                python, f"gave a {type(row).__name__} for a key", "give a mapping of column names, or None"
            )
    try:
        arrays = [pa.array([row.get(field.name) for row in rows], field.type) for field in columns]
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise UserCodeError(
            python, f"gave values that do not fit the columns: {error}", "give them in the declared types"
        ) from error
    encoded = encode(pa.RecordBatch.from_arrays(arrays, schema=columns), columns)
    present = iter(range(len(rows)))
    row_places = pa.array([None if row is None else next(present) for row in answer], pa.int64())
    return encoded.take(row_places)


def _encode_batch(
    answer: pa.RecordBatch, keys: pa.BinaryArray, columns: pa.Schema, python: str
) -> pa.BinaryArray:
    declared = to_declared_columns(answer, pa.schema([(KEY, pa.binary()), *columns]), python)
    answered_keys = declared.column(KEY)
    places = pc.index_in(answered_keys, value_set=keys)
    if places.null_count or len(pc.unique(answered_keys)) != len(answered_keys):
        what = "twice" if not places.null_count else "that was not asked for"
        raise UserCodeError(python, f"gave a row for a key {what}", f"give each key once in {KEY}")
    encoded = encode(declared.drop_columns([KEY]), columns)
    return encoded.take(pc.index_in(keys, value_set=answered_keys))
