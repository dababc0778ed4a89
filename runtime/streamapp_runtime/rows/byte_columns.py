"""Cutting Arrow binary columns into pieces and reading numbers out of them, without a loop over rows."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.rows.row_form import Bytes, Positions, RowFormError


class ByteSpans(NamedTuple):
    """All bytes of a column in a row; value i is data[bounds[i]:bounds[i + 1]]. A null may hide bytes."""

    bounds: Positions
    data: Bytes


def byte_spans(column: pa.Array) -> ByteSpans:
    """Values and bytes of a column of texts or binaries, not copied; bounds are counted from 0."""
    if len(column) == 0:
        return ByteSpans(np.zeros(1, np.int64), np.zeros(0, np.uint8))
    wide = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, offsets, content = column.buffers()
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)
    bounds = bounds[column.offset : column.offset + len(column) + 1].astype(np.int64)
    data = np.frombuffer(content, np.uint8) if content is not None else np.zeros(0, np.uint8)
    return ByteSpans(bounds - bounds[0], data[bounds[0] : bounds[-1]])


def key_bytes(column: pa.Array) -> pa.BinaryArray:
    """The keys that records get whose key is this column: binary values as they are, others as text."""
    texts = column if pa.types.is_binary(column.type) else column.cast(pa.string())
    return texts.cast(pa.binary())


def true_places(mask: pa.BooleanArray) -> list[int]:
    """The places at which a mask is true."""
    places: list[int] = np.flatnonzero(mask.to_numpy(zero_copy_only=False)).tolist()
    return places


def mask_without(places: Iterable[int], count: int) -> pa.BooleanArray:
    """A mask of this length that is true at all but these places."""
    others = np.ones(count, bool)
    others[list(places)] = False
    return pa.array(others)


def byte_count(array: pa.Array) -> int:
    """The number of bytes of a string or binary array; a null may hide some."""
    if len(array) == 0:
        return 0
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    bounds = np.frombuffer(array.buffers()[1], np.int64 if wide else np.int32)
    return int(bounds[array.offset + len(array)]) - int(bounds[array.offset])


def binary_column(content: Bytes, bounds: Positions) -> pa.BinaryArray:
    """A binary column over bytes that are there, not copied."""
    if not len(bounds) - 1:
        return pa.array([], pa.binary())
    if bounds[-1] > np.iinfo(np.int32).max:
        raise RowFormError("rows of more than 2 GiB in one batch; make the batch smaller")
    offsets = pa.py_buffer(bounds.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(bounds) - 1, [None, offsets, pa.py_buffer(content)])


def cut(content: Bytes, starts: Positions, ends: Positions) -> pa.BinaryArray:
    """The pieces from each start to its end, which follow each other, as a column."""
    bounds = np.empty(2 * len(starts) + 1, np.int64)
    bounds[0:-1:2], bounds[1::2] = starts, ends
    bounds[-1] = ends[-1] if len(ends) else 0
    return binary_column(content, bounds).take(pa.array(np.arange(0, 2 * len(starts), 2)))


def numbers(content: Bytes, at: Positions, kind: npt.DTypeLike) -> npt.NDArray[np.generic]:
    """The numbers of a type that stand at some places, on no boundary."""
    dtype = np.dtype(kind)
    if not len(at):
        return np.empty(0, dtype)
    everywhere = np.ndarray((len(content) - dtype.itemsize + 1,), dtype, content, strides=(1,))
    return everywhere[at]


def fixed_rows(matrix: Bytes) -> pa.BinaryArray:
    """Each row of a matrix of bytes as a value."""
    count, width = matrix.shape
    bounds = np.arange(0, count * width + 1, width) if width else np.zeros(count + 1, np.int64)
    return binary_column(matrix.reshape(-1), bounds)


def fixed_matrix(column: pa.Array, width: int) -> Bytes:
    """The values of a column of fixed width as rows of bytes, zero where null."""
    if pa.types.is_boolean(column.type):
        values: npt.NDArray[np.bool_] = column.fill_null(False).to_numpy(zero_copy_only=False)
        return values.view(np.uint8).reshape(-1, 1)
    if not width:
        return np.empty((len(column), 0), np.uint8)
    content = np.frombuffer(column.buffers()[1], np.uint8)
    matrix = content[column.offset * width :][: len(column) * width].reshape(-1, width)
    return np.where(null_mask(column)[:, None], np.uint8(0), matrix) if column.null_count else matrix


def null_mask(column: pa.Array) -> npt.NDArray[np.bool_]:
    """The mask of a column's nulls."""
    nulls: npt.NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return nulls


def validity(nulls: npt.NDArray[np.bool_] | None) -> pa.Buffer | None:
    """The same as Arrow keeps it."""
    return None if nulls is None else pa.py_buffer(np.packbits(~nulls, bitorder="little"))


def byte_lengths(column: pa.Array) -> npt.NDArray[np.int64]:
    """The length of each value in bytes; 0 where it is null, whatever lies there."""
    if not len(column):
        return np.zeros(0, np.int64)
    offsets = np.frombuffer(column.buffers()[1], np.int32, len(column) + 1, 4 * column.offset)
    lengths = np.diff(offsets).astype(np.int64)
    if column.null_count:
        lengths[column.is_null().to_numpy(zero_copy_only=False)] = 0
    return lengths
