"""Typed key columns as bytes whose order is the order of the keys, and back.

Columns follow each other: first by the first, then by the second. Each begins with 0 where it is null, which
comes first, or 1. Numbers are big endian, moved so that negative ones come first; of floating point numbers
NaN is the greatest, and 0.0 and -0.0 are one. Text and bytes end with 0, and a 0 in them is followed by 255.
The bytes of the first columns are a prefix of the whole key's, so a range of keys is a range of bytes.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.byte_columns import (
    cut,
    fixed_matrix,
    fixed_rows,
    null_mask,
    numbers,
    spans,
    validity,
)
from streamapp_runtime.rows.row_form import Bytes, Positions, RowFormError, is_bytes, types_of, width_of

_NOTHING = pa.scalar(b"", pa.binary())
_END = pa.scalar(b"\0", pa.binary())
_SIGN = 0x80

Mask = npt.NDArray[np.bool_]


def encode(batch: pa.RecordBatch, schema: pa.Schema) -> pa.BinaryArray:
    """Each row's key as bytes. The columns are those of the schema, by position."""
    if batch.schema.types != schema.types:
        raise RowFormError(f"columns of types {batch.schema.types} are not those of the schema")
    parts = [part for column in batch.columns for part in _parts(column)]
    return pc.binary_join_element_wise(*parts, _NOTHING)


def decode(values: pa.BinaryArray, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of keys. RowFormError for bytes that are no such keys."""
    if values.null_count:
        raise RowFormError("a key is never null, only its columns are")
    content, bounds = spans(values)
    # What comes after the last byte ends a text as what comes after another key's does.
    content = np.append(content[bounds[0] : bounds[-1]], np.zeros(16, np.uint8))
    at, ends = bounds[:-1] - bounds[0], bounds[1:] - bounds[0]
    stops = _stops(content)
    columns = []
    for kind in types_of(schema):
        _refuse_unless(at < ends)
        nulls = content[at] == 0
        if is_bytes(kind):
            until = stops[np.minimum(np.searchsorted(stops, at + 1), len(stops) - 1)]
            _refuse_unless(until > at)
            columns.append(_text(content, at + 1, until, kind, nulls))
            at = until + 1
        else:
            width = _width(kind)
            _refuse_unless(at + 1 + width <= ends)
            columns.append(_number(content, at + 1, kind, nulls))
            at = at + 1 + width
    _refuse_unless(at == ends)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def prefix_end(prefix: bytes) -> bytes | None:
    """The first key after all that begin with a prefix; None where there is no such key."""
    shortened = prefix.rstrip(b"\xff")
    return shortened[:-1] + bytes([shortened[-1] + 1]) if shortened else None


def _parts(column: pa.Array) -> list[pa.BinaryArray | pa.Scalar]:
    nulls = null_mask(column)
    first = (~nulls).astype(np.uint8).reshape(-1, 1)
    if is_bytes(column.type):
        values = column.cast(pa.binary()).fill_null(b"")
        content, _ = spans(values)
        if not content.all():
            values = pc.replace_substring(values, b"\0", b"\0\xff")
        return [fixed_rows(first), values, _END]
    number = _ordered(fixed_matrix(column, _width(column.type)), column.type)
    number[nulls] = 0
    return [fixed_rows(np.hstack([first, number]))]


def _ordered(matrix: Bytes, kind: pa.DataType) -> Bytes:
    """Little endian numbers as big endian ones in which a lesser number has lesser bytes."""
    if pa.types.is_floating(kind):
        values = matrix.copy().view(f"<f{matrix.shape[1]}")[:, 0] + 0.0  # -0.0 becomes 0.0
        values[np.isnan(values)] = np.nan
        moved = values.view(np.uint8).reshape(matrix.shape)[:, ::-1].copy()
        negative = moved[:, 0] >= _SIGN
        moved[negative] ^= 0xFF
        moved[~negative, 0] ^= _SIGN
        return moved
    moved = matrix[:, ::-1].copy()
    if _is_signed(kind):
        moved[:, 0] ^= _SIGN
    return moved


def _number(content: Bytes, at: Positions, kind: pa.DataType, nulls: Mask) -> pa.Array:
    width = _width(kind)
    if not width:
        return pa.nulls(len(at), kind)
    moved = numbers(content, at, f"V{width}").view(np.uint8).reshape(-1, width)
    if pa.types.is_floating(kind):
        positive = moved[:, 0] >= _SIGN
        moved[~positive] ^= 0xFF
        moved[positive, 0] ^= _SIGN
    elif _is_signed(kind):
        moved[:, 0] ^= _SIGN
    if pa.types.is_boolean(kind):
        return pa.array(moved[:, 0].astype(bool), kind, mask=nulls)
    values = np.ascontiguousarray(moved[:, ::-1])
    return pa.Array.from_buffers(kind, len(at), [validity(nulls), pa.py_buffer(values)])


def _text(content: Bytes, starts: Positions, ends: Positions, kind: pa.DataType, nulls: Mask) -> pa.Array:
    values = cut(content, starts, ends)
    if not spans(values)[0].all():
        values = pc.replace_substring(values, b"\0\xff", b"\0")
    values = pc.if_else(pa.array(nulls), pa.scalar(None, pa.binary()), values) if nulls.any() else values
    try:
        return values.cast(kind)
    except pa.ArrowInvalid as error:
        raise RowFormError(f"a text of a key cannot be read: {error}") from error


def _stops(content: Bytes) -> Positions:
    """Where a text that begins before may end: at each 0 that is not followed by 255."""
    return np.flatnonzero((content[:-1] == 0) & (content[1:] != 0xFF))


def _width(kind: pa.DataType) -> int:
    width = None if pa.types.is_interval(kind) else width_of(kind)
    if width is None:
        raise RowFormError(f"a column of type {kind} cannot be part of a key")
    return width


def _is_signed(kind: pa.DataType) -> bool:
    unsigned = (pa.types.is_boolean, pa.types.is_unsigned_integer, pa.types.is_null)
    return not any(test(kind) for test in unsigned)


def _refuse_unless(right: Mask) -> None:
    if not right.all():
        raise RowFormError(f"the bytes at place {int(np.argmin(right))} are no key of these columns")
