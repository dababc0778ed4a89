"""From typed columns to rows of bytes, whole batches at a time. The form is in form.py."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.byte_columns import fixed_matrix, fixed_rows, null_mask
from streamapp_runtime.rows.row_form import (
    RowFormError,
    element_types,
    is_sequence,
    row_layout,
    types_of,
)
from streamapp_runtime.runtime_durable_forms import ROW

_NOTHING = pa.scalar(b"", pa.binary())


def encode(batch: pa.RecordBatch | pa.StructArray, schema: pa.Schema) -> pa.BinaryArray:
    """Each row as bytes; null where a struct is null. The columns are those of the schema, by position."""
    rows = _encoded(_columns(batch), types_of(schema), len(batch))
    return _with_nulls(rows, batch) if isinstance(batch, pa.StructArray) else rows


def _columns(batch: pa.RecordBatch | pa.StructArray) -> list[pa.Array]:
    return list(batch.flatten() if isinstance(batch, pa.StructArray) else batch.columns)


def _encoded(columns: Sequence[pa.Array], types: tuple[pa.DataType, ...], count: int) -> pa.BinaryArray:
    if tuple(column.type for column in columns) != types:
        type_names = ", ".join(str(column.type) for column in columns)
        raise RowFormError(f"columns of types {type_names} are not those of the schema")
    form = row_layout(types)
    head = np.zeros((count, form.size), np.uint8)
    head[:, 0] = ROW.version
    for number, column in enumerate(columns):
        if column.null_count:
            head[:, 1 + number // 8] |= null_mask(column).view(np.uint8) << (number % 8)
    for number, at, width in form.fixed:
        if width:
            head[:, at : at + width] = fixed_matrix(columns[number], width)
    varying = []
    for number, at in form.varying:
        values = _varying(columns[number])
        lengths = pc.binary_length(values).cast(pa.uint32())
        head[:, at : at + 4] = np.asarray(lengths).view(np.uint8).reshape(count, 4)
        varying.append(values)
    rows = fixed_rows(head)
    return pc.binary_join_element_wise(rows, *varying, _NOTHING) if varying else rows


def _varying(column: pa.Array) -> pa.BinaryArray:
    """The bytes of a column whose values vary in length, empty where null."""
    if pa.types.is_struct(column.type):
        fields = [column.type.field(number) for number in range(column.type.num_fields)]
        values = _with_nulls(_encoded(column.flatten(), types_of(fields), len(column)), column)
    elif is_sequence(column.type):
        values = _sequences(column)
    else:
        values = column.cast(pa.binary())
    return values.fill_null(b"") if values.null_count else values


def _sequences(column: pa.Array) -> pa.BinaryArray:
    """Lists or maps: the number of elements, their lengths, then the elements."""
    kinds = element_types(column.type)
    if pa.types.is_map(column.type):
        pairs = [pa.field("key", kinds[0]), pa.field("value", kinds[1])]
        column = column.cast(pa.list_(pa.struct(pairs)))
        columns = column.flatten().flatten()
    else:
        columns = [column.flatten()]
    rows = _encoded(columns, kinds, len(columns[0]))
    counts = pc.list_value_length(column).fill_null(0)
    bounds = pa.array(np.concatenate([[0], np.cumsum(np.asarray(counts))]).astype(np.int32))
    lengths = pc.binary_length(rows).cast(pa.uint32())
    return pc.binary_join_element_wise(
        _as_bytes(counts.cast(pa.uint32())),
        pc.binary_join(pa.ListArray.from_arrays(bounds, _as_bytes(lengths)), _NOTHING),
        pc.binary_join(pa.ListArray.from_arrays(bounds, rows), _NOTHING),
        _NOTHING,
    )


def _as_bytes(numbers: pa.Array) -> pa.BinaryArray:
    """Numbers of four bytes, each as a value."""
    return fixed_rows(np.asarray(numbers).view(np.uint8).reshape(-1, 4))


def _with_nulls(rows: pa.BinaryArray, like: pa.Array) -> pa.BinaryArray:
    return pc.if_else(like.is_valid(), rows, pa.scalar(None, pa.binary())) if like.null_count else rows
