"""The bytes under an Arrow array of texts or binaries, as numpy sees them; nothing is copied."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa


class ByteSpans(NamedTuple):
    """All bytes of an array in a row; entry i is data[bounds[i]:bounds[i + 1]]. A null may hide bytes."""

    bounds: np.ndarray
    data: np.ndarray

    def lengths(self) -> np.ndarray:
        """How many bytes each entry has."""
        return np.diff(self.bounds)


def byte_spans(array: pa.Array) -> ByteSpans:
    """Entries and bytes of a string or binary array, bounds counted from 0."""
    if len(array) == 0:
        return ByteSpans(np.zeros(1, np.int64), np.zeros(0, np.uint8))
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offsets, content = array.buffers()
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)
    bounds = bounds[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(content, np.uint8) if content is not None else np.zeros(0, np.uint8)
    return ByteSpans(bounds - bounds[0], data[bounds[0] : bounds[-1]])


def binary_of(lengths: np.ndarray, data: np.ndarray) -> pa.BinaryArray:
    """The binary array whose entries are the next so many bytes each."""
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    if bounds[-1] > np.iinfo(np.int32).max:
        raise OverflowError(f"{bounds[-1]:,} bytes are more than one binary array holds")
    content = np.ascontiguousarray(data)
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(lengths), [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(content)]
    )
