"""Conversions of written values into those of columns, exact: what does not fit is an ArrowInvalid."""

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.byte_columns import byte_spans

Convert = Callable[[pa.Array], pa.Array]

_MOST_BYTES: Final = 16  # of a decimal of 38 digits
_YEARS: Final = {
    pa.timestamp("us"): (-62_135_596_800_000_000, 253_402_300_799_999_999),
    pa.date32(): (-719_162, 2_932_896),
}
"""The first and the last number of the years 1 to 9999, which are those of all formats."""


def cast_to(kind: pa.DataType) -> Convert:
    """The value itself, where the type has room for it."""
    return lambda values: values.cast(kind)


def rounded_to(kind: pa.DataType) -> Convert:
    """A whole number as the nearest number with a point, as Avro promotes it."""
    return lambda values: values.cast(kind, safe=False)


def dates(days: pa.Array) -> pa.Array:
    """Days since 1970 began."""
    return _within_years(days.cast(pa.int32()), pa.date32()).cast(pa.date32())


def times(unit: str, kind: pa.DataType) -> Convert:
    """Times counted in a unit since 1970 began, cut to microseconds."""

    def converted(numbers: pa.Array) -> pa.Array:
        micros = numbers.cast(pa.timestamp(unit)).cast(pa.timestamp("us"), safe=unit != "ns")
        return _within_years(micros.cast(pa.int64()), pa.timestamp("us")).cast(kind)

    return converted


def decimals(scale: int, kind: pa.DataType) -> Convert:
    """Numbers without a point, in two's complement, the first byte the greatest."""

    def converted(values: pa.Array) -> pa.Array:
        bounds, data = byte_spans(values)
        sizes = np.diff(bounds)
        if (sizes > _MOST_BYTES).any():
            raise pa.ArrowInvalid("more than 38 digits")
        data = np.append(data, np.uint8(0))
        negative = (sizes > 0) & (data[bounds[:-1]] > 0x7F)
        octets = np.repeat(np.where(negative, 0xFF, 0).astype(np.uint8), _MOST_BYTES).reshape(-1, _MOST_BYTES)
        for place in range(min(int(sizes.max(initial=0)), _MOST_BYTES)):
            rows = np.flatnonzero(sizes > place)
            octets[rows, place] = data[bounds[1:][rows] - 1 - place]
        wide = pa.decimal128(38, scale)
        numbers = pa.Array.from_buffers(wide, len(values), [None, pa.py_buffer(octets.tobytes())])
        if values.null_count:
            numbers = pc.if_else(values.is_valid(), numbers, pa.scalar(None, wide))
        return numbers.cast(kind)

    return converted


def _within_years(numbers: pa.Array, kind: pa.DataType) -> pa.Array:
    first, last = _YEARS[kind]
    extent = pc.min_max(numbers).as_py()
    if extent["min"] is not None and (extent["min"] < first or extent["max"] > last):
        raise pa.ArrowInvalid("not in the years 1 to 9999")
    return numbers
