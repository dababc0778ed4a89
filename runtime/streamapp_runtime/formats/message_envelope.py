"""The envelope of a value in an intermediate stream: one byte before it says whose message it is."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.control_message import MessageKind
from streamapp_runtime.rows.byte_columns import byte_spans

UNKNOWN = 255
_TO_THE_END = 2**31 - 1


class OpenedEnvelopes(NamedTuple):
    """The message type of each record, and what was behind it."""

    types: np.ndarray  # uint8; UNKNOWN where there is no byte to tell it
    values: pa.BinaryArray


def close_envelopes(values: pa.BinaryArray, message: MessageKind = MessageKind.USER) -> pa.BinaryArray:
    """The values behind their type. What is null stays null: it deletes, on intermediate streams as well."""
    return pc.binary_join_element_wise(bytes([message]), values, b"")


def open_envelopes(values: pa.BinaryArray) -> OpenedEnvelopes:
    """Types and values apart. A null value can only be the user's."""
    bounds, data = byte_spans(values)
    types = np.full(len(values), UNKNOWN, np.uint8)
    some = np.diff(bounds) > 0
    types[some] = data[bounds[:-1][some]]
    if values.null_count:
        types[np.asarray(values.is_null())] = MessageKind.USER
    return OpenedEnvelopes(types, pc.binary_slice(values, 1, _TO_THE_END))
