"""Keys of state that belongs to a time: they begin with it, so that what is past is one range of a store."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.byte_columns import byte_spans, fixed_rows, numbers

TIME_WIDTH = 8
"""Bytes that the time takes."""


def time_keys(times: npt.NDArray[np.int64], keys: pa.Array) -> pa.Array:
    """Each key behind its time. Keys of an earlier time are smaller."""
    return pc.binary_join_element_wise(_as_bytes(times), keys, b"")


def key_before(time: int) -> bytes:
    """Keys of earlier times are smaller than this, and all others are not."""
    first: bytes = _as_bytes(np.array([time], np.int64))[0].as_py()
    return first


def key_times(keys: pa.Array) -> npt.NDArray[np.int64]:
    """The times that keys begin with."""
    bounds, content = byte_spans(keys)
    turned = numbers(content, bounds[:-1], ">u8").astype(np.uint64)
    return (turned ^ np.uint64(1 << 63)).view(np.int64)


def keys_without_times(keys: pa.Array) -> pa.Array:
    """The keys alone."""
    return pc.binary_slice(keys, TIME_WIDTH, np.iinfo(np.int32).max)


def _as_bytes(times: npt.NDArray[np.int64]) -> pa.Array:
    """Big endian with the sign turned: bytes compare as the numbers do."""
    turned = (times.view(np.uint64) ^ np.uint64(1 << 63)).astype(">u8")
    return fixed_rows(turned.view(np.uint8).reshape(-1, TIME_WIDTH))
