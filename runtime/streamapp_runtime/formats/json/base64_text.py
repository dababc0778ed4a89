"""BINARY columns as base64 text, as Spark's JSON has them: a whole column at a time."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.formats.record_format import UndecodableError
from streamapp_runtime.rows.byte_columns import binary_column, byte_spans

_PAD = ord("=")
_DIGITS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
_WRONG = 255
_VALUES = np.full(256, _WRONG, np.uint8)
_VALUES[_DIGITS] = np.arange(64)
_VALUES[_PAD] = 0


def to_text(column: pa.BinaryArray) -> pa.StringArray:
    """Base64 of each entry, null where it is null."""
    bounds, data = byte_spans(_without_hidden(column))
    lengths = np.diff(bounds)
    groups = (lengths + 2) // 3
    ends = np.cumsum(groups)
    # Every entry begins a group of its own: its bytes move by the padding of those before it.
    triples = np.zeros(int(groups.sum()) * 3, np.uint8)
    triples[np.arange(len(data)) + np.repeat((ends - groups) * 3 - bounds[:-1], lengths)] = data
    first, second, third = triples.reshape(-1, 3).T
    sextets = np.empty((len(first), 4), np.uint8)
    sextets[:, 0] = first >> 2
    sextets[:, 1] = (first & 3) << 4 | second >> 4
    sextets[:, 2] = (second & 15) << 2 | third >> 6
    sextets[:, 3] = third & 63
    text = _DIGITS[sextets].reshape(-1)
    text[ends[lengths % 3 != 0] * 4 - 1] = _PAD
    text[ends[lengths % 3 == 1] * 4 - 2] = _PAD
    return _with_nulls_of(column, binary_column(text, _bounds_of(groups * 4)).view(pa.string()))


def from_text(column: pa.StringArray) -> pa.BinaryArray:
    """The bytes that each entry stands for; an UndecodableError where one is no base64."""
    bounds, data = byte_spans(_without_hidden(column))
    lengths = np.diff(bounds)
    if (lengths % 4).any():
        raise UndecodableError("no base64: its length is no multiple of four")
    ends = bounds[1:][lengths > 0]
    last = data[ends - 1] == _PAD
    both = last & (data[ends - 2] == _PAD)
    values = _VALUES[data].reshape(-1, 4)
    if (values == _WRONG).any() or np.count_nonzero(data == _PAD) != last.sum() + both.sum():
        raise UndecodableError("no base64: a character of another alphabet, or = before the end")
    first, second, third, fourth = values.T
    triples = np.empty((len(values), 3), np.uint8)
    triples[:, 0] = first << 2 | second >> 4
    triples[:, 1] = second << 4 | third >> 2
    triples[:, 2] = third << 6 | fourth
    is_content = np.ones(triples.size, bool)
    is_content[ends[last] // 4 * 3 - 1] = False
    is_content[ends[both] // 4 * 3 - 2] = False
    sizes = lengths // 4 * 3
    sizes[lengths > 0] -= last.astype(sizes.dtype) + both
    return _with_nulls_of(column, binary_column(triples.reshape(-1)[is_content], _bounds_of(sizes)))


def _bounds_of(lengths: np.ndarray) -> np.ndarray:
    return np.append(np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64))


def _without_hidden(column: pa.Array) -> pa.Array:
    """The same with nothing under its nulls: Arrow lets bytes stand there."""
    return column.fill_null("" if pa.types.is_string(column.type) else b"") if column.null_count else column


def _with_nulls_of(column: pa.Array, filled: pa.Array) -> pa.Array:
    return pc.if_else(column.is_valid(), filled, None) if column.null_count else filled
