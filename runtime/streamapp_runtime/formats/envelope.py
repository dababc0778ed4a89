"""What stands around a value in an intermediate stream: one byte before it says whose message it is."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.message import Kind
from streamapp_runtime.formats.buffers import spans

UNKNOWN = 255
_TO_THE_END = 2**31 - 1


class Opened(NamedTuple):
    """The message type of each record, and what was behind it."""

    types: np.ndarray  # uint8; UNKNOWN where there is no byte to tell it
    values: pa.BinaryArray


def enclose(values: pa.BinaryArray, message: Kind = Kind.USER) -> pa.BinaryArray:
    """The values behind their type. What is null stays null: it deletes, on intermediate streams as well."""
    return pc.binary_join_element_wise(bytes([message]), values, b"")


def open_all(values: pa.BinaryArray) -> Opened:
    """Types and values apart. A null value can only be the user's."""
    bounds, data = spans(values)
    types = np.full(len(values), UNKNOWN, np.uint8)
    some = np.diff(bounds) > 0
    types[some] = data[bounds[:-1][some]]
    if values.null_count:
        types[np.asarray(values.is_null())] = Kind.USER
    return Opened(types, pc.binary_slice(values, 1, _TO_THE_END))
